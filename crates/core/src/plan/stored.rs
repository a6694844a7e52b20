//! How deep a plan is nested once it is stored. Whoever reads JSON gives up at some depth, so what is deeper is refused
//! before it is stored: its run could begin, and nobody could say a word about it afterwards.
//!
//! A flow is nested no deeper than its file, but a level of a template is several levels of its stored form.

use super::Spec;
use super::build::{PlanDraft, Problem};
use crate::limits;
use crate::template::Template;
use serde::Serialize;

/// Levels of a plan around a template: the most that there are, and those in most places where a template can be deep.
const MOST_AROUND: usize = 8;
const AROUND: usize = 5;

/// What to do about it.
pub(crate) const FLATTER: &str =
    "make it flatter, or write the inner part of it as one expression: '${{ {\"key\": inputs.name} }}'";

/// What is wrong with a template that could not be read again, wherever in a plan it stands.
pub(crate) fn too_deep(template: &Template) -> Option<String> {
    may_be_deep(template).then(|| deeper(template, AROUND)).flatten()
}

impl PlanDraft {
    /// Whether each template can be read again where it stands.
    pub(super) fn check_stored(&self, problems: &mut Vec<Problem>) {
        let whole = self.output.iter().filter(|output| may_be_deep(output)).filter_map(|output| deeper(output, 1));
        let told = self.publish.iter().filter(|one| one.payload.as_ref().is_some_and(may_be_deep));
        for message in whole.chain(told.filter_map(|one| deeper(one, 2))) {
            problems.push(problem((0, None), &message));
        }
        for (number, spec) in (0..).zip(&self.specs) {
            if problems.len() > limits::PROBLEMS {
                return;
            }
            let mut deep = false;
            spec.templates(&mut |template| deep |= may_be_deep(template));
            if let Some(message) = deep.then(|| deeper(spec, 2)).flatten() {
                problems.push(problem(self.place_of(number), &message));
            }
        }
    }

    /// A node that a spec is of, and its region.
    fn place_of(&self, spec: u32) -> (u32, Option<u32>) {
        let node_of = |of: &[u32]| (0..).zip(of).find(|(_, of)| **of == spec).map(|(node, _)| node);
        let mut regions = (0..).zip(&self.regions);
        regions.find_map(|(number, region)| Some((number, Some(node_of(&region.specs)?)))).unwrap_or_default()
    }
}

fn problem((region, node): (u32, Option<u32>), message: &str) -> Problem {
    Problem { region, node, code: "too_deep", message: format!("{message}: {FLATTER}") }
}

/// Said without writing it out, which is only worth it for the few that are.
fn may_be_deep(template: &Template) -> bool {
    template.levels() + MOST_AROUND > limits::STORED_LEVELS
}

fn deeper(part: &impl Serialize, around: usize) -> Option<String> {
    let found = levels(&serde_json::to_vec(part).unwrap_or_default()) + around;
    let most = limits::STORED_LEVELS;
    (found > most).then(|| {
        format!(
            "this is nested {found} levels deep in the stored plan, where a map with expressions in it takes three and \
             a list two, but at most {most} can be read again"
        )
    })
}

/// How deep JSON is nested.
fn levels(text: &[u8]) -> usize {
    let (mut open, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' if !quoted => open -= 1,
            _ => {}
        }
    }
    deepest
}

impl Spec {
    /// Calls `see` with every template in it.
    fn templates(&self, see: &mut dyn FnMut(&Template)) {
        self.work.templates(see);
        self.publish.iter().filter_map(|one| one.payload.as_ref()).for_each(see);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::template::{Part, Root};
    use serde_json::json;

    #[test]
    fn a_template_is_never_deeper_than_it_is_taken_for() {
        let expr = |root: Root| Expr::root("x", root, &["[{"]);
        let of = |root: Root| Template::Expr(expr(root));
        let output = || Root::Output { up: 1, node: 0 };
        for (template, exactly) in [
            (Template::Value(json!(1)), 1),
            (Template::Value(json!({"\"[": [["\\"]]})), 4),
            (of(Root::Input), 4),
            (of(Root::Var(1)), 5),
            (of(output()), 6),
            (Template::Text(vec![Part::Literal("{".into()), Part::Expr(expr(output()))]), 8),
            (Template::List(vec![of(output()), Template::List(vec![])]), 8),
            (Template::Map(vec![("a".into(), of(output()))]), 9),
            (Template::Map(vec![]), 2),
        ] {
            assert_eq!(levels(&serde_json::to_vec(&template).unwrap()), exactly, "{template:?}");
            assert!((exactly..=exactly + 2).contains(&template.levels()), "{template:?} has {}", template.levels());
        }
    }
}
