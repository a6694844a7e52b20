//! Whatever can be typed can be asked of a server, or it is said why it makes sense only here: a new command without a
//! route fails.

use edgewise_cli::args::Cli;
use edgewise_server::routes::table;
use std::collections::BTreeSet;

/// What a command is over HTTP.
enum Over {
    /// These routes.
    Routes(&'static [&'static str]),
    /// Nothing, and why.
    Local(&'static str),
}

use Over::{Local, Routes};

#[rustfmt::skip]
const COMMANDS: &[(&str, Over)] = &[
    ("init", Local("makes files in a folder of the caller")),
    ("demo", Local("kills an engine of its own")),
    ("run", Routes(&["start_run", "wait_run"])),
    ("watch", Routes(&["run_events", "show_run"])),
    ("runs", Routes(&["list_runs"])),
    ("runs export", Routes(&["list_runs", "show_run", "run_events"])),
    ("queues", Routes(&["list_queues"])),
    ("queues set", Routes(&["set_queue"])),
    ("queues pause", Routes(&["pause_queue"])),
    ("queues resume", Routes(&["resume_queue"])),
    ("queues unset", Routes(&["unset_queue"])),
    ("show", Routes(&["show_item", "show_gate", "show_run", "show_task"])),
    ("why", Routes(&["why_item", "why_run"])),
    ("timing", Routes(&["run_timing"])),
    ("what-if", Routes(&["what_if"])),
    ("graph", Routes(&["flow_graph", "run_graph", "items_graph", "item_graph"])),
    ("logs", Routes(&["run_logs"])),
    ("events", Routes(&["run_events"])),
    ("history", Routes(&["run_history", "item_history"])),
    ("cancel", Routes(&["cancel_run"])),
    ("pause", Routes(&["pause_run"])),
    ("resume", Routes(&["resume_run"])),
    ("task reset", Routes(&["reset_task"])),
    ("task skip", Routes(&["skip_task"])),
    ("task cancel", Routes(&["cancel_run"])),
    ("task resolve", Routes(&["resolve"])),
    ("task complete", Routes(&["complete_task"])),
    ("resolve", Routes(&["resolve"])),
    ("give-up", Routes(&["give_up_run"])),
    ("freeze", Routes(&["freeze_run"])),
    ("unfreeze", Routes(&["unfreeze_run"])),
    ("rerun", Routes(&["rerun_run"])),
    ("gate list", Routes(&["list_gates"])),
    ("gate show", Routes(&["show_gate", "show_run_gate"])),
    ("gate approve", Routes(&["approve_gate", "approve_item_gate"])),
    ("gate withdraw", Routes(&["withdraw_gate", "withdraw_item_gate"])),
    ("gate reject", Routes(&["reject_gate", "reject_item_gate"])),
    ("gate satisfy", Routes(&["satisfy_gate", "satisfy_run_gate", "report_external"])),
    ("gate create", Routes(&["make_gate"])),
    ("gate url", Routes(&["gate_url", "run_gate_url", "deliver_hook"])),
    ("add", Routes(&["add_item"])),
    ("list", Routes(&["list_items"])),
    ("ready", Routes(&["ready_items", "claim_next_item"])),
    ("blocked", Routes(&["blocked_items"])),
    ("update", Routes(&["update_item", "move_item"])),
    ("close", Routes(&["close_item"])),
    ("reopen", Routes(&["reopen_item"])),
    ("delete", Routes(&["delete_item"])),
    ("claim", Routes(&["claim_item", "extend_item"])),
    ("release", Routes(&["release_item"])),
    ("dep", Routes(&["add_dependency"])),
    ("dep add", Routes(&["add_dependency"])),
    ("dep remove", Routes(&["remove_dependency"])),
    ("dep list", Routes(&["show_item"])),
    ("dep tree", Routes(&["item_tree"])),
    ("dep cycles", Routes(&["item_cycles"])),
    ("stats", Routes(&["item_stats"])),
    ("import", Routes(&["import_items"])),
    ("export", Routes(&["export_items"])),
    ("batch", Routes(&["batch_items"])),
    ("prime", Routes(&["prime"])),
    ("mcp", Local("talks to an agent on stdin and stdout")),
    ("register", Routes(&["register_flows"])),
    ("flows", Routes(&["list_flows", "show_flow"])),
    ("flows show", Routes(&["show_flow"])),
    ("flows url", Routes(&["flow_url", "start_by_hook"])),
    ("schedule list", Routes(&["list_schedules"])),
    ("schedule show", Routes(&["show_schedule"])),
    ("schedule set", Routes(&["set_schedule"])),
    ("schedule pause", Routes(&["pause_schedule"])),
    ("schedule resume", Routes(&["resume_schedule"])),
    ("schedule remove", Routes(&["remove_schedule"])),
    ("schedule next", Routes(&["next_ticks"])),
    ("schedule backfill", Routes(&["backfill_schedule"])),
    ("check", Routes(&["check_flow"])),
    ("fmt", Local("lays out files of the caller")),
    ("plan", Routes(&["plan_flow"])),
    ("schema", Routes(&["flow_schema"])),
    ("test", Local("rehearses files of the caller, without an engine")),
    ("backup", Local("writes to a folder of the machine")),
    ("restore", Local("needs a folder that no engine has")),
    ("retain", Routes(&["retain_runs"])),
    ("doctor", Local("examines the files themselves")),
    ("bench", Local("measures this machine")),
    ("config show", Local("tells the settings of the caller")),
    ("completion", Local("is for the caller's shell")),
    ("man", Local("is for the caller's machine")),
    ("engine", Local("is an engine, not a request to one")),
    ("serve", Local("is the server")),
    ("dev", Local("is the server")),
    ("audit", Routes(&["list_audit"])),
    ("domain list", Routes(&["list_namespaces"])),
    ("domain read", Routes(&["read_domain", "domain_events"])),
    ("domain ack", Routes(&["ack_domain"])),
    ("domain forget", Routes(&["forget_consumer"])),
    ("webhook add", Routes(&["add_webhook"])),
    ("webhook list", Routes(&["list_webhooks"])),
    ("webhook remove", Routes(&["remove_webhook"])),
    ("webhook rotate", Routes(&["rotate_webhook"])),
    ("webhook dead", Routes(&["dead_webhook"])),
    ("webhook replay", Routes(&["replay_webhook"])),
    ("worker add", Routes(&["add_worker"])),
    ("worker list", Routes(&["list_workers"])),
    ("worker show", Routes(&["show_worker"])),
    ("worker pause", Routes(&["pause_worker"])),
    ("worker resume", Routes(&["resume_worker"])),
    ("worker rotate", Routes(&["rotate_worker"])),
    ("worker remove", Routes(&["remove_worker"])),
    ("token create", Routes(&["create_token"])),
    ("token list", Routes(&["list_tokens"])),
    ("token revoke", Routes(&["revoke_token"])),
];

