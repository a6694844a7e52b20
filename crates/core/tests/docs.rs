//! Every flow that the documents show compiles without a warning, every program is read, and every case passes.

use edgewise_core::flow::{compile, compile_file, read_cases};
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
        ("docs/guide/flows.md", include_str!("../../../docs/guide/flows.md"), 5),
        ("docs/guide/schedules.md", include_str!("../../../docs/guide/schedules.md"), 2),
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

#[test]
fn every_program_in_the_documents_is_read_and_laid_out() {
    let file = "docs/guide/programs.md";
    let blocks = blocks(include_str!("../../../docs/guide/programs.md"), "flow");
    assert_eq!(blocks.len(), 5);
    for (line, block) in blocks {
        let block = format!("{block}\n");
        match text::parse(&block, file) {
            Ok(parsed) => assert!(parsed.warnings.is_empty(), "{file}:{line} has warnings:\n{}", parsed.warnings),
            Err(problems) => panic!("{file}:{line} is not read:\n{problems}"),
        }
        assert_eq!(text::format(&block, file).as_deref(), Ok(block.as_str()), "{file}:{line}");
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
