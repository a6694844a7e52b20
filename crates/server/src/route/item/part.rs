//! A page of items: what the order of each sort is made of is what its cursors remember.

use crate::page::{Page, Part};
use edgewise_core::Result;
use edgewise_core::time::Time;
use edgewise_core::work::{Item, Sort, Work};

/// The part of a sorted list that is asked for.
pub fn part<'w>(page: &Page, work: &Work, sort: Sort, all: Vec<&'w Item>) -> Result<Part<&'w Item>> {
    let priority = |item: &Item| item.fields.priority;
    let effective = |item: &Item| work.effective_priority(item.id.as_str()).unwrap_or(priority(item));
    match sort {
        Sort::Effective => page.of(all, |item| (effective(item), priority(item), made(item))),
        Sort::Priority => page.of(all, |item| (priority(item), made(item))),
        Sort::Deadline => page.of(all, |item| {
            let deadline = item.fields.deadline.map_or(u64::MAX, |at| at.0);
            (deadline, effective(item), made(item))
        }),
        Sort::Oldest => oldest(page, all),
        // How many wait for one is counted anew for every list, and changes with each that is closed.
        Sort::Unblocks => page.behind(all, |item| item.id.as_str()),
    }
}

/// The same of a list that begins with what was made first.
pub fn oldest<'w>(page: &Page, all: Vec<&'w Item>) -> Result<Part<&'w Item>> {
    page.of(all, |item| made(item))
}

fn made(item: &Item) -> (Time, String) {
    (item.created_at, item.id.to_string())
}
