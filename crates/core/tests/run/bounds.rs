//! How large a run can become, and how deep.

use crate::driver::Watch;
use crate::programs::{Performance, ended, stub};
use edgewise_core::event::TaskIx;
use edgewise_core::limits;
use edgewise_core::run::Run;
use serde_json::json;

/// How a program ends whose run has so many tasks behind it when its first one is done.
fn ends(text: &str, tasks: usize) -> Result<serde_json::Value, String> {
    let mut performance = Performance::new(text, &json!({}), Watch::Nothing);
    let run = &performance.driver.run;
    let rows = (0..run.total()).map(TaskIx).filter(|t| run.has_row(*t)).map(|t| run.task_row(t)).collect();
    let mut row = run.row().unwrap();
    let mut body: serde_json::Value = serde_json::from_str(&row.body).unwrap();
    body["made"][1] = json!(tasks);
    row.body = body.to_string();
    performance.driver.run = Run::from_rows(&row, rows, run.given_rows().collect(), run.plan.clone()).unwrap();
    performance.play(&mut stub);
    ended(&performance.driver.run)
}

#[test]
fn a_run_has_as_many_tasks_as_allowed_and_not_one_more() {
    let most = limits::RUN_TASKS;
    let refused = Err(format!("too_many_items: a run has at most {most} tasks"));
    let spread = "flow test():\n    @echo(v=0)\n    spread [1, 2, 3]:x -> @echo(v=x)\n    return 1\n";
    assert_eq!(ends(spread, most - 3), Ok(json!(1)));
    assert_eq!(ends(spread, most - 2), refused);
    let each = "flow test():\n    @echo(v=0)\n    for x in [1, 2, 3]:\n        @echo(v=x)\n    return 1\n";
    assert_eq!(ends(each, most - 3), Ok(json!(1)));
    assert_eq!(ends(each, most - 2), refused, "also where each round gives the last one back");
    let caught = format!(
        "{}    except:\n        return 2\n",
        spread.replace("    spread", "    try:\n        spread").replace("    return 1\n", "")
    );
    assert_eq!(ends(&caught, most - 2), Ok(json!(2)), "a program can deal with it");
}

#[test]
fn regions_are_nested_as_deep_as_allowed_and_not_deeper() {
    // Each call is a region within the one that calls.
    let chain = |functions: usize| {
        let mut text = "flow test():\n    f0()\n".to_owned();
        for n in 1..functions {
            text += &format!("fn f{}():\n    f{n}()\n", n - 1);
        }
        text + &format!("fn f{}():\n    pass\n", functions - 1)
    };
    assert!(edgewise_core::text::compile(&chain(limits::REGION_DEPTH - 1), "f.flow").is_ok());
    let problems = edgewise_core::text::compile(&chain(limits::REGION_DEPTH), "f.flow").unwrap_err().to_string();
    assert!(problems.contains("error[too_deep]: regions are nested deeper than the 64 allowed"), "{problems}");
}
