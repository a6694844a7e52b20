//! Pages of lists that are made anew for each look: a cursor names the last one shown, and where it stood should it be
//! gone by then.

use crate::limits;
use edgewise_core::{Error, Result};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Which part of a list is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    after: Option<(usize, String)>,
    limit: usize,
}

/// What of a list is asked for, where nothing else is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    after: Option<String>,
    limit: Option<usize>,
}

impl PageQuery {
    /// The part that is meant.
    pub fn page(&self) -> Result<Page> {
        Page::new(self.after.as_deref(), self.limit)
    }
}

impl Page {
    /// Takes what is about the page out of a query.
    pub fn taken(query: &mut BTreeMap<String, String>) -> Result<Self> {
        let limit = match query.remove("limit") {
            None => limits::PAGE_DEFAULT,
            Some(text) => text
                .parse()
                .map_err(|_| Error::invalid("bad_parameter", format!("`limit` is a number, this is {text:?}")))?,
        };
        Self::new(query.remove("after").as_deref(), Some(limit))
    }

    /// What `after` and `limit` say.
    pub fn new(after: Option<&str>, limit: Option<usize>) -> Result<Self> {
        let limit = limit.unwrap_or(limits::PAGE_DEFAULT).clamp(1, limits::PAGE);
        let read = |text: &str| {
            let (at, id) = text.split_once('.')?;
            Some((at.parse().ok()?, id.to_owned()))
        };
        let wrong = || Error::invalid("bad_cursor", "`after` is the `next` of the page before, as it came");
        let after = after.map(|text| read(text).ok_or_else(wrong)).transpose()?;
        Ok(Self { after, limit })
    }

    /// The part of a list, and the cursor of the next one.
    pub fn of<T>(&self, mut all: Vec<T>, id: impl Fn(&T) -> &str) -> (Vec<T>, Option<String>) {
        let begin = self.after.as_ref().map_or(0, |(at, last)| {
            // Most of the time it is still where it was.
            let here = all.get(*at).is_some_and(|one| id(one) == last);
            let found = if here { Some(*at) } else { all.iter().position(|one| id(one) == last) };
            found.map_or(*at, |found| found + 1)
        });
        let mut rest = all.split_off(begin.min(all.len()));
        let next = (rest.len() > self.limit).then(|| {
            let last = begin + self.limit - 1;
            format!("{last}.{}", id(&rest[self.limit - 1]))
        });
        rest.truncate(self.limit);
        (rest, next)
    }
}

/// Leaves of a list within something that is shown the part that is asked for, each told by a field of its own.
pub fn paged(shown: &mut Value, list: &str, field: &str, page: &Page) {
    let Some(all) = shown.get_mut(list).and_then(Value::as_array_mut).map(std::mem::take) else { return };
    let named = |one: Value| (one[field].as_str().map_or_else(|| one[field].to_string(), str::to_owned), one);
    let (part, next) = page.of(all.into_iter().map(named).collect(), |(name, _)| name.as_str());
    shown[list] = part.into_iter().map(|(_, one)| one).collect();
    if let Some(next) = next {
        shown["next"] = next.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(all: &[&'static str], after: Option<&str>, expected: &[&str], next: Option<&str>) {
        let page = Page::new(after, Some(2)).unwrap();
        let (found, cursor) = page.of(all.to_vec(), |one| one);
        assert_eq!((found.as_slice(), cursor.as_deref()), (expected, next), "{after:?}");
    }

    #[test]
    fn a_page_goes_on_behind_the_last_one_shown() {
        let all = ["a", "b", "c", "d", "e"];
        check(&all, None, &["a", "b"], Some("1.b"));
        check(&all, Some("1.b"), &["c", "d"], Some("3.d"));
        check(&all, Some("3.d"), &["e"], None);
        // Somebody came before it; it is gone; all are gone.
        check(&["x", "a", "b", "c"], Some("1.b"), &["c"], None);
        check(&["a", "c", "d"], Some("1.b"), &["c", "d"], None);
        check(&[], Some("1.b"), &[], None);
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for bad in ["", "x", "1", "x.a", "-1.a"] {
            assert_eq!(Page::new(Some(bad), None).unwrap_err().code, "bad_cursor", "{bad}");
        }
    }
}
