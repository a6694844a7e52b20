//! How the regions of a plan hang together: a tree without back edges, whatever bytes it was read from.

use super::build::{PlanDraft, Problem, RegionDraft};
use super::{Join, Share, Spec, Statement, Work};
use crate::limits;
use crate::template::Root;

/// What a region belongs to.
#[derive(Clone, Copy)]
struct Holder {
    region: u32,
    spec: u32,
}

impl PlanDraft {
    /// Every region but the root belongs to one composite, in a region before it (a function's to any number of
    /// calls); chains are in chains and graphs in graphs; references stay inside the plan.
    pub(super) fn check_regions(&self, problems: &mut Vec<Problem>) {
        let mut holders: Vec<Option<Holder>> = vec![None; self.regions.len()];
        for (number, region) in (0..).zip(&self.regions) {
            for (node, spec) in (0..).zip(&region.specs) {
                let mut say =
                    |code, message| problems.push(Problem { region: number, node: Some(node), code, message });
                let Some(found) = self.specs.get(*spec as usize) else {
                    say("no_spec", format!("node {node} names spec {spec}, which is not in the plan"));
                    continue;
                };
                check_spec(found, region, &mut say);
                if found.work.is_composite() {
                    self.check_holder(Holder { region: number, spec: *spec }, &mut holders, &mut say);
                }
            }
            if let Some(message) = region.script.as_ref().and_then(|script| check_script(region, script)) {
                problems.push(Problem { region: number, node: None, code: "bad_script", message });
            }
        }
        for (number, holder) in (0..).zip(&holders).skip(1) {
            if holder.is_none() {
                let message = format!("region {number} belongs to no composite");
                problems.push(Problem { region: number, node: None, code: "bad_region", message });
            }
        }
        if problems.is_empty() {
            self.check_depth(&holders, problems);
            self.check_references(&holders, problems);
        }
    }

