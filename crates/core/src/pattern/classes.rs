//! Sets of characters: `[a-z]`, `\d` and the like, all of ASCII as in RE2.

use regex_syntax::ast::{ClassAscii, ClassAsciiKind, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem};

/// The highest number of a character.
const LAST: u32 = char::MAX as u32;

/// Ranges of the numbers of characters, in order and apart from each other: however many are written, few are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    ranges: Vec<(u32, u32)>,
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
        Self::made(ranges.iter().map(|(from, to)| (u32::from(*from), u32::from(*to))).collect(), negated)
    }

    fn made(mut ranges: Vec<(u32, u32)>, negated: bool) -> Self {
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let joins = next.0 <= last.1 + 1;
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        Self { ranges: if negated { others(&ranges) } else { ranges } }
    }

    pub(super) fn has(&self, c: char) -> bool {
        let c = u32::from(c);
        let at = self.ranges.partition_point(|(_, to)| *to < c);
        self.ranges.get(at).is_some_and(|(from, _)| *from <= c)
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
        let mut ranges = Vec::new();
        match &class.kind {
            ClassSet::Item(item) => add(item, &mut ranges)?,
            ClassSet::BinaryOp(_) => return Err("sets cannot be combined with `&&`, `--` or `~~`".into()),
        }
        Ok(Self::made(ranges, class.negated))
    }
}

fn add(item: &ClassSetItem, to: &mut Vec<(u32, u32)>) -> Result<(), String> {
    match item {
        ClassSetItem::Empty(_) => {}
        ClassSetItem::Literal(literal) => to.push((literal.c.into(), literal.c.into())),
        ClassSetItem::Range(range) => to.push((range.start.c.into(), range.end.c.into())),
        ClassSetItem::Ascii(class) => to.extend(Set::ascii(class).ranges),
        ClassSetItem::Perl(class) => to.extend(Set::perl(class).ranges),
        ClassSetItem::Unicode(_) => return Err(no_unicode()),
        ClassSetItem::Bracketed(class) => to.extend(Set::bracketed(class)?.ranges),
        ClassSetItem::Union(union) => union.items.iter().try_for_each(|item| add(item, to))?,
    }
    Ok(())
}

/// What lies between and around ranges that are in order.
fn others(ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut from = 0;
    let mut gaps = Vec::with_capacity(ranges.len() + 1);
    for (first, last) in ranges {
        if *first > from {
            gaps.push((from, first - 1));
        }
        from = last + 1;
    }
    if from <= LAST {
        gaps.push((from, LAST));
    }
    gaps
}

pub(super) fn no_unicode() -> String {
    "classes such as `\\pL` are not supported: name the characters in brackets".into()
}
