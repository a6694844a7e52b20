//! Plans of registered flows, as long as nothing was registered or set since: whoever starts many runs of a flow does
//! not have the store asked for each.

use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most plans that are kept.
const PLANS: usize = 100;

/// The plans, and the state of control that they are of.
#[derive(Default)]
pub struct KnownFlows(Mutex<(u64, HashMap<Name, Arc<Plan>>)>);

impl KnownFlows {
    /// The plan of a flow in a state of control; it must be read if it is not known, or if the state is not.
    pub fn plan(&self, seq: Option<u64>, name: &Name) -> Option<Arc<Plan>> {
        let known = self.known();
        known.1.get(name).filter(|_| seq == Some(known.0)).cloned()
    }

    /// Keeps what was read after a state of control was asked for: it may be newer, and never older.
    pub fn keep(&self, seq: Option<u64>, name: Name, plan: Arc<Plan>) {
        let Some(seq) = seq else { return };
        let mut known = self.known();
        if known.0 != seq || known.1.len() >= PLANS {
            *known = (seq, HashMap::new());
        }
        known.1.insert(name, plan);
    }

    fn known(&self) -> MutexGuard<'_, (u64, HashMap<Name, Arc<Plan>>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(flow: &str) -> Arc<Plan> {
        let text = format!("flow: {flow}\ntasks: {{ a: {{ action: x }} }}");
        Arc::new(edgewise_core::flow::compile(&text, "flow.yaml").unwrap().plan)
    }

    #[test]
    fn a_plan_is_known_in_the_state_that_it_was_read_in_and_in_no_other() {
        let (known, name) = (KnownFlows::default(), |text: &str| Name::parse(text).unwrap());
        known.keep(Some(3), name("a"), plan("a"));
        known.keep(None, name("b"), plan("b"));
        assert_eq!(known.plan(Some(3), &name("a")), Some(plan("a")));
        for (seq, flow) in [(Some(4), "a"), (Some(2), "a"), (None, "a"), (Some(3), "b")] {
            assert_eq!(known.plan(seq, &name(flow)), None, "{seq:?} {flow}");
        }
        known.keep(Some(4), name("b"), plan("b"));
        assert_eq!(known.plan(Some(4), &name("a")), None, "what is of an older state is forgotten");
        for n in 0..1_000 {
            known.keep(Some(4), name(&format!("f{n}")), plan("f"));
        }
        assert!(known.known().1.len() <= PLANS);
    }
}