    fn check_holder(&self, by: Holder, holders: &mut [Option<Holder>], say: &mut dyn FnMut(&'static str, String)) {
        let work = &self.specs[by.spec as usize].work;
        if work.regions().next().is_none() {
            return say("bad_region", "a composite has at least one region".into());
        }
        for region in work.regions() {
            let is_call = |spec: u32| matches!(self.specs[spec as usize].work, Work::Call(_));
            let free = match holders.get(region as usize) {
                Some(None) => true,
                Some(Some(other)) => is_call(other.spec) && is_call(by.spec),
                None => false,
            };
            if !free || region <= by.region {
                say("bad_region", format!("region {region} must belong to one composite, in a region before it"));
                continue;
            }
            holders[region as usize] = Some(by);
            let (inner, outer) = (&self.regions[region as usize], &self.regions[by.region as usize]);
            if inner.script.is_some() != outer.script.is_some() {
                say("bad_region", format!("region {region} must be a chain just as the one around it"));
            }
            let forks = matches!(work, Work::Spread(_) | Work::Parallel(_)) && inner.script.is_some();
            if forks && inner.len() != 1 {
                say("bad_region", format!("region {region} is done beside others, so it is one node"));
            }
        }
    }

    fn check_depth(&self, holders: &[Option<Holder>], problems: &mut Vec<Problem>) {
        // Holders come first, so one pass is enough; a function is as deep as its deepest call.
        let mut depth = vec![1; self.regions.len()];
        for number in 0..self.regions.len() {
            for spec in &self.regions[number].specs {
                for region in self.specs[*spec as usize].work.regions() {
                    depth[region as usize] = depth[region as usize].max(depth[number] + 1);
                }
            }
        }
        debug_assert_eq!(holders.len(), depth.len());
        if let Some(number) = depth.iter().position(|depth| *depth > limits::REGION_DEPTH) {
            let message = format!("regions are nested deeper than the {} allowed", limits::REGION_DEPTH);
            problems.push(Problem { region: number as u32, node: None, code: "too_deep", message });
        }
    }

    fn check_references(&self, holders: &[Option<Holder>], problems: &mut Vec<Problem>) {
        for (number, region) in (0..).zip(&self.regions) {
            // A region of a chain sees variables; only one of a graph needs to know what is around it.
            let mut around = Vec::new();
            let mut outwards = Some(number).filter(|_| region.script.is_none());
            while let Some(outer) = outwards {
                around.push(outer);
                outwards = holders[outer as usize].map(|holder| holder.region);
            }
            let is_item = holders[number as usize]
                .is_some_and(|holder| matches!(self.specs[holder.spec as usize].work, Work::Spread(_)));
            let is_there = |root: &Root| match (root, region.script.is_some()) {
                (Root::Input, false) | (Root::Var(_), true) | (Root::Secret(_), _) => true,
                (Root::Output { up, node }, false) => {
                    around.get(*up as usize).is_some_and(|r| *node < self.regions[*r as usize].len())
                }
                (Root::Item { up }, false) => (*up as usize) + 1 < around.len(),
                (Root::Item { up }, true) => is_item && *up == 0,
                _ => false,
            };
            let mut say = |node: Option<u32>, root: &Root| {
                let message = format!("{root:?} names nothing in this plan");
                problems.push(Problem { region: number, node, code: "unknown_reference", message });
            };
            for (node, spec) in (0..).zip(&region.specs) {
                self.specs[*spec as usize].roots(&mut |root| {
                    if !is_there(root) {
                        say(Some(node), root);
                    }
                });
            }
            for expr in region.script.iter().flatten().filter_map(Statement::expr) {
                expr.roots(&mut |root| {
                    if !is_there(root) {
                        say(None, root);
                    }
                });
            }
        }
    }
}

fn check_spec(spec: &Spec, region: &RegionDraft, say: &mut dyn FnMut(&'static str, String)) {
    let most = limits::MAX_ATTEMPTS;
    let typed = spec.retry.typed.iter().map(|typed| &typed.retry);
    for retry in std::iter::once(&spec.retry).chain(typed) {
        if retry.max_attempts == 0 || retry.max_attempts > most {
            let found = retry.max_attempts;
            say(
                "bad_max_attempts",
                format!("max_attempts counts the first attempt, so it is 1 to {most}, not {found}"),
            );
        }
    }
    check_share(&spec.share, say);
    if let Work::Action { action, .. } = &spec.work
        && action.starts_with("edgewise/")
    {
        say("reserved_name", format!("`{action}` is ours: names of actions do not start with `edgewise/`"));
    }
    let of_programs = spec.work.is_composite() && !matches!(spec.work, Work::Spread(_));
    if of_programs && region.script.is_none() {
        say("bad_region", "only a chain has branches, loops, handlers, arms and calls".into());
    }
}

fn check_share(share: &Share, say: &mut dyn FnMut(&'static str, String)) {
    if !limits::PRIORITY.contains(&share.priority) {
        let (low, high) = (limits::PRIORITY.start(), limits::PRIORITY.end());
        say("bad_priority", format!("a priority is from {low} to {high}, not {}", share.priority));
    }
    let Some(limit) = &share.limit else { return };
    if limit.max.is_none() && limit.rate.is_none() {
        say("empty_limit", "a limit says how many at once (`max`) or how often (`rate`), or both".into());
    }
    if limit.max.is_some_and(|max| !(1..=limits::SLOTS).contains(&max)) {
        say("bad_limit", format!("a limit lets 1 to {} attempts work at once", limits::SLOTS));
    }
}

/// What is wrong with the statements of a chain.
fn check_script(region: &RegionDraft, script: &[Statement]) -> Option<String> {
    if !region.edges.is_empty() || region.joins.iter().any(|join| *join != Join::All) {
        return Some("a chain has no edges".into());
    }
    let started = script.iter().filter_map(Statement::node);
    if !started.eq(0..region.len()) {
        return Some("a chain starts each of its nodes once, in their order".into());
    }
    None
}

impl Spec {
    /// Calls `see` with the start of every reference that is made in it.
    pub(super) fn roots(&self, see: &mut dyn FnMut(&Root)) {
        self.work.expressions(&mut |expr| expr.roots(see));
        if let Some(when) = &self.when {
            when.roots(see);
        }
        if let Some(limit) = &self.share.limit {
            limit.key.roots(see);
        }
        for payload in self.publish.iter().filter_map(|one| one.payload.as_ref()) {
            payload.expressions(&mut |expr| expr.roots(see));
        }
    }
}
