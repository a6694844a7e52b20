//! Pages of lists that are made anew for each look.
//!
//! A cursor holds the key that the last one shown had, and the next page begins with the first greater one: whether
//! that last one is still there, and what comes and goes around it, makes no difference to the others. Where nothing
//! that could be remembered makes the order, a cursor names the last one shown; when that one is gone, whoever asks is
//! told to begin anew, since a guess would leave some of the others out.

use crate::limits;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgewise_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Which part of a list is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// What the page before ended with, as JSON.
    after: Option<Vec<u8>>,
    limit: usize,
}

/// A part of a list, and the cursor of the next one.
pub type Part<T> = (Vec<T>, Option<String>);

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
        let after = after.map(|text| URL_SAFE_NO_PAD.decode(text).map_err(|_| bad_cursor())).transpose()?;
        Ok(Self { after, limit })
    }

    /// The part of a list that is ordered by a key which no two have.
    pub fn of<T, K>(&self, all: Vec<T>, key: impl Fn(&T) -> K) -> Result<Part<T>>
    where
        K: Ord + Serialize + DeserializeOwned,
    {
        let begin = self.after()?.map_or(0, |last: K| all.partition_point(|one| key(one) <= last));
        self.cut(all, begin, key)
    }

    /// The part of a list in an order without a key, each told by its name.
    pub fn behind<T>(&self, all: Vec<T>, name: impl Fn(&T) -> &str) -> Result<Part<T>> {
        let begin = match self.after::<String>()? {
            None => 0,
            Some(last) => match all.iter().position(|one| name(one) == last) {
                Some(at) => at + 1,
                None => {
                    let message = format!("the last page ended with {last}, which is not there any more: begin anew");
                    return Err(Error::conflict("cursor_gone", message));
                }
            },
        };
        self.cut(all, begin, |one| name(one).to_owned())
    }

    fn after<K: DeserializeOwned>(&self) -> Result<Option<K>> {
        self.after.as_ref().map(|json| serde_json::from_slice(json).map_err(|_| bad_cursor())).transpose()
    }

    fn cut<T, K: Serialize>(&self, mut all: Vec<T>, begin: usize, key: impl Fn(&T) -> K) -> Result<Part<T>> {
        let mut part = all.split_off(begin);
        if part.len() <= self.limit {
            return Ok((part, None));
        }
        part.truncate(self.limit);
        let unprintable = |error| Error::bug("unprintable", "a cursor has no JSON form").with_source(error);
        let last = part.last().map(|last| serde_json::to_vec(&key(last)).map_err(unprintable)).transpose()?;
        Ok((part, last.map(|last| URL_SAFE_NO_PAD.encode(last))))
    }
}

fn bad_cursor() -> Error {
    Error::invalid("bad_cursor", "`after` is the `next` of the page before, as it came, and of the same list")
}

/// Leaves of a list within something that is shown the part that is asked for.
pub fn paged(shown: &mut Value, list: &str, part: impl FnOnce(Vec<Value>) -> Result<Part<Value>>) -> Result<()> {
    let Some(all) = shown.get_mut(list).and_then(Value::as_array_mut).map(std::mem::take) else { return Ok(()) };
    let (part, next) = part(all)?;
    shown[list] = part.into();
    if let Some(next) = next {
        shown["next"] = next.into();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next two of a list, behind what a list ended with before.
    fn check(before: &[&'static str], now: &[&'static str], by_key: &[&str], by_name: Option<&[&str]>) {
        let first = |page: &Page, all: &[&'static str]| page.of(all.to_vec(), |one| (*one).to_owned());
        let (_, next) = first(&Page::new(None, Some(before.len())).unwrap(), &[before, &["~"]].concat()).unwrap();
        let page = Page::new(next.as_deref(), Some(2)).unwrap();
        assert_eq!(first(&page, now).unwrap().0, by_key, "{now:?} behind {before:?}");
        let named = page.behind(now.to_vec(), |one| one).map(|(part, _)| part).map_err(|error| error.code);
        assert_eq!(named, by_name.map(<[_]>::to_vec).ok_or("cursor_gone"), "{now:?} behind {before:?}");
    }

    #[test]
    fn a_page_goes_on_behind_the_last_one_shown_whatever_came_and_went() {
        check(&["a", "b"], &["a", "b", "c", "d", "e"], &["c", "d"], Some(&["c", "d"]));
        check(&["a", "b"], &["b", "c"], &["c"], Some(&["c"]));
        check(&["b", "d"], &["a", "b", "c", "d", "e"], &["e"], Some(&["e"]));
        check(&["a", "b"], &["a", "c", "d", "e"], &["c", "d"], None);
        check(&["a", "b"], &["c", "d", "e"], &["c", "d"], None);
        check(&["a", "b"], &[], &[], None);
    }

    #[test]
    fn the_last_page_has_no_next() {
        for (limit, more) in [(1, true), (2, false), (3, false)] {
            let (part, next) = Page::new(None, Some(limit)).unwrap().of(vec![1, 2], |one| *one).unwrap();
            assert_eq!((part.len(), next.is_some()), (limit.min(2), more));
        }
    }

    #[test]
    fn what_is_no_cursor_of_a_list_is_refused() {
        let number = URL_SAFE_NO_PAD.encode("7");
        for bad in ["", "x", "1.a", "-1.a", "nonsense", "ä", number.as_str()] {
            let page = Page::new(Some(bad), None);
            let part = page.and_then(|page| page.of(vec!["a".to_owned()], String::clone));
            assert_eq!(part.unwrap_err().code, "bad_cursor", "{bad}");
        }
    }
}
