//! Lists of numbers, one for each row, in one vector: ten thousand short lists cost two allocations.

/// Rows of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Csr {
    start: Vec<u32>,
    list: Vec<u32>,
}

impl Csr {
    /// From pairs of row and number; a row keeps the order in which its numbers come.
    pub fn of(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut start = vec![0u32; rows + 1];
        for (row, _) in pairs.clone() {
            start[row as usize + 1] += 1;
        }
        for row in 0..rows {
            start[row + 1] += start[row];
        }
        let mut list = vec![0u32; start[rows] as usize];
        let mut next = start.clone();
        for (row, number) in pairs {
            let at = &mut next[row as usize];
            list[*at as usize] = number;
            *at += 1;
        }
        Self { start, list }
    }

    pub fn of_row(&self, row: usize) -> &[u32] {
        &self.list[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// How many numbers there are in all rows.
    pub fn len(&self) -> usize {
        self.list.len()
    }
}
