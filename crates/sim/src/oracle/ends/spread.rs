//! What a spread adds: it is of so many items, makes a scope for each, and ends with them.

use super::Ends;
use edgewise_core::plan::Resolution::{Failed, Success};
use edgewise_core::plan::{Items, Spread, Work};
use edgewise_core::template::Root;

impl Ends<'_> {
    fn items(&self, n: usize) -> usize {
        self.nodes[n].items.unwrap_or(0)
    }

    /// The scopes that a spread has made.
    pub(super) fn scopes_of(&self, n: usize) -> Vec<Vec<usize>> {
        let scopes = (0..self.items(n)).map(|item| self.within((Some(n), item)));
        scopes.filter(|nodes| !nodes.is_empty()).collect()
    }

    /// A spread that became ready: of nothing it has ended, of what is no list it has failed.
    pub(super) fn count_items(&mut self, n: usize, beside: &[usize]) {
        let Work::Spread(spread) = self.work(n) else { return };
        self.nodes[n].items = match &spread.items {
            Items::Literal(list) => Some(list.len()),
            Items::Expr(list) => match list.as_root() {
                Some(Root::Output { node, .. }) => {
                    let up = &self.nodes[beside[*node as usize]];
                    up.items.filter(|_| up.end == Some(Success))
                }
                _ => self.input,
            },
        };
        match self.nodes[n].items {
            None => self.end(n, Failed),
            Some(0) => self.end(n, Success),
            Some(_) => self.making.push_back(n),
        }
    }

    pub(super) fn spread_out(&mut self, n: usize) {
        let Work::Spread(Spread { region, .. }) = self.work(n) else { return };
        let path = self.nodes[n].path.clone();
        (0..self.items(n)).for_each(|item| self.make((Some(n), item), *region, &format!("{path}[{item}]")));
    }

    /// A spread ends with its last scope, badly if more of them did than it tolerates; one that fails fast stops the
    /// others then. False if neither is so.
    pub(super) fn spread_ends(&mut self, n: usize) -> bool {
        let (Work::Spread(Spread { tolerate, fail_fast, .. }), None) = (self.work(n), self.nodes[n].end) else {
            return false;
        };
        let scopes = self.scopes_of(n);
        let is_over = |scope: &&Vec<usize>| scope.iter().all(|n| self.nodes[*n].end.is_some());
        let bad = scopes.iter().filter(is_over).filter(|scope| self.ending(scope) != Success).count();
        let (too_bad, over) = (bad > *tolerate as usize, !scopes.is_empty() && scopes.iter().all(|s| is_over(&s)));
        if over {
            self.end(n, if too_bad { Failed } else { Success });
        } else if too_bad && *fail_fast {
            scopes.iter().for_each(|scope| self.stop(scope));
        }
        over || (too_bad && *fail_fast)
    }
}
