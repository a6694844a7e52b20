//! The bar of a spread: what is done, what failed, what runs, what is left.

use super::SpreadCount;
use crate::style::{Ink, Style};

/// A bar of so many columns. Whatever is not zero is to be seen, and only a whole spread fills it.
pub fn bar(count: &SpreadCount, columns: usize, style: Style) -> String {
    let parts = [count.failed, count.done, count.running];
    let mut cells = parts.map(|part| share(part, count.total, columns));
    // Rounding up small parts may take more than there is; the largest can spare it.
    while cells.iter().sum::<usize>() > columns {
        let largest = cells.iter().enumerate().max_by_key(|(_, n)| **n).map_or(0, |(i, _)| i);
        cells[largest] -= 1;
    }
    // When everything has a part, nothing is left empty by rounding.
    if parts.iter().sum::<u32>() == count.total && count.total > 0 {
        let most = parts.iter().enumerate().max_by_key(|(_, n)| **n).map_or(0, |(i, _)| i);
        cells[most] += columns - cells.iter().sum::<usize>();
    }
    let [failed, done, running] = cells;
    let left = columns - failed - done - running;
    let (full, half, empty) = if style.unicode { ("━", "╍", "─") } else { ("#", "=", ".") };
    let (bad, live) = if style.color { (full, full) } else { (if style.unicode { "╳" } else { "x" }, half) };
    style.paint(Ink::Good, &full.repeat(done))
        + &style.paint(Ink::Bad, &bad.repeat(failed))
        + &style.paint(Ink::Live, &live.repeat(running))
        + &style.paint(Ink::Dim, &empty.repeat(left))
}

fn share(part: u32, total: u32, columns: usize) -> usize {
    if part == 0 || total == 0 {
        return 0;
    }
    ((u64::from(part) * columns as u64) / u64::from(total)).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_is_there_is_seen() {
        for (done, failed, running, total, expected) in [
            (0, 0, 0, 10, ".........."),
            (10, 0, 0, 10, "##########"),
            (5, 1, 2, 10, "#####x==.."),
            (999, 0, 0, 1000, "#########."),
            (998, 1, 1, 1000, "########x="),
            (56, 4, 0, 60, "#########x"),
            (0, 1, 0, 1_000_000, "x........."),
            (0, 0, 0, 0, ".........."),
        ] {
            let count = SpreadCount { done, failed, running, waiting: 0, total };
            assert_eq!(bar(&count, 10, Style::PLAIN), expected, "{count:?}");
        }
    }

    #[test]
    fn a_bar_without_room_is_empty() {
        assert_eq!(bar(&SpreadCount { done: 1, failed: 1, running: 1, waiting: 0, total: 3 }, 0, Style::PLAIN), "");
    }
}
