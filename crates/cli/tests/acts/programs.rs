//! A program to its end, with the real binary: somebody closes its item, and its secret reaches the script alone.

use crate::process::Project;
use std::path::Path;

const PROGRAM: &str = r#"flow release(version = "1.2") [secrets: ["TOKEN"]]:
    review = @item(title="Review " + version, assignee="bob") [publish: "reviewed"]
    out = @run(script="echo \"$KEY by $WHO\" | tee told.$WHO", KEY=secrets.TOKEN, WHO=review.closedBy)
    lines = @run(script="echo \"[\\\"$KEY\\\"]\" > \"$EDGEWISE_OUTPUT\"; echo $KEY >&2", output="json", KEY=secrets.TOKEN)
    return [out, lines]
"#;

/// Whether a text stands in any file below a folder.
fn stands(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().map(Result::unwrap).any(|entry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => stands(&entry.path(), text),
        kind if kind.is_file() => {
            let bytes = std::fs::read(entry.path()).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        }
        _ => false,
    })
}

#[test]
fn a_program_waits_for_its_item_and_hands_its_secret_to_the_script_alone() {
    let project = Project::new();
    std::fs::write(project.path().join("release.flow"), PROGRAM).unwrap();
    std::fs::write(project.path().join("secrets"), "TOKEN=hush-hush-7\n").unwrap();
    std::fs::write(project.path().join("edgewise.toml"), "secrets_file = \"secrets\"\n").unwrap();
    let mut said = vec![project.run("run release.flow --detach")];
    assert_eq!(said[0].code, 0, "{said:?}");
    project.until_unlocked("background.lock");
    project.until_unlocked("engine.lock");
    let ready = project.run("list --json");
    let item: serde_json::Value = serde_json::from_str(&ready.out).unwrap_or_else(|e| panic!("{e}: {ready:?}"));
    let item = item.get(0).or(item.pointer("/items/0")).unwrap_or_else(|| panic!("{item}"));
    assert_eq!(item["title"], "Review 1.2");
    assert!(!project.has("told.bob"), "it waits for its item");
    let id = item["id"].as_str().unwrap();
    said.push(project.run(&format!("close {id} --as bob")));
    said.push(project.run("watch"));
    assert_eq!(said[2].code, 0, "{said:?}");
    for look in ["show @ --json", "history @ --json", "logs @", "runs --json", "why @", "domain read release --json"] {
        said.push(project.run(look));
    }
    let told = std::fs::read_to_string(project.path().join("told.bob")).unwrap();
    assert_eq!(told, "hush-hush-7 by bob\n", "the script has the value");
    assert!(!stands(&project.path().join(".edgewise"), "hush-hush-7"), "the secret is kept somewhere");
    let said = said.iter().map(|ended| format!("{}{}", ended.out, ended.err)).collect::<String>();
    assert!(!said.contains("hush-hush-7"), "the secret is printed: {said}");
    assert!(said.contains("*** by bob") && said.contains("reviewed"), "{said}");
}

#[test]
fn a_changed_file_never_disturbs_a_run_that_has_begun() {
    let project = Project::new();
    let file = project.path().join("f.flow");
    let text = |word: &str| format!("flow f():\n    wait approval(count=1)\n    @run(script=\"echo {word} >>told\")\n");
    std::fs::write(&file, text("first")).unwrap();
    assert_eq!(project.run("run f.flow --detach").code, 0);
    project.until_unlocked("background.lock");
    project.until_unlocked("engine.lock");
    for next in ["flow f(:\n", &text("second")] {
        std::fs::write(&file, next).unwrap();
        assert_eq!(project.run("why @").code, 0, "what began is still told");
    }
    assert_eq!(project.run("gate approve @ approval").code, 0);
    assert_eq!(project.run("watch").code, 0);
    assert_eq!(std::fs::read_to_string(project.path().join("told")).unwrap(), "first\n");
}
