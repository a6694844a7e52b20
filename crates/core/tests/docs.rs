//! Every flow that the documents show compiles without a warning, every program is read, and every case passes.

use edgewise_core::flow::{Found, Resolve, compile, compile_file, compile_file_with, read_cases};
use edgewise_core::rehearsal::{judge, perform};
use edgewise_core::text;

/// The blocks of a document in a language, with their first line's number.
fn blocks(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.strip_prefix("```") == Some(language) {
            let block: Vec<&str> = lines.by_ref().map(|(_, l)| l).take_while(|l| *l != "```").collect();
            blocks.push((number + 2, block.join("\n")));
        }
    }
    blocks
}

#[test]
fn every_flow_in_the_documents_compiles() {
    for (file, text, count) in [
        ("README.md", include_str!("../../../README.md"), 1),
        ("docs/guide/flows.md", include_str!("../../../docs/guide/flows.md"), 9),
        ("docs/guide/flow-control.md", include_str!("../../../docs/guide/flow-control.md"), 1),
        ("docs/guide/schedules.md", include_str!("../../../docs/guide/schedules.md"), 2),
        ("docs/guide/events.md", include_str!("../../../docs/guide/events.md"), 1),
    ] {
        let blocks = blocks(text, "yaml");
        assert_eq!(blocks.len(), count, "{file}");
        for (line, block) in blocks {
            match compile(&block, file) {
                Ok(compiled) => assert!(compiled.warnings.is_empty(), "{file}:{line} has warnings"),
                Err(problems) => panic!("{file}:{line} does not compile:\n{problems}"),
            }
        }
    }
}

/// A document that shows flows which start each other holds them all.
#[test]
fn every_flow_in_the_guide_to_composition_compiles() {
    struct Others(Vec<String>);
    impl Resolve for Others {
        fn find(&mut self, name: &str, _: &str) -> Result<Option<Found>, String> {
            let found = self.0.iter().find(|text| text.starts_with(&format!("flow: {name}\n")));
            Ok(found.map(|text| Found::File { text: text.clone(), file: format!("{name}.yaml") }))
        }
    }
    let file = "docs/guide/composition.md";
    let text = include_str!("../../../docs/guide/composition.md");
    let yaml: Vec<String> = blocks(text, "yaml").into_iter().map(|(_, block)| block).collect();
    let programs = blocks(text, "flow").into_iter().map(|(_, block)| block);
    assert_eq!(yaml.len(), 2, "{file}");
    for block in yaml.iter().cloned().chain(programs) {
        match compile_file_with(&format!("{block}\n"), file, &mut Others(yaml.clone())) {
            Ok(flows) => assert!(flows.iter().all(|one| one.warnings.is_empty()), "{file} has warnings"),
            Err(problems) => panic!("{file} does not compile:\n{problems}"),
        }
    }
}

#[test]
fn every_program_in_the_documents_is_read_and_laid_out() {
    for (file, text, count) in [
        ("docs/guide/programs.md", include_str!("../../../docs/guide/programs.md"), 6),
        ("docs/guide/flow-control.md", include_str!("../../../docs/guide/flow-control.md"), 1),
    ] {
        let blocks = blocks(text, "flow");
        assert_eq!(blocks.len(), count, "{file}");
        for (line, block) in blocks {
            let block = format!("{block}\n");
            match text::parse(&block, file) {
                Ok(parsed) => assert!(parsed.warnings.is_empty(), "{file}:{line} has warnings:\n{}", parsed.warnings),
                Err(problems) => panic!("{file}:{line} is not read:\n{problems}"),
            }
            assert_eq!(text::format(&block, file).as_deref(), Ok(block.as_str()), "{file}:{line}");
        }
    }
}

#[test]
fn every_case_in_the_documents_passes() {
    let flow = "flow etl(limit: int = 0):
    listed = @catalog.list()
    rows = spread listed:src -> @load(source=src) [retry: 3]
    wait approval(from=[lead], deadline=2d)
    return {\"loaded\": sum(rows.map(r, r.count))}
";
    let blocks = blocks(include_str!("../../../docs/guide/testing.md"), "yaml");
    assert_eq!(blocks.len(), 1);
    let flows = compile_file(flow, "etl.flow").unwrap_or_else(|problems| panic!("{problems}"));
    let cases =
        read_cases(&blocks[0].1, "docs/guide/testing.md", &flows).unwrap_or_else(|problems| panic!("{problems}"));
    for case in &cases {
        assert_eq!(judge(case, &perform(case)), [], "{}", case.name);
    }
}
