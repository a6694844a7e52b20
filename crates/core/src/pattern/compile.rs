//! From the text of a pattern to its parts.

use super::classes::{Set, no_unicode};
use super::{Edge, Part, Pattern};
use crate::limits;
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{AssertionKind, Ast, Group, GroupKind, Repetition, RepetitionKind, RepetitionRange};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Deepest nesting of brackets.
const DEEPEST: u32 = 50;

/// The pattern, or what is wrong with it; and how often something was looked at to find out.
pub(super) fn compile(text: &str) -> (Result<Pattern, String>, usize) {
    let mut compiler = Compiler::default();
    let parsed = ParserBuilder::new().nest_limit(DEEPEST).build().parse(text).map_err(|error| error.kind().to_string());
    let whole = parsed.and_then(|ast| {
        compiler.put(&ast)?;
        compiler.push(Part::Match)
    });
    let Compiler { parts, sets, visits, .. } = compiler;
    (whole.map(|_| Pattern { parts, sets }), visits)
}

#[derive(Default)]
struct Compiler {
    parts: Vec<Part>,
    sets: Vec<Set>,
    /// The sets of what was met before: what is repeated a thousand times is one set.
    known: BTreeMap<*const Ast, u32>,
    /// Counted beside the parts, because nothing repeated a million times has none.
    visits: usize,
}

impl Compiler {
    fn push(&mut self, part: Part) -> Result<usize, String> {
        self.parts.push(part);
        self.visit()?;
        Ok(self.parts.len() - 1)
    }

    fn visit(&mut self) -> Result<(), String> {
        self.visits += 1;
        if self.parts.len() > limits::PATTERN_PARTS || self.visits > 4 * limits::PATTERN_PARTS {
            let most = limits::PATTERN_PARTS;
            return Err(format!("with what it repeats it has more than the {most} parts allowed"));
        }
        Ok(())
    }

    fn here(&self) -> u32 {
        self.parts.len() as u32
    }

    fn put(&mut self, ast: &Ast) -> Result<(), String> {
        self.visit()?;
        match ast {
            Ast::Empty(_) => {}
            Ast::Flags(_) => return Err(no_flags()),
            Ast::Literal(literal) => self.one(ast, || Ok(Set::one(literal.c)))?,
            Ast::Dot(_) => self.one(ast, || Ok(Set::any()))?,
            Ast::Assertion(assertion) => drop(self.push(Part::At(edge(&assertion.kind)?))?),
            Ast::ClassUnicode(_) => return Err(no_unicode()),
            Ast::ClassPerl(class) => self.one(ast, || Ok(Set::perl(class)))?,
            Ast::ClassBracketed(class) => self.one(ast, || Set::bracketed(class))?,
            Ast::Repetition(repetition) => self.repeat(repetition)?,
            Ast::Group(group) => self.group(group)?,
            Ast::Alternation(either) => self.either(&either.asts)?,
            Ast::Concat(row) => row.asts.iter().try_for_each(|ast| self.put(ast))?,
        }
        Ok(())
    }

    /// One character, of a set that is made when it is met first.
    fn one(&mut self, ast: &Ast, set: impl FnOnce() -> Result<Set, String>) -> Result<(), String> {
        let number = match self.known.entry(std::ptr::from_ref(ast)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                self.sets.push(set()?);
                *free.insert(self.sets.len() as u32 - 1)
            }
        };
        self.push(Part::One(number)).map(drop)
    }

    fn group(&mut self, group: &Group) -> Result<(), String> {
        if matches!(&group.kind, GroupKind::NonCapturing(flags) if !flags.items.is_empty()) {
            return Err(no_flags());
        }
        self.put(&group.ast)
    }

    fn either(&mut self, ways: &[Ast]) -> Result<(), String> {
        let Some((last, first)) = ways.split_last() else { return Ok(()) };
        let mut ends = Vec::new();
        for way in first {
            let split = self.push(Part::Split(self.here() + 1, 0))?;
            self.put(way)?;
            ends.push(self.push(Part::Jump(0))?);
            self.parts[split] = Part::Split(split as u32 + 1, self.here());
        }
        self.put(last)?;
        for end in ends {
            self.parts[end] = Part::Jump(self.here());
        }
        Ok(())
    }

    fn repeat(&mut self, repetition: &Repetition) -> Result<(), String> {
        let (least, most) = match &repetition.op.kind {
            RepetitionKind::ZeroOrOne => (0, Some(1)),
            RepetitionKind::ZeroOrMore => (0, None),
            RepetitionKind::OneOrMore => (1, None),
            RepetitionKind::Range(RepetitionRange::Exactly(n)) => (*n, Some(*n)),
            RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (*n, None),
            RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => (*least, Some(*most)),
        };
        for _ in 0..least {
            self.put(&repetition.ast)?;
        }
        match most {
            None => {
                let split = self.push(Part::Split(self.here() + 1, 0))?;
                self.put(&repetition.ast)?;
                self.push(Part::Jump(split as u32))?;
                self.parts[split] = Part::Split(split as u32 + 1, self.here());
            }
            Some(most) => {
                for _ in least..most {
                    let split = self.push(Part::Split(self.here() + 1, 0))?;
                    self.put(&repetition.ast)?;
                    self.parts[split] = Part::Split(split as u32 + 1, self.here());
                }
            }
        }
        Ok(())
    }
}

fn edge(kind: &AssertionKind) -> Result<Edge, String> {
    match kind {
        AssertionKind::StartLine | AssertionKind::StartText => Ok(Edge::Start),
        AssertionKind::EndLine | AssertionKind::EndText => Ok(Edge::End),
        AssertionKind::WordBoundary => Ok(Edge::Word),
        AssertionKind::NotWordBoundary => Ok(Edge::NotWord),
        _ => Err("of the places between characters, `^`, `$`, `\\b` and `\\B` are supported".into()),
    }
}

fn no_flags() -> String {
    "flags such as `(?i)` are not supported: write `[aA]` for either letter".into()
}
