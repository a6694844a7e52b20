//! What a walk looks at: the rows of its index, and no others.

use rusqlite::Connection;

/// How a statement would be done, in SQLite's words.
fn way(conn: &Connection, sql: &str) -> String {
    let mut explain = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = explain.query_map([1], |row| row.get::<_, String>(3)).unwrap();
    steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
}

#[test]
fn what_is_ready_is_walked_along_an_index_that_has_no_rows_of_plans() {
    let conn = Connection::open_in_memory().unwrap();
    let make = [
        include_str!("../sql/state_make_work_items.sql"),
        include_str!("../sql/state_make_work_items_ready.sql"),
        include_str!("../sql/state_make_work_items_tasks.sql"),
    ];
    make.iter().for_each(|sql| conn.execute_batch(sql).unwrap());
    let way = way(&conn, include_str!("../sql/state_walk_work_tasks.sql"));
    assert_eq!(way, "SEARCH work_items USING INDEX work_items_tasks (graph=?)");
    let index = include_str!("../sql/state_make_work_items_tasks.sql");
    assert!(index.ends_with("WHERE ready AND kind = 'task'\n"), "{index}");
}
