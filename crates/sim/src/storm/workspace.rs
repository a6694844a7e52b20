//! A workspace that is changed while the storm rages: the flow of its schedules gets new versions, people get tokens and
//! lose them, and several engines make the secret of its addresses.

use super::Storm;
use crate::driver::name;
use crate::plans::has_schedules;
use edgewise_core::control::{HOOK_SECRET, SettingChanged, TOKEN};
use edgewise_core::plan::OnFailure;
use edgewise_engine::command::{Command, Register};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What authors want of their flow when something in it fails, one after the other.
const MINDS: [OnFailure; 3] = [OnFailure::Continue, OnFailure::FailFast, OnFailure::Hold];

impl Storm {
    /// Whether somebody changes the workspace in this seed: one in four of those with schedules, and none of those that
    /// are kept for what they once found without.
    pub(super) fn changes_workspace(&self) -> bool {
        has_schedules(self.seed) && matches!(self.seed % 31, 1..=4 | 10 | 13 | 18 | 27)
    }

    /// Somebody changes something of it.
    pub(super) fn change_workspace(&mut self) {
        match self.dice.below(6) {
            0..=2 => self.register_again(),
            3 => self.change(HOOK_SECRET, Some(self.next)),
            4 => self.change(&format!("{TOKEN}ann"), None),
            _ => {
                let secret = self.dice.below(2);
                self.change(&format!("{TOKEN}ann"), Some(secret));
            }
        }
    }

    fn register_again(&mut self) {
        let (mut plan, children) = self.plans[0].clone();
        Arc::make_mut(&mut plan).on_failure = *self.dice.pick(&MINDS);
        let (schedules, hook, by) = (BTreeMap::new(), None, name("op"));
        self.ask(Command::Register(Register { plan, children, schedules, hook, by }));
    }

    fn change(&mut self, key: &str, value: Option<u64>) {
        let value = value.map(|secret| json!({ "secret": secret }));
        self.ask(Command::ChangeSetting(SettingChanged { key: name(key), value, by: name("op"), why: None }));
    }
}
