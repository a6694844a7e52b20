//! Queues as an operator uses them: paused and bounded from the command line, with who and why.

use crate::process::Project;

#[test]
fn a_queue_is_paused_says_who_and_why_and_lets_its_tasks_begin_when_it_goes_on() {
    let project = Project::new();
    project.flow("report", "  a: { queue: nightly, run: echo done }\n");
    std::fs::write(project.path().join("edgewise.toml"), "[queues.nightly]\nslots = 4\n").unwrap();
    project.run("queues pause nightly --why maintenance").says(0, "paused queue nightly");
    project.run("queues pause nightly").says(0, "queue nightly was paused already");
    assert_eq!(project.run("run report.yaml --detach -q").code, 0);
    let listed = project.run("queues");
    let line = listed.out.lines().find(|line| line.contains("nightly")).unwrap();
    for told in ["0 of 4", "paused, set by ada (maintenance)"] {
        assert!(line.contains(told), "{told}: {listed:?}");
    }
    project.run("queues resume nightly").says(0, "resumed queue nightly");
    assert_eq!(project.run("watch @").code, 0);
}

#[test]
fn bounds_are_changed_one_by_one_and_taken_back() {
    let project = Project::new();
    std::fs::write(project.path().join("edgewise.toml"), "[queues.nightly]\nslots = 4\n").unwrap();
    project.run("queues set nightly --rate 10/s").says(0, "set queue nightly");
    assert!(project.run("queues").out.contains("0 of 4, 10/s"));
    project.run("queues set nightly --slots none --rate none").says(0, "set queue nightly");
    let freed = project.run("queues --json").out;
    assert!(freed.contains("\"slots\":null") && freed.contains("\"by\":\"ada\""), "{freed}");
    project.run("queues unset nightly").says(0, "unset queue nightly");
    assert!(project.run("queues").out.contains("0 of 4"));
    for bad in ["set nightly", "set nightly --slots 0", "set nightly --rate often", "pause"] {
        assert_eq!(project.run(&format!("queues {bad}")).code, 2, "{bad}");
    }
}
