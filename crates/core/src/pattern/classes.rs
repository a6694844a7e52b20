//! Sets of characters: `[a-z]`, `\d` and the like, all of ASCII as in RE2.

use regex_syntax::ast::{ClassAscii, ClassAsciiKind, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem};

/// Characters from one to another, several times; or all but these.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Set {
    ranges: Vec<(char, char)>,
    /// Sets within this one that are "all but".
    others: Vec<Set>,
    negated: bool,
}

type Ranges = &'static [(char, char)];

const DIGIT: Ranges = &[('0', '9')];
const SPACE: Ranges = &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')];
const WORD: Ranges = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

impl Set {
    pub(super) fn one(c: char) -> Self {
        Self::of(&[(c, c)], false)
    }

    /// What `.` stands for: all but the end of a line.
    pub(super) fn any() -> Self {
        Self::of(&[('\n', '\n')], true)
    }

    fn of(ranges: &[(char, char)], negated: bool) -> Self {
        Self { ranges: ranges.to_vec(), others: Vec::new(), negated }
    }

    pub(super) fn has(&self, c: char) -> bool {
        let within = self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
        (within || self.others.iter().any(|set| set.has(c))) != self.negated
    }

    pub(super) fn perl(class: &ClassPerl) -> Self {
        let ranges = match class.kind {
            ClassPerlKind::Digit => DIGIT,
            ClassPerlKind::Space => SPACE,
            ClassPerlKind::Word => WORD,
        };
        Self::of(ranges, class.negated)
    }

    fn ascii(class: &ClassAscii) -> Self {
        let ranges: Ranges = match class.kind {
            ClassAsciiKind::Alnum => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
            ClassAsciiKind::Alpha => &[('A', 'Z'), ('a', 'z')],
            ClassAsciiKind::Ascii => &[('\0', '\x7f')],
            ClassAsciiKind::Blank => &[('\t', '\t'), (' ', ' ')],
            ClassAsciiKind::Cntrl => &[('\0', '\x1f'), ('\x7f', '\x7f')],
            ClassAsciiKind::Digit => DIGIT,
            ClassAsciiKind::Graph => &[('!', '~')],
            ClassAsciiKind::Lower => &[('a', 'z')],
            ClassAsciiKind::Print => &[(' ', '~')],
            ClassAsciiKind::Punct => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
            ClassAsciiKind::Space => &[('\t', '\r'), (' ', ' ')],
            ClassAsciiKind::Upper => &[('A', 'Z')],
            ClassAsciiKind::Word => WORD,
            ClassAsciiKind::Xdigit => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        };
        Self::of(ranges, class.negated)
    }

    /// What stands between brackets.
    pub(super) fn bracketed(class: &ClassBracketed) -> Result<Self, String> {
        let mut set = Self { negated: class.negated, ..Self::default() };
        match &class.kind {
            ClassSet::Item(item) => set.add(item)?,
            ClassSet::BinaryOp(_) => return Err("sets cannot be combined with `&&`, `--` or `~~`".into()),
        }
        Ok(set)
    }

    fn add(&mut self, item: &ClassSetItem) -> Result<(), String> {
        match item {
            ClassSetItem::Empty(_) => {}
            ClassSetItem::Literal(literal) => self.ranges.push((literal.c, literal.c)),
            ClassSetItem::Range(range) => self.ranges.push((range.start.c, range.end.c)),
            ClassSetItem::Ascii(class) => self.others.push(Self::ascii(class)),
            ClassSetItem::Perl(class) => self.others.push(Self::perl(class)),
            ClassSetItem::Unicode(_) => return Err(no_unicode()),
            ClassSetItem::Bracketed(class) => self.others.push(Self::bracketed(class)?),
            ClassSetItem::Union(union) => union.items.iter().try_for_each(|item| self.add(item))?,
        }
        Ok(())
    }
}

pub(super) fn no_unicode() -> String {
    "classes such as `\\pL` are not supported: name the characters in brackets".into()
}
