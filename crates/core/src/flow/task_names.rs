//! The names of a flow's tasks: found by their mark, and sorted only once somebody must be told a nearer one.

use crate::mark::mark;
use std::cell::OnceCell;

/// All tasks of a flow, each name once.
#[derive(Default)]
pub(super) struct TaskNames<'n> {
    /// In the order of the file, with their nodes; none for a task whose name is refused.
    listed: Vec<(&'n str, Option<u32>)>,
    /// The mark of each name and its place in the list, by mark.
    marks: Vec<(u64, u32)>,
    sorted: OnceCell<Vec<&'n str>>,
}

impl<'n> TaskNames<'n> {
    pub(super) fn new(listed: Vec<(&'n str, Option<u32>)>) -> Self {
        let mut marks: Vec<(u64, u32)> = listed.iter().map(|(name, _)| mark(name)).zip(0..).collect();
        marks.sort_unstable();
        Self { listed, marks, sorted: OnceCell::new() }
    }

    /// The node of a task, if there is such a task.
    pub(super) fn get(&self, name: &str) -> Option<Option<u32>> {
        let wanted = mark(name);
        let from = self.marks.partition_point(|(mark, _)| *mark < wanted);
        let same = self.marks[from..].iter().take_while(|(mark, _)| *mark == wanted);
        let mut named = same.map(|(_, place)| self.listed[*place as usize]);
        named.find(|(listed, _)| *listed == name).map(|(_, node)| node)
    }

    /// The nodes in the order of the file.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        self.listed.iter().map(|(_, node)| *node)
    }

    /// The names in their own order.
    pub(super) fn sorted(&self) -> impl Iterator<Item = &'n str> + '_ {
        let sorted = self.sorted.get_or_init(|| {
            let mut names: Vec<&str> = self.listed.iter().map(|(name, _)| *name).collect();
            names.sort_unstable();
            names
        });
        sorted.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_finds_its_node_and_others_find_nothing() {
        let names = TaskNames::new(vec![("load", Some(0)), ("-bad", None), ("a", Some(1))]);
        assert_eq!(names.get("load"), Some(Some(0)));
        assert_eq!(names.get("-bad"), Some(None), "it is there, but no node");
        assert_eq!(names.get("loaf"), None);
        assert_eq!(names.sorted().collect::<Vec<_>>(), ["-bad", "a", "load"]);
    }
}
