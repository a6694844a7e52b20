//! Who wins, and who said so.

use super::*;
use std::fs;

/// A folder of our own with a project, a folder in it, and a home.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new(project: Option<&str>, user: Option<&str>) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("project/deep/down")).unwrap();
        fs::create_dir_all(root.path().join("home/.config/edgewise")).unwrap();
        if let Some(text) = project {
            fs::write(root.path().join("project").join(FILE), text).unwrap();
        }
        if let Some(text) = user {
            fs::write(root.path().join("home/.config/edgewise/config.toml"), text).unwrap();
        }
        Self { root }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn load(&self, flags: Flags, vars: &[(&str, &str)]) -> Result<Config> {
        let home = self.path("home").display().to_string();
        let var = |name: &str| match name {
            "HOME" => Some(home.clone()),
            _ => vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()),
        };
        Config::load(flags, &World { cwd: self.path("project/deep/down"), var: &var, cores: 8 })
    }
}

#[test]
fn without_any_word_the_defaults_hold() {
    let place = Place::new(None, None);
    let config = place.load(Flags::default(), &[]).unwrap();
    assert_eq!(config.dir.value, place.path("project/deep/down/.edgewise"));
    assert_eq!(config.who.value.as_str(), "someone");
    assert_eq!((config.output.value, config.color.value), (Format::Table, ColorChoice::Auto));
    assert_eq!((config.workers.value, config.workers.origin), (16, Origin::Default));
}

#[test]
fn a_flag_wins_over_a_variable_over_the_project_over_the_user() {
    let place = Place::new(Some("workers = 3\noutput = \"json\"\n"), Some("workers = 2\nas = \"ada\"\n"));
    let config = place.load(Flags::default(), &[]).unwrap();
    assert_eq!((config.workers.value, config.who.value.as_str()), (3, "ada"));
    assert_eq!(config.workers.origin, Origin::File(place.path("project/edgewise.toml"), 1));
    assert_eq!(config.who.origin, Origin::File(place.path("home/.config/edgewise/config.toml"), 2));

    let vars = [("EDGEWISE_WORKERS", "5"), ("EDGEWISE_FORMAT", "jsonl"), ("EDGEWISE_AS", "grace")];
    let flags = Flags { output: Some(Format::Table), ..Flags::default() };
    let config = place.load(flags, &vars).unwrap();
    assert_eq!((config.workers.value, config.who.value.as_str()), (5, "grace"));
    assert_eq!((config.output.value, config.output.origin), (Format::Table, Origin::Flag("-o")));
    assert_eq!(config.workers.origin.to_string(), "$EDGEWISE_WORKERS");
}

#[test]
fn the_data_folder_is_where_it_was_said() {
    let place = Place::new(Some("dir = \"data\"\n"), None);
    let dir = |flags, vars: &[(&str, &str)]| place.load(flags, vars).unwrap().dir.value;
    assert_eq!(dir(Flags::default(), &[]), place.path("project/data"));
    assert_eq!(dir(Flags::default(), &[("EDGEWISE_DIR", "here")]), place.path("project/deep/down/here"));
    assert_eq!(dir(Flags { dir: Some("/elsewhere".into()), ..Flags::default() }, &[]), PathBuf::from("/elsewhere"));

    let place = Place::new(Some(""), Some("dir = \"state\"\n"));
    let dir = |flags, vars: &[(&str, &str)]| place.load(flags, vars).unwrap().dir.value;
    assert_eq!(dir(Flags::default(), &[]), place.path("project/state"));
    let place = Place::new(Some(""), None);
    assert_eq!(place.load(Flags::default(), &[]).unwrap().dir.value, place.path("project/.edgewise"));
}

