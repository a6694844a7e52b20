//! Items: tasks that are done by an item of the work graph. Attempt n is item n.
//!
//! To a run an item is a child like any other: wanted, awaited, let go. Its id follows from the attempt, so that an
//! engine that finds it there knows that it was made.

use super::Run;
use crate::event::{Failure, LinkRef, TaskIx};
use crate::id::RunId;
use crate::name::Name;
use crate::plan::{ItemTask, Work};
use crate::template::Template;
use crate::work::{Details, Fields, ItemId, TaskType};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// What the ids of items begin with that tasks made.
const PREFIX: &str = "run-";
/// So much of the child's id is enough to tell them apart.
const CHARS: usize = 12;
/// The priority of what nobody said one of.
const PRIORITY: u8 = 3;

/// What `item:` comes to.
#[derive(Deserialize)]
struct Said {
    title: Value,
    #[serde(default)]
    description: Value,
    #[serde(default)]
    acceptance: Value,
    #[serde(default)]
    priority: Option<u8>,
    #[serde(default)]
    assignee: Value,
    #[serde(default)]
    tags: BTreeSet<String>,
}

/// A text, or what is computed and printed as one.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Run {
    /// What a task that is done by an item says about it.
    pub fn item_task(&self, task: TaskIx) -> Option<&ItemTask> {
        match &self.spec_of(task).work {
            Work::Item(item) => Some(item),
            _ => None,
        }
    }

    /// The item of an attempt of a task that is done by one.
    pub fn item_of(&self, link: LinkRef) -> Option<ItemId> {
        self.task(link.task)?;
        self.item_task(link.task)?;
        item_id(self.child(link))
    }

    /// The item that a task waits for, or had when it last waited for one.
    pub fn last_item(&self, task: TaskIx) -> Option<ItemId> {
        let entry = self.task(task).filter(|entry| entry.attempt > 0)?;
        self.item_of(LinkRef { task, generation: entry.generation, attempt: entry.attempt })
    }

    /// What is said of the item of a task: evaluated here, from facts.
    pub fn item_fields(&self, task: TaskIx) -> Result<Fields, Failure> {
        let bad = |message: String| Failure::permanent("bad_item", message);
        let item = self.item_task(task).ok_or_else(|| bad("the task makes no item".into()))?;
        let value = self.evaluate(task, &item.fields)?.into_owned();
        let said: Said = serde_json::from_value(value).map_err(|error| bad(format!("`item`: {error}")))?;
        let name = |text: &String| Name::parse(text).map_err(|error| bad(format!("`item`: {}", error.message)));
        let (description, acceptance) = (text(&said.description), text(&said.acceptance));
        let details = Details { description, acceptance, ..Details::default() };
        let assignee = Some(text(&said.assignee)).filter(|text| !text.is_empty());
        Ok(Fields {
            title: text(&said.title),
            priority: said.priority.unwrap_or(PRIORITY),
            task_type: TaskType::Task,
            assignee: assignee.as_ref().map(name).transpose()?,
            owner: self.about.as_ref().map(|about| about.by.clone()),
            tags: said.tags.iter().map(name).collect::<Result<_, _>>()?,
            deadline: None,
            scheduled_for: None,
            external_ref: None,
            auto_complete: false,
            ephemeral: None,
            details: (details != Details::default()).then(|| Box::new(details)),
        })
    }
}

/// The id of the item that stands for a child.
pub fn item_id(child: RunId) -> Option<ItemId> {
    let text = child.to_string();
    ItemId::parse(&format!("{PREFIX}{}", text.get(..CHARS)?)).ok()
}

impl Failure {
    /// The failure of a task whose item was closed as failed, cancelled or deleted.
    pub fn of_item(kind: &'static str, id: &ItemId, said: &str) -> Self {
        Failure::new(kind, format!("item {id} {said}"))
    }
}

impl ItemTask {
    /// Its title as far as it is known beforehand.
    pub fn title(&self) -> String {
        let Template::Map(fields) = &self.fields else { return String::new() };
        let title = fields.iter().find(|(key, _)| key == "title").map(|(_, title)| title);
        match title {
            Some(Template::Value(Value::String(text))) => text.clone(),
            Some(template) => template.shown(),
            None => String::new(),
        }
    }

    /// What is said of it that takes no run to know: the fields whose values are written down.
    pub fn known(&self) -> serde_json::Map<String, Value> {
        let Template::Map(fields) = &self.fields else { return serde_json::Map::new() };
        fields.iter().filter_map(|(key, template)| Some((key.clone(), constant(template)?))).collect()
    }
}

fn constant(template: &Template) -> Option<Value> {
    match template {
        Template::Value(value) => Some(value.clone()),
        Template::Expr(expr) => expr.constant()?.ok(),
        Template::List(list) => list.iter().map(constant).collect(),
        Template::Text(_) | Template::Map(_) => None,
    }
}