/// Routes that no command needs: they are for programs.
const FOR_PROGRAMS: &[&str] = &[
    "healthz",
    "readyz",
    "metrics",
    "openapi",
    "workspace_events",
    "item_thread",
    "claim_work",
    "heartbeat_work",
    "complete_work",
    "release_work",
    // What the command line itself speaks to a server elsewhere.
    "ask",
    "look",
];

/// The commands that do something, by what is typed.
fn typed(command: &clap::Command, before: &str, all: &mut BTreeSet<String>) {
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        let words = format!("{before}{}", one.get_name());
        if !one.is_subcommand_required_set() {
            all.insert(words.clone());
        }
        typed(one, &format!("{words} "), all);
    }
}

#[test]
fn every_command_is_a_route_or_says_why_not() {
    let mut all = BTreeSet::new();
    typed(&Cli::tree(), "", &mut all);
    let known: BTreeSet<String> = COMMANDS.iter().map(|(words, _)| (*words).to_owned()).collect();
    let missing: Vec<_> = all.difference(&known).collect();
    assert!(missing.is_empty(), "neither a route nor a reason: {missing:?}");
    let gone: Vec<_> = known.difference(&all).collect();
    assert!(gone.is_empty(), "not commands: {gone:?}");
}

#[test]
fn every_route_that_a_command_names_exists_and_every_route_is_somebodys() {
    let routes: BTreeSet<&str> = table().iter().map(|route| route.name).collect();
    let mut used: BTreeSet<&str> = FOR_PROGRAMS.iter().copied().collect();
    for (words, over) in COMMANDS {
        match over {
            Routes(names) => {
                for name in *names {
                    assert!(routes.contains(name), "`{words}` names {name}, which is no route");
                    used.insert(name);
                }
            }
            Local(why) => assert!(!why.is_empty(), "`{words}` has no reason"),
        }
    }
    let forgotten: Vec<_> = routes.difference(&used).collect();
    assert!(forgotten.is_empty(), "no command and no program: {forgotten:?}");
}
