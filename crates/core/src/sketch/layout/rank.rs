//! Ranks: the layer of each node. Every edge points to a later layer.

use super::csr::Csr;

/// As early as its upstreams allow; then whoever has more edges out than in moves to where they lead, which makes
/// edges shorter in all. Nodes on a cycle, which no plan has, keep what they reached.
pub(super) fn ranks(nodes: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let outs = Csr::of(nodes, edges.iter().copied());
    let mut ins = vec![0u32; nodes];
    edges.iter().for_each(|(_, to)| ins[*to as usize] += 1);
    let mut open = ins.clone();
    let mut ranks = vec![0u32; nodes];
    let mut order: Vec<u32> = (0..nodes as u32).filter(|n| open[*n as usize] == 0).collect();
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        at += 1;
        let next = ranks[node as usize] + 1;
        for down in outs.of_row(node as usize) {
            let down = *down as usize;
            ranks[down] = ranks[down].max(next);
            open[down] -= 1;
            if open[down] == 0 {
                order.push(down as u32);
            }
        }
    }
    for node in order.into_iter().rev().map(|node| node as usize) {
        let downs = outs.of_row(node);
        let first = downs.iter().map(|down| ranks[*down as usize]).min();
        if let Some(first) = first.filter(|first| *first > ranks[node] && downs.len() as u32 > ins[node]) {
            ranks[node] = first - 1;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(nodes: usize, edges: &[(u32, u32)], expected: &[u32]) {
        assert_eq!(ranks(nodes, edges), expected, "{edges:?}");
    }

    #[test]
    fn a_node_stands_behind_the_last_of_its_upstreams() {
        check(4, &[(0, 1), (1, 2), (0, 2), (2, 3)], &[0, 1, 2, 3]);
        check(3, &[], &[0, 0, 0]);
        check(0, &[], &[]);
    }

    #[test]
    fn what_is_needed_late_stands_late() {
        check(4, &[(0, 1), (1, 2), (3, 2)], &[0, 1, 2, 1]);
    }

    #[test]
    fn a_cycle_ends() {
        assert_eq!(ranks(3, &[(0, 1), (1, 2), (2, 1)]).len(), 3);
    }
}
