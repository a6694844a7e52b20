//! Every command parses as its help says, also those that are not wired yet.

use super::*;
use edgewise_core::state::RunState;
use edgewise_core::time::Millis;

/// All arguments there are, as one tree.
#[derive(Debug, Parser)]
#[command(name = "edgewise", disable_help_flag = true)]
struct Every {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: EveryCommand,
}

#[derive(Debug, Subcommand)]
enum EveryCommand {
    Init(Init),
    Run(Run),
    Watch(Watch),
    Runs(Runs),
    Show(Show),
    Events(Events),
    History(History),
    Logs(Logs),
    Why(Why),
    Timing(Timing),
    WhatIf(WhatIf),
    Graph(Graph),
    Cancel(Cancel),
    Pause(Pause),
    Resume(Resume),
    Task(Task),
    Resolve(Resolve),
    GiveUp(GiveUp),
    Freeze(Freeze),
    Unfreeze(Unfreeze),
    Rerun(Rerun),
    Gate(Gate),
    Check(Check),
    Fmt(Fmt),
    Plan(Plan),
    Schema(Schema),
    Test(Test),
    Backup(Backup),
    Restore(Restore),
    Retain(Retain),
    Doctor(Doctor),
    Bench(Bench),
    Demo(Demo),
    Config(Config),
    Completion(Completion),
    Man(Man),
    Add(Add),
    List(List),
    Ready(Ready),
    Blocked(Blocked),
    Update(Update),
    Close(Close),
    Reopen(Reopen),
    Delete(Delete),
    Claim(Claim),
    Release(Release),
    Dep(Dep),
    Stats(Stats),
    Import(Import),
    Export(ExportItems),
    Batch(Batch),
    Prime(Prime),
    Mcp(Mcp),
}

fn parse(line: &str) -> clap::error::Result<Every> {
    Every::try_parse_from(std::iter::once("edgewise").chain(line.split_whitespace()))
}

#[test]
fn a_search_may_begin_with_a_minus_and_have_several_words() {
    let read = |line: &str| Cli::read(line.split_whitespace().map(OsString::from), ColorChoice::Never);
    let query = |line: &str| match read(line).unwrap().command {
        Command::Runs(Runs { command: Some(RunsCommand::Export(Export { query, .. })), .. }) => query,
        Command::Runs(runs) => runs.query,
        other => panic!("{other:?}"),
    };
    assert_eq!(query("edgewise runs -state:complete flow:x --limit 3 -q"), ["!state:complete", "flow:x"]);
    assert_eq!(query("edgewise runs -o json -label.team=a"), ["!label.team=a"]);
    assert_eq!(query("edgewise runs export -by:ann --to f"), ["!by:ann"]);
    assert!(read("edgewise runs --limt 3").is_err() && read("edgewise runs -state").is_err());
    assert!(read("edgewise run x.yaml -ia=b").is_ok(), "elsewhere a minus begins an option");
}

#[test]
fn what_belongs_to_another_rhythm_of_a_schedule_is_refused() {
    let read = |line: &str| {
        let line = format!("edgewise schedule set often --flow nightly {line}");
        Cli::read(line.split_whitespace().map(OsString::from), ColorChoice::Never).map(|_| ())
    };
    for good in
        ["--every 2s", "--every 2s --from 2027-01-01T00:00:00Z", "--cron @daily --zone Europe/Berlin", "--cron @daily"]
    {
        assert!(read(good).is_ok(), "{good}");
    }
    for (bad, one, other) in [
        ("--every 2s --zone Mars/X", "--zone", "--every"),
        ("--at 2027-01-01T00:00:00Z --zone UTC", "--zone", "--at"),
        ("--cron @daily --from 2027-01-01T00:00:00Z", "--from", "--cron"),
    ] {
        let refused = read(bad).unwrap_err().to_string();
        let said = [one, other, "cannot be used with"];
        assert!(said.iter().all(|word| refused.contains(word)), "{bad}: {refused}");
    }
}

#[test]
fn the_tree_is_sound() {
    Every::command().debug_assert();
    Cli::command().debug_assert();
}

#[test]
fn every_command_says_what_it_does_and_shows_examples() {
    for command in Every::command().get_subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && !about.contains('\n'), "{}: {about:?}", command.get_name());
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(examples.contains(&format!("edgewise {}", command.get_name())), "{}", command.get_name());
    }
}

