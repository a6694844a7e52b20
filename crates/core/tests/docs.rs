//! Every flow that the documents show compiles without a warning.

use edgewise_core::flow::compile;

/// The YAML blocks of a document, with their first line's number.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line == "```yaml" {
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
        ("docs/guide/flows.md", include_str!("../../../docs/guide/flows.md"), 4),
    ] {
        let blocks = blocks(text);
        assert_eq!(blocks.len(), count, "{file}");
        for (line, block) in blocks {
            match compile(&block, file) {
                Ok(compiled) => assert!(compiled.warnings.is_empty(), "{file}:{line} has warnings"),
                Err(problems) => panic!("{file}:{line} does not compile:\n{problems}"),
            }
        }
    }
}
