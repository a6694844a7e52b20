//! The cycle rule against brute force where runs are among what waits: items and runs that cannot all end are refused.

use crate::cycles::{Model, edge_sets, made_by, text};
use crate::world::World;
use edgewise_core::id::RunId;
use edgewise_core::work::Target;

/// Three items, two runs: which run made which item, which item awaits which run, and whether the second run is a
/// sub-run of the first one. Who awaits a gate of a run could wait until it ends, so that is judged as if it did.
#[derive(Clone, Debug)]
struct Joined {
    items: Model,
    made: Vec<Option<usize>>,
    awaits: Vec<(usize, usize)>,
    nested: bool,
    /// A gate of the run, and not the run.
    gates: bool,
}

impl Joined {
    /// A run ends when the items that it made are closed and its sub-runs have ended. What nobody here has heard of is
    /// waited for by nobody.
    fn is_deadlock(&self) -> bool {
        let (mut closed, mut ended) = (vec![false; self.made.len()], [false; 2]);
        let nested = self.nested && self.made.contains(&Some(1));
        loop {
            let run = (0..2).find(|run| {
                let own = (0..closed.len()).all(|item| self.made[item] != Some(*run) || closed[item]);
                !ended[*run] && own && (*run != 0 || !nested || ended[1])
            });
            let free = |item: usize| self.awaits.iter().all(|(from, run)| *from != item || ended[*run]);
            let item = (0..closed.len()).find(|item| {
                let around = self.items.above(*item).into_iter().all(free);
                !closed[*item] && free(*item) && around && self.items.may_close(*item, &closed)
            });
            match (run, item) {
                (Some(run), _) => ended[run] = true,
                (None, Some(item)) => closed[item] = true,
                (None, None) => return closed.contains(&false) || ended.contains(&false),
            }
        }
    }

    /// Whether the graph takes all of it.
    fn is_taken(&self) -> bool {
        let mut world = World::default();
        let run = |run: usize| run as u128 + 7;
        let build = |world: &mut World| {
            for (n, made) in self.made.iter().enumerate() {
                match made {
                    Some(by) => {
                        let within: &[u128] = if *by == 1 && self.nested { &[7] } else { &[] };
                        world.add(made_by(&text(n), run(*by), within))?;
                    }
                    None => world.tasks(&[&text(n)]),
                }
            }
            let parents = self.items.parents.iter().enumerate().filter_map(|(n, parent)| Some((n, (*parent)?)));
            for (child, parent) in parents {
                world.child(&text(child), &text(parent))?;
            }
            self.items.waits.iter().try_for_each(|(from, to)| world.blocks(&text(*from), &text(*to)))?;
            let awaited = |to: usize| match self.gates {
                true => Target::gate_of(RunId(run(to)), "ok").unwrap(),
                false => Target::run(RunId(run(to))),
            };
            self.awaits.iter().try_for_each(|(from, to)| world.awaits(&text(*from), awaited(*to).as_str()))
        };
        match build(&mut world) {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.code, "cycle_detected", "{error} in {self:?}");
                false
            }
        }
    }
}

#[test]
fn items_and_runs_are_refused_exactly_if_they_could_not_all_end() {
    let hierarchies = [vec![None, None, None], vec![Some(1), None, None], vec![Some(1), Some(2), None]];
    let makers: Vec<Vec<Option<usize>>> =
        (0..27).map(|n| [n % 3, n / 3 % 3, n / 9].map(|run: usize| run.checked_sub(1)).to_vec()).collect();
    let pairs: Vec<(usize, usize)> = (0..3).flat_map(|item| [(item, 0), (item, 1)]).collect();
    let awaited: Vec<Vec<(usize, usize)>> = (0_u32..1 << pairs.len())
        .filter(|bits| bits.count_ones() <= 2)
        .map(|bits| pairs.iter().enumerate().filter(|(n, _)| bits >> n & 1 == 1).map(|(_, pair)| *pair).collect())
        .collect();
    let (mut good, mut bad) = (0, 0);
    for parents in &hierarchies {
        for waits in edge_sets(3, 1) {
            let items = Model { parents: parents.clone(), waits };
            for made in &makers {
                for (n, awaits) in awaited.iter().flat_map(|awaits| (0..4).map(move |n| (n, awaits))) {
                    let (items, made, awaits) = (items.clone(), made.clone(), awaits.clone());
                    let joined = Joined { items, made, awaits, nested: n & 1 == 1, gates: n & 2 == 2 };
                    let deadlock = joined.is_deadlock();
                    assert_eq!(joined.is_taken(), !deadlock, "{joined:?}");
                    *(if deadlock { &mut bad } else { &mut good }) += 1;
                }
            }
        }
    }
    assert!(good > 1_000 && bad > 1_000, "{good} and {bad}");
}
