//! What a fresh project has, and what stays as it was.

use super::*;
use crate::config::{Config, Flags, World};
use crate::output::Printer;
use std::os::unix::fs::PermissionsExt;

fn init(folder: &Path, demo: bool) -> Result<Exit> {
    let world = World { cwd: folder.to_owned(), var: &|_| None, cores: 1 };
    let config = Config::load(Flags::default(), &world)?;
    let mut printer = Printer::new(Box::new(std::io::sink()), Box::new(std::io::sink()));
    perform(&Init { demo }, &mut Context { config: &config, cwd: folder, printer: &mut printer })
}

#[test]
fn a_fresh_project_has_settings_and_a_private_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(init(folder.path(), true).unwrap(), Exit::Ok);
    assert_eq!(fs::read_to_string(folder.path().join(DIR).join(".gitignore")).unwrap(), "*\n");
    assert_eq!(fs::metadata(folder.path().join(DIR)).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(fs::read_to_string(folder.path().join(DEMO_FILE)).unwrap().contains("flow: demo"));
}

#[test]
fn the_settings_that_are_written_are_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), false).unwrap();
    let uncommented: String = SETTINGS
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.contains(" = "))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(folder.path().join(FILE), uncommented).unwrap();
    let world = World { cwd: folder.path().to_owned(), var: &|_| None, cores: 4 };
    let said = Config::load(Flags::default(), &world).unwrap();
    fs::remove_file(folder.path().join(FILE)).unwrap();
    let default = Config::load(Flags::default(), &world).unwrap();
    assert_eq!((said.dir.value, said.who.value), (default.dir.value, default.who.value));
    assert_eq!((said.output.value, said.color.value), (default.output.value, default.color.value));
    assert_eq!(said.workers.value, default.workers.value);
}

#[test]
fn what_is_there_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(DEMO_FILE), "mine").unwrap();
    let problem = init(folder.path(), true).unwrap_err();
    assert_eq!(problem.exit(), Exit::Conflict);
    assert!(problem.what.contains("demo.yaml already exists"), "{}", problem.what);
    assert_eq!(fs::read_to_string(folder.path().join(DEMO_FILE)).unwrap(), "mine");
    assert!(!folder.path().join(FILE).exists() && !folder.path().join(DIR).exists(), "nothing was half made");
}

#[test]
fn a_project_gets_the_demo_it_does_not_have_yet() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), "").unwrap();
    init(folder.path(), true).unwrap();
    assert!(folder.path().join(DEMO_FILE).exists() && !folder.path().join(DIR).exists());
    assert_eq!(fs::read_to_string(folder.path().join(FILE)).unwrap(), "");
    assert_eq!(init(folder.path(), true).unwrap_err().exit(), Exit::Conflict);
}

#[test]
fn an_existing_data_folder_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(DIR)).unwrap();
    fs::write(folder.path().join(DIR).join(".gitignore"), "mine").unwrap();
    init(folder.path(), false).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(DIR).join(".gitignore")).unwrap(), "mine");
}

#[test]
fn a_project_within_a_project_has_its_own_data() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), false).unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    init(&inner, false).unwrap();
    assert!(inner.join(DIR).join(".gitignore").exists());
}

#[test]
fn a_demo_names_the_schema_that_is_written_with_it() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path(), true).unwrap();
    let demo = fs::read_to_string(folder.path().join(DEMO_FILE)).unwrap();
    let first = demo.lines().next().unwrap();
    let file = first.strip_prefix("# yaml-language-server: $schema=").expect("the first line names it");
    let schema: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join(file)).unwrap()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    // Where there is no data folder, there is no schema to name.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), "").unwrap();
    init(folder.path(), true).unwrap();
    assert!(!fs::read_to_string(folder.path().join(DEMO_FILE)).unwrap().contains("$schema"));
}
