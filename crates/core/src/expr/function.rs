//! The functions and macros by name, and the words of CEL that are refused with what to write instead.

/// A function of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    String,
    Int,
    Double,
    Bool,
    StartsWith,
    EndsWith,
    Contains,
    Matches,
    LowerAscii,
    UpperAscii,
    Trim,
    Split,
    Join,
    Replace,
    Substring,
    IndexOf,
    Range,
    Enumerate,
    Zip,
    Sum,
    Min,
    Max,
    Flatten,
    Keys,
    Values,
    Json,
}

/// How a function may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `f(x)`.
    Plain,
    /// `x.f()`.
    Method,
    /// Both.
    Either,
}

/// A function, its name, its form, how many arguments it has at least and at most (with the one before the
/// dot), and how it is written in messages.
pub(super) type Entry = (Function, &'static str, Form, usize, usize, &'static str);

/// As many arguments as one likes.
const MANY: usize = usize::MAX;

pub(super) const FUNCTIONS: [Entry; 27] = [
    (Function::Size, "size", Form::Either, 1, 1, "size(x)"),
    (Function::String, "string", Form::Plain, 1, 1, "string(x)"),
    (Function::Int, "int", Form::Plain, 1, 1, "int(x)"),
    (Function::Double, "double", Form::Plain, 1, 1, "double(x)"),
    (Function::Bool, "bool", Form::Plain, 1, 1, "bool(x)"),
    (Function::StartsWith, "startsWith", Form::Method, 2, 2, "text.startsWith(prefix)"),
    (Function::EndsWith, "endsWith", Form::Method, 2, 2, "text.endsWith(suffix)"),
    (Function::Contains, "contains", Form::Method, 2, 2, "text.contains(part)"),
    (Function::Matches, "matches", Form::Either, 2, 2, "text.matches(pattern)"),
    (Function::LowerAscii, "lowerAscii", Form::Method, 1, 1, "text.lowerAscii()"),
    (Function::UpperAscii, "upperAscii", Form::Method, 1, 1, "text.upperAscii()"),
    (Function::Trim, "trim", Form::Method, 1, 1, "text.trim()"),
    (Function::Split, "split", Form::Method, 2, 3, "text.split(separator)"),
    (Function::Join, "join", Form::Method, 1, 2, "list.join(separator)"),
    (Function::Replace, "replace", Form::Method, 3, 4, "text.replace(part, with)"),
    (Function::Substring, "substring", Form::Method, 2, 3, "text.substring(from, to)"),
    (Function::IndexOf, "indexOf", Form::Method, 2, 3, "text.indexOf(part)"),
    (Function::Range, "range", Form::Plain, 1, 3, "range(from, to)"),
    (Function::Enumerate, "enumerate", Form::Plain, 1, 1, "enumerate(list)"),
    (Function::Zip, "zip", Form::Plain, 2, MANY, "zip(list, list)"),
    (Function::Sum, "sum", Form::Plain, 1, 1, "sum(list)"),
    (Function::Min, "min", Form::Plain, 1, MANY, "min(list)"),
    (Function::Max, "max", Form::Plain, 1, MANY, "max(list)"),
    (Function::Flatten, "flatten", Form::Plain, 1, 1, "flatten(list)"),
    (Function::Keys, "keys", Form::Plain, 1, 1, "keys(map)"),
    (Function::Values, "values", Form::Plain, 1, 1, "values(map)"),
    (Function::Json, "json", Form::Plain, 1, 1, "json(x)"),
];

impl Function {
    /// All that is known of the function with this name.
    pub(super) fn named(name: &str) -> Option<&'static Entry> {
        FUNCTIONS.iter().find(|entry| entry.1 == name)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }
}

/// A macro over the items of a list or the keys of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
}

pub(super) const MACROS: [(Macro, &str); 5] = [
    (Macro::All, "all"),
    (Macro::Exists, "exists"),
    (Macro::ExistsOne, "exists_one"),
    (Macro::Map, "map"),
    (Macro::Filter, "filter"),
];

impl Macro {
    /// The macro with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        MACROS.iter().find(|(_, known)| *known == name).map(|(found, _)| *found)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        MACROS.iter().find(|(known, _)| *known == self).map_or("", |(_, name)| name)
    }
}

/// Functions of CEL that are left out, with what to write instead.
pub(super) const LEFT_OUT: [(&str, &str); 18] = [
    ("uint", "numbers are signed: write `int(x)`"),
    ("bytes", "there are no bytes: keep the value as a text"),
    ("type", "values have no types to name: ask what is in them with `has(x.key)` or `size(x)`"),
    ("dyn", "every value is dynamic: leave `dyn` out"),
    ("timestamp", "there are no instants: keep the time as a text, or as a whole number and compare that"),
    ("duration", "there are no durations: keep it as a whole number of seconds"),
    ("getFullYear", "there are no instants: compute with times in a task"),
    ("getMonth", "there are no instants: compute with times in a task"),
    ("getDate", "there are no instants: compute with times in a task"),
    ("getDayOfMonth", "there are no instants: compute with times in a task"),
    ("getDayOfWeek", "there are no instants: compute with times in a task"),
    ("getDayOfYear", "there are no instants: compute with times in a task"),
    ("getHours", "there are no instants: compute with times in a task"),
    ("getMinutes", "there are no instants: compute with times in a task"),
    ("getSeconds", "there are no instants: compute with times in a task"),
    ("getMilliseconds", "there are no instants: compute with times in a task"),
    ("charAt", "write `text.substring(at, at + 1)`"),
    ("format", "add texts with `+` and `string(x)`"),
];

/// Words that cannot be names, because CEL keeps them.
pub(super) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Words that cannot follow a dot either.
pub(super) const KEYWORDS: [&str; 4] = ["true", "false", "null", "in"];

/// Whether a word cannot be the name of anything.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_lists_every_function_and_every_macro() {
        let text = include_str!("../../../../docs/reference/expressions.md");
        for (_, name, _, _, _, written) in FUNCTIONS {
            assert!(text.contains(&format!("`{written}`")), "{name} is not listed as `{written}`");
        }
        for (_, name) in MACROS {
            assert!(text.contains(&format!("`list.{name}(x, ")), "{name}");
        }
    }
}
