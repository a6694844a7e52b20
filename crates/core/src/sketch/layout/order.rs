//! Order within layers: sweeps down and up put each vertex at the mean place of its neighbours; the order with the
//! fewest crossings is kept.

use super::csr::Csr;
use super::layered::Layered;

/// What all sweeps together may cost, in vertices and segments seen.
const WORK: usize = 700_000;
/// Most sweeps, however small the level.
const SWEEPS: usize = 24;
/// Sweeps without anything gained, after which no more is hoped for.
const PATIENCE: usize = 4;

/// Orders the vertices of each layer.
pub(super) fn order(level: &mut Layered) {
    let size = level.rank.len() + level.ups.len();
    let sweeps = (WORK / size.max(1)).clamp(1, SWEEPS);
    let mut place = vec![0u32; level.rank.len()];
    for layer in &level.layers {
        put(layer, &mut place);
    }
    let mut best: Option<(u64, Vec<Vec<u32>>)> = None;
    let mut idle = 0;
    for sweep in 0..sweeps {
        pass(level, &mut place, sweep % 2 == 0);
        if sweeps == 1 {
            return;
        }
        let crossings = crossings(level, &place);
        if best.as_ref().is_none_or(|(fewest, _)| crossings < *fewest) {
            best = Some((crossings, level.layers.clone()));
            idle = 0;
        } else {
            idle += 1;
        }
        if crossings == 0 || idle == PATIENCE {
            break;
        }
    }
    if let Some((_, layers)) = best {
        level.layers = layers;
    }
}

fn put(layer: &[u32], place: &mut [u32]) {
    layer.iter().enumerate().for_each(|(at, vertex)| place[*vertex as usize] = at as u32);
}

/// One sweep, down or up.
fn pass(level: &mut Layered, place: &mut [u32], down: bool) {
    let count = level.layers.len();
    let mut keyed: Vec<(u64, u32)> = Vec::new();
    for step in 1..count {
        let number = if down { step } else { count - 1 - step };
        let neighbours = if down { &level.ups } else { &level.downs };
        let layer = &mut level.layers[number];
        keyed.clear();
        keyed.extend(layer.iter().map(|vertex| (mean(neighbours, *vertex, place), *vertex)));
        // Stable: what is equal stays as it was.
        keyed.sort_by_key(|(key, _)| *key);
        keyed.iter().zip(layer.iter_mut()).for_each(|((_, vertex), slot)| *slot = *vertex);
        put(layer, place);
    }
}

/// The mean place of a vertex' neighbours, with sixteen bits behind the point; its own if it has none.
fn mean(neighbours: &Csr, vertex: u32, place: &[u32]) -> u64 {
    let of = neighbours.of_row(vertex as usize);
    if of.is_empty() {
        return u64::from(place[vertex as usize]) << 16;
    }
    let sum: u64 = of.iter().map(|other| u64::from(place[*other as usize])).sum();
    (sum << 16) / of.len() as u64
}

/// How many pairs of segments cross, counted with a tree of sums for each layer.
fn crossings(level: &Layered, place: &[u32]) -> u64 {
    let mut total = 0;
    let mut sums: Vec<u32> = Vec::new();
    let mut ends: Vec<u32> = Vec::new();
    for pair in level.layers.windows(2) {
        sums.clear();
        sums.resize(pair[1].len() + 1, 0);
        let mut seen = 0u64;
        for up in &pair[0] {
            ends.clear();
            ends.extend(level.downs.of_row(*up as usize).iter().map(|down| place[*down as usize]));
            // Segments of one vertex do not cross each other: all are compared before any is added.
            for end in &ends {
                total += seen - before_or_at(&sums, *end);
            }
            for end in &ends {
                add(&mut sums, *end);
            }
            seen += ends.len() as u64;
        }
    }
    total
}

fn before_or_at(sums: &[u32], place: u32) -> u64 {
    let (mut at, mut sum) = (place as usize + 1, 0);
    while at > 0 {
        sum += u64::from(sums[at]);
        at &= at - 1;
    }
    sum
}

fn add(sums: &mut [u32], place: u32) {
    let mut at = place as usize + 1;
    while at < sums.len() {
        sums[at] += 1;
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(nodes: usize, edges: &[(u32, u32)], before: u64, after: u64) {
        let mut level = Layered::of(nodes, edges);
        let count = |level: &Layered| {
            let mut place = vec![0; level.rank.len()];
            level.layers.iter().for_each(|layer| put(layer, &mut place));
            crossings(level, &place)
        };
        assert_eq!(count(&level), before, "{edges:?}");
        order(&mut level);
        assert_eq!(count(&level), after, "{edges:?}");
    }

    #[test]
    fn edges_that_need_not_cross_do_not() {
        check(4, &[(0, 3), (1, 2)], 1, 0);
        check(4, &[(0, 2), (1, 3)], 0, 0);
        check(6, &[(0, 5), (1, 4), (2, 3)], 3, 0);
    }

    #[test]
    fn edges_that_must_cross_are_counted() {
        check(4, &[(0, 2), (0, 3), (1, 2), (1, 3)], 1, 1);
    }

    #[test]
    fn of_all_sweeps_the_best_is_kept() {
        let mut chance = 7u32;
        let mut below = |n: u32| {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (chance >> 16) % n
        };
        for _ in 0..60 {
            let mut edges: Vec<(u32, u32)> = (0..20).map(|_| (below(8), 8 + below(8))).collect();
            edges.extend((0..20).map(|_| (8 + below(8), 16 + below(8))));
            let (mut swept, mut level) = (Layered::of(24, &edges), Layered::of(24, &edges));
            let mut place = vec![0; swept.rank.len()];
            swept.layers.iter().for_each(|layer| put(layer, &mut place));
            let mut sweep = |n: usize| {
                pass(&mut swept, &mut place, n.is_multiple_of(2));
                crossings(&swept, &place)
            };
            let fewest = (0..=PATIENCE).map(&mut sweep).min().unwrap();
            order(&mut level);
            level.layers.iter().for_each(|layer| put(layer, &mut place));
            assert!(crossings(&level, &place) <= fewest, "{edges:?}");
        }
    }
}