#[test]
fn whoever_is_logged_in_acts_under_a_valid_name() {
    let place = Place::new(None, None);
    for (user, name) in [
        ("ada", "ada"),
        ("ada.lovelace", "ada-lovelace"),
        ("DOMAIN\\ada", "DOMAIN-ada"),
        ("42ada", "ada"),
        ("日本", "someone"),
        ("", "someone"),
    ] {
        assert_eq!(place.load(Flags::default(), &[("USER", user)]).unwrap().who.value.as_str(), name, "{user}");
    }
}

#[test]
fn the_variable_that_a_task_writes_its_output_to_is_not_a_setting() {
    let place = Place::new(None, None);
    let config = place.load(Flags::default(), &[("EDGEWISE_OUTPUT", "/tmp/output")]).unwrap();
    assert_eq!(config.output.origin, Origin::Default);
}

#[test]
fn a_wrong_value_is_refused_where_it_was_said() {
    for (project, vars, expected) in [
        ("workers = 0", &[][..], "edgewise.toml:1"),
        ("", &[("EDGEWISE_WORKERS", "lots")][..], "$EDGEWISE_WORKERS is \"lots\""),
        ("", &[("EDGEWISE_FORMAT", "xml")][..], "$EDGEWISE_FORMAT is \"xml\""),
        ("", &[("EDGEWISE_AS", "-x")][..], "$EDGEWISE_AS"),
        ("color = \"blue\"", &[][..], "edgewise.toml:1: `color` cannot be \"blue\""),
    ] {
        let problem = Place::new(Some(project), None).load(Flags::default(), vars).unwrap_err();
        assert!(problem.what.contains(expected), "{problem:?}");
        assert_eq!(problem.exit(), crate::exit::Exit::Usage);
    }
}

#[test]
fn queues_are_read_from_the_file_and_nonsense_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let load = |text: &str| {
        std::fs::write(place.path().join("edgewise.toml"), text).unwrap();
        let var = |_: &str| None;
        Config::load(Flags::default(), &World { cwd: place.path().to_owned(), var: &var, cores: 1 })
    };
    let config = load("[queues.night]\nslots = 2\nrate = \"10/s\"\n\n[queues.mail]\npaused = true\n").unwrap();
    let said: Vec<String> = config.queues.value.iter().map(|(name, set)| format!("{name} {set:?}")).collect();
    assert!(said[0].contains("mail") && said[0].contains("paused: true"), "{said:?}");
    assert!(said[1].contains("slots: Some(2)"), "{said:?}");
    for (text, part) in [
        ("[queues.night]\nslots = 0", "from 1 to"),
        ("[queues.night]\nrate = \"fast\"", "is not a rate"),
        ("[queues.night]\nslot = 1", "there is no `slot` in [queues.night]"),
        ("[queues.\"a b\"]\nslots = 1", "has ' ' in it"),
    ] {
        let problem = load(text).unwrap_err();
        let whole = format!("{} {:?}", problem.what, problem.why);
        assert!(whole.contains(part), "{text}: {whole}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_key_its_line_and_what_is_expected() {
    let refused = |text: &str| {
        let place = Place::new(Some(text), None);
        let problem = place.load(Flags::default(), &[]).unwrap_err();
        let file = format!("{}:", place.path("project/edgewise.toml").display());
        let parts = [Some(problem.what), problem.why, problem.next];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" | ").replace(&file, "")
    };
    for (text, said) in [
        ("[queues.night]\nslot = 2", "2: there is no `slot` in [queues.night] | did you mean `slots`?"),
        (
            "[queues.a]\nslots = 1\n[queues.b]\ncolour = 2",
            "4: there is no `colour` in [queues.b] | it takes `slots`, `rate`, `paused`",
        ),
        (
            "\n[queues]\nnight = { slots = \"2\" }",
            "3: `slots` of [queues.night] cannot be \"2\" | expected a whole number, without quotes",
        ),
        (
            "[queues.night]\npaused = 1",
            "2: `paused` of [queues.night] cannot be 1 | expected true or false, without quotes",
        ),
        ("queues = 3", "1: `queues` cannot be 3 | expected a table"),
        ("dir = \"x\"\nworkers = \"x\"", "2: `workers` cannot be \"x\" | expected a whole number, without quotes"),
        ("workers = -1", "1: `workers` cannot be -1 | expected a whole number, without quotes"),
        ("dir = 3", "1: `dir` cannot be 3 | expected a text, in quotes"),
        ("color = \"blue\"", "1: `color` cannot be \"blue\" | expected one of `auto`, `always`, `never`"),
        (
            "[retention]\nolder = \"3d\"",
            "2: there is no `older` in [retention] | it takes `older_than`, `state`, `where`, `keys`",
        ),
        ("[retention]\nolder_than = 5", "2: `older_than` of [retention] cannot be 5 | expected a text, in quotes"),
        ("[retention]\nstate = \"complete\"", "1: [retention] has a missing field `older_than` | say it there"),
    ] {
        assert_eq!(refused(text), said, "{text}");
    }
    let soon = refused("\n[retention]\nstate = \"complete\"\nolder_than = \"soon\"");
    assert!(soon.starts_with("4: `older_than` of [retention]: "), "{soon}");
}

