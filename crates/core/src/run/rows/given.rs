//! What never changes of a task while its row does: the list that a composite goes over, and what its chain assigned
//! just before it; and the input of a run.
//!
//! A `for` of a hundred thousand rounds writes its row at each flush in which it moved. With its list in that row, all
//! of them together would be the list times the flushes. So what is large stands in a row of its own, written once.

use super::{About, Held, Run, TaskBody, json};
use crate::event::TaskIx;
use crate::plan::Var;
use crate::rows::GivenRow;
use crate::run::WHOLE_RUN;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is smaller stands in the row itself: most inputs and most lists, and then one row is less work than two.
const LARGE: usize = 1_024;

#[derive(Serialize, Deserialize)]
struct Given {
    #[serde(default, skip_serializing_if = "super::is_empty")]
    items: Arc<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<(Var, Held)>,
}

/// Takes what a value weighs off what is left; nothing if that is not enough. Looks at no more than it weighs.
fn weigh(value: &Value, left: usize) -> Option<usize> {
    match value {
        Value::String(text) => left.checked_sub(text.len() + 2),
        Value::Array(items) => items.iter().try_fold(left.checked_sub(2)?, |left, item| weigh(item, left)),
        Value::Object(fields) => fields
            .iter()
            .try_fold(left.checked_sub(2)?, |left, (key, field)| weigh(field, left.checked_sub(key.len() + 2)?)),
        _ => left.checked_sub(4),
    }
}

impl Run {
    /// Whether the input is too large for the run's row.
    pub(super) fn has_much_input(&self) -> bool {
        self.about.as_ref().is_some_and(|about| weigh(&about.input, LARGE).is_none())
    }

    /// How many items and variables a composite began with, if that is too large for its row.
    pub(super) fn given_to(&self, ix: TaskIx) -> Option<(u32, u32)> {
        if !self.spec_of(ix).work.is_composite() {
            return None;
        }
        let items = self.composites.get(&ix).map_or(&[][..], |state| &state.items);
        let before = self.before.get(&ix).map_or(&[][..], Vec::as_slice);
        let left = items.iter().try_fold(LARGE, |left, item| weigh(item, left));
        let left = before.iter().fold(left, |left, (_, held)| match held {
            Held::Output(_) => left,
            Held::Value(value) => left.and_then(|left| weigh(value, left)),
        });
        left.is_none().then_some((items.len() as u32, before.len() as u32))
    }

    /// Whether what a composite or the whole run began with has a row of its own.
    pub fn has_given_row(&self, ix: TaskIx) -> bool {
        if ix == WHOLE_RUN { self.has_much_input() } else { self.given_to(ix).is_some() }
    }

    /// What a composite or the whole run began with, if that has a row of its own.
    pub fn given_row(&self, ix: TaskIx) -> Option<GivenRow> {
        if ix == WHOLE_RUN {
            let about = self.about.as_ref().filter(|_| self.has_much_input())?;
            return Some(GivenRow { task: ix, body: about.input.to_string() });
        }
        self.given_to(ix)?;
        let items = self.composites.get(&ix).map(|state| Arc::clone(&state.items)).unwrap_or_default();
        let before = self.before.get(&ix).cloned().unwrap_or_default();
        Some(GivenRow { task: ix, body: json(&Given { items, before }) })
    }

    /// All such rows, in order.
    pub fn given_rows(&self) -> impl Iterator<Item = GivenRow> + '_ {
        self.present().chain([WHOLE_RUN]).filter_map(|ix| self.given_row(ix))
    }
}

/// What was read, until it is back where it belongs.
pub(super) struct GivenRows(BTreeMap<TaskIx, String>);

impl GivenRows {
    pub(super) fn new(rows: Vec<GivenRow>) -> Self {
        Self(rows.into_iter().map(|row| (row.task, row.body)).collect())
    }

    /// Puts the input back; nothing if there should be one.
    pub(super) fn back_in(&mut self, about: Option<About>, given: bool) -> Option<Option<About>> {
        match about {
            Some(mut about) if given => {
                about.input = Arc::new(serde_json::from_str(&self.0.remove(&WHOLE_RUN)?).ok()?);
                Some(Some(about))
            }
            about => Some(about),
        }
    }

    /// Puts back what a composite began with; nothing if it is not what its row says there should be.
    pub(super) fn back_to(&mut self, task: TaskIx, body: &mut TaskBody) -> Option<()> {
        let Some((items, before)) = body.given else { return Some(()) };
        let given: Given = serde_json::from_str(&self.0.remove(&task)?).ok()?;
        if (given.items.len(), given.before.len()) != (items as usize, before as usize) {
            return None;
        }
        body.before = given.before;
        if let Some(composite) = &mut body.composite {
            composite.items = given.items;
        }
        Some(())
    }
}