#[test]
fn what_the_help_shows_is_understood() {
    for line in [
        "init --demo",
        "run a.yaml -i a=1 -i b:=[1] --key k --wait --timeout 10m --label env=test --label x=y",
        "watch",
        "watch k3f9",
        "runs --state failed,blocked --flow release --limit 5 -o jsonl",
        "show @ --json",
        "show @ for#3.load",
        "events @ --task build[3]",
        "logs @ build --attempt 2",
        "rerun @",
        "rerun @ --from-failure --why fixed --watch",
        "rerun @ --task build[3] --wait --timeout 10m",
        "rerun @ --whole --detach",
        "why @",
        "why @ publish",
        "why @ publish --at 17",
        "timing @ --all",
        "what-if @ build=fail test=ok +2h cancel --to-end",
        "what-if @ --to-end",
        "show @ --at 10m",
        "graph @ --at 12:00:05",
        "logs @ -f",
        "logs @ build --follow",
        "runs --watch --until-idle",
        "graph a.yaml",
        "graph @ --format mermaid --to a.mmd",
        "history @",
        "history @ build[3]",
        "show @ --all",
        "doctor --rebuild",
        "cancel @ --why wrong",
        "pause k3 --why later",
        "resume k3 --why now",
        "gate list",
        "gate approve @ release --comment fine --as lead",
        "gate withdraw @ release",
        "gate reject @ release",
        "check a.yaml -q",
        "plan a.flow#b --json",
        "schema",
        "test a.flow b.test.yaml --filter late",
        "fmt a.flow b.flow --check",
        "fmt -",
        "doctor --verify",
        "demo --chaos --seconds 3 --keep",
        "config show --origin --json",
        "completion zsh",
        "man",
        "man gate approve",
        "man --to man1",
        "bench chain --quick --json",
        "--dir /tmp/x --color never runs",
        "graph",
        "show ew-7k2",
        "why k3f9/publish",
        "history ew-7k2",
        "gate approve ew-g41",
        "gate approve k3f9/release",
        "gate create --approver ann,bob --count 1 --for ew-a,ew-b --title x",
        "gate create --external ci 4711",
        "gate satisfy ew-g41 --comment green",
        "add x -p 1 --type bug --needs ew-a --needs ew-b --deadline 2027-01-31 --metadata a=b",
        "add --template a.yaml --ephemeral 7d",
        "update ew-a @ --unassign --no-deadline --parent ew-b",
        "close @ --claim-next --lease 2h --type bug --no-tag later",
        "ready --claim --sort unblocks --limit 1 --plan ew-p",
        "dep ew-a --needs ew-b,ew-c --blocks ew-d",
        "dep add ew-a ew-b --type validates --metadata result=pass",
        "dep remove ew-a --all --type blocks",
        "dep tree ew-a --direction both --depth 3",
        "import a.jsonl b.jsonl --form quarry --dry-run",
        "batch - --key k",
    ] {
        assert!(parse(line).is_ok(), "{line}: {}", parse(line).unwrap_err());
    }
}

#[test]
fn why_somebody_acts_is_said_of_gates_as_of_everything_else() {
    let spoken = |line: &str| {
        let EveryCommand::Gate(gate) = parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command else {
            panic!("{line}")
        };
        match gate.command {
            GateCommand::Approve(act) | GateCommand::Withdraw(act) | GateCommand::Reject(act) => act.comment,
            GateCommand::Satisfy(open) => open.comment,
            other => panic!("{other:?}"),
        }
    };
    for verb in ["approve", "withdraw", "reject", "satisfy"] {
        for flag in ["--comment", "--why"] {
            assert_eq!(spoken(&format!("gate {verb} @ release {flag} fine")).as_deref(), Some("fine"), "{verb} {flag}");
        }
        let help = parse(&format!("gate {verb} --help")).unwrap_err().to_string();
        assert!(help.contains("[alias: --why]"), "{help}");
        assert_eq!(parse(&format!("gate {verb} @ a --why b --comment c")).unwrap_err().exit_code(), 2, "{verb}");
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for line in [
        "",
        "frobnicate",
        "run",
        "run a.yaml --watch --detach",
        "run a.yaml --detach --timeout 1s",
        "run a.yaml -i nothing",
        "run a.yaml --timeout soon",
        "show",
        "show ../../etc",
        "logs @ --attempt 1",
        "logs @ a --attempt 0",
        "runs --state happy",
        "runs -o json --json",
        "runs --as -x",
        "show ew-a b c",
        "dep ew-a",
        "dep add ew-a",
        "dep remove ew-a",
        "gate create",
        "gate create --until +2h --webhook",
        "gate create --external ci",
        "close ew-a --failed --cancelled",
        "ready --limit 0",
        "fmt",
        "fmt --check",
        "graph a.yaml --format png",
        "demo --seconds 0",
        "config",
        "completion",
        "completion tcsh",
        "man run --to man1",
    ] {
        assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
    }
}

#[test]
fn people_watch_and_programs_wait_unless_told() {
    for (line, terminal, mode) in [
        ("run a", true, Mode::Watch),
        ("run a", false, Mode::Wait),
        ("run a --watch", false, Mode::Watch),
        ("run a --wait", true, Mode::Wait),
        ("run a --detach", true, Mode::Detach),
    ] {
        let EveryCommand::Run(run) = parse(line).unwrap().command else { panic!("{line}") };
        assert_eq!(run.mode(terminal), mode, "{line}");
    }
}

#[test]
fn values_arrive_as_what_they_mean() {
    let EveryCommand::Run(run) = parse("run a --timeout 1h30m").unwrap().command else { panic!() };
    assert_eq!(run.timeout, Some(Millis(5_400_000)));
    let EveryCommand::Runs(runs) = parse("runs --state succeeded").unwrap().command else { panic!() };
    assert_eq!(runs.states(), [RunState::Complete, RunState::ResolvedManually]);
    let EveryCommand::Runs(runs) = parse("runs").unwrap().command else { panic!() };
    assert_eq!(runs.states(), []);
    let EveryCommand::Watch(watch) = parse("watch").unwrap().command else { panic!() };
    assert_eq!(watch.run, RunRef::Last);
    let flags = parse("runs --json --as ada").unwrap().global.flags();
    assert_eq!((flags.output, flags.who.unwrap().as_str()), (Some(Format::Json), "ada"));
}

#[test]
fn the_help_lists_the_exit_codes() {
    let words = ["edgewise", "--help"].map(Into::into);
    let help = Cli::read(words, ColorChoice::Never).unwrap_err().to_string();
    assert!(help.contains("124  the time given was not enough"), "{help}");
}