#[test]
fn every_key_is_shown_with_its_value_and_where_it_was_said() {
    let text = "workers = 3\nkeep_events = \"2d\"\n[retention]\nolder_than = \"30d\"\n\n[queues.night]\nslots = 2\n\n[queues.mail]\npaused = true\n";
    let place = Place::new(Some(text), Some("as = \"ada\"\n"));
    let flags = Flags { output: Some(Format::Json), ..Flags::default() };
    let config = place.load(flags, &[("EDGEWISE_HTTP_ALLOW", "localhost, 10.0.0.0/8")]).unwrap();
    let (project, user) = (place.path("project").display().to_string(), place.path("home").display().to_string());
    let shown = config.shown().iter().map(|s| format!("{} = {} ({})", s.key, s.text(), s.origin)).collect::<Vec<_>>();
    assert_eq!(
        shown,
        [
            format!("dir = {project}/.edgewise (default)"),
            "addr = - (default)".into(),
            format!("as = ada ({user}/.config/edgewise/config.toml:1)"),
            "output = json (-o)".into(),
            "color = auto (default)".into(),
            format!("workers = 3 ({project}/edgewise.toml:1)"),
            "http_allow = localhost, 10.0.0.0/8 ($EDGEWISE_HTTP_ALLOW)".into(),
            "secrets_file = - (default)".into(),
            format!("keep_events = 2d ({project}/edgewise.toml:2)"),
            "send_secrets = - (default)".into(),
            format!("queues.mail = paused true ({project}/edgewise.toml:9)"),
            format!("queues.night = slots 2 ({project}/edgewise.toml:6)"),
            format!("retention = older_than 30d ({project}/edgewise.toml:3)"),
        ]
    );
}

#[test]
fn no_setting_is_missing_from_what_is_shown() {
    let shown = Place::new(None, None).load(Flags::default(), &[]).unwrap().shown();
    let mut keys: Vec<&str> = shown.iter().map(|shown| shown.key.as_str()).collect();
    let mut known = file::KEYS;
    keys.sort_unstable();
    known.sort_unstable();
    assert_eq!(keys, known);
}

#[test]
fn a_server_is_used_unless_a_folder_is_named() {
    let place = Place::new(None, None);
    let vars = [("EDGEWISE_ADDR", "http://here:1"), ("EDGEWISE_TOKEN", "ann.x")];
    let config = place.load(Flags::default(), &vars).unwrap();
    assert_eq!((config.addr.value.as_deref(), config.token.as_deref()), (Some("http://here:1"), Some("ann.x")));
    let flags = Flags { dir: Some("folder".into()), ..Flags::default() };
    assert_eq!(place.load(flags, &vars).unwrap().addr.value, None);
    assert!(config.shown().iter().all(|shown| !shown.text().contains("ann.x")), "a token is not shown");
}
