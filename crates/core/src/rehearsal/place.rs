//! Places: every path that tasks of a plan can have, with `*` for the numbers that only a run knows.

use crate::plan::{Plan, ROOT, Work};

/// Most places that are listed: functions that call functions multiply.
const MOST: usize = 20_000;

/// A node as it is reached from the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its path: `for#*.load`, `rows[*]`, `try!1.page`.
    pub path: String,
    /// The region it is in.
    pub region: u32,
    /// Its number there.
    pub node: u32,
}

/// All places of a plan, those outside before those inside of them.
pub fn places(plan: &Plan) -> Vec<Place> {
    let mut found = Vec::new();
    // What is still to be listed: a region, and what stands before the names in it.
    let mut open = vec![(ROOT, String::new(), false)];
    while let Some((region, before, alone)) = open.pop() {
        for node in 0..plan.regions[region as usize].len() {
            if found.len() >= MOST {
                return found;
            }
            let name = plan.regions[region as usize].name(node);
            let path = match (before.is_empty(), alone) {
                (true, _) => name.to_owned(),
                (false, true) => before.clone(),
                (false, false) => format!("{before}.{name}"),
            };
            open.extend(inside(plan, &plan.spec(region, node).work, &path));
            found.push(Place { path, region, node });
        }
    }
    found
}

/// The regions of a composite, each with what its scopes are called.
fn inside(plan: &Plan, work: &Work, path: &str) -> Vec<(u32, String, bool)> {
    let regions = (0u32..).zip(work.regions());
    let named = regions.map(|(index, region)| {
        let scope = match work {
            Work::For(_) | Work::While(_) => format!("{path}#*"),
            Work::Try(_) if index == 0 => path.to_owned(),
            Work::Try(_) => format!("{path}!{index}"),
            Work::Call(_) => format!("{path}()"),
            Work::Spread(_) => format!("{path}[*]"),
            _ => format!("{path}[{index}]"),
        };
        let forks = matches!(work, Work::Spread(_) | Work::Parallel(_));
        (region, scope, forks && plan.regions[region as usize].len() == 1)
    });
    named.collect()
}

/// Whether a path fits a pattern: `*` in the pattern stands for a number or for another `*`.
pub fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern, path);
    loop {
        match pattern.split_once('*') {
            None => return pattern == path,
            Some((before, after)) => {
                let Some(rest) = path.strip_prefix(before) else { return false };
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let taken = if rest.starts_with('*') { 1 } else { digits };
                if taken == 0 {
                    return false;
                }
                (pattern, path) = (after, &rest[taken..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_that_a_run_can_come_to_is_a_place() {
        let text = "flow f(xs):\n    for x in xs:\n        if x:\n            @a()\n        else:\n            @b()\n    rows = spread xs:x -> g(x)\n    try:\n        parallel:\n            @c()\n            @d()\n    except E:\n        sleep 1s\n\nfn g(x):\n    while x:\n        @e()\n";
        let plan = crate::text::compile(text, "f.flow").unwrap().remove(0).plan;
        let found: Vec<String> = places(&plan).into_iter().map(|place| place.path).collect();
        for path in ["for", "for#*.if", "for#*.if[0].a", "for#*.if[1].b", "rows", "rows[*]", "rows[*]().while#*.e"] {
            assert!(found.iter().any(|known| known == path), "{path}: {found:?}");
        }
        for path in ["try.parallel", "try.parallel[0]", "try.parallel[1]", "try!1.sleep"] {
            assert!(found.iter().any(|known| known == path), "{path}: {found:?}");
        }
    }

    #[test]
    fn a_star_stands_for_a_number() {
        for (pattern, path, fit) in [
            ("a", "a", true),
            ("a[*]", "a[12]", true),
            ("a[*]", "a[*]", true),
            ("for#*.a[*].b", "for#0.a[3].b", true),
            ("a[*]", "a[]", false),
            ("a[*]", "a[1]x", false),
            ("a[1]", "a[2]", false),
            ("a", "ab", false),
        ] {
            assert_eq!(fits(pattern, path), fit, "{pattern} {path}");
        }
    }
}
