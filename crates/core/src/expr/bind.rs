//! What free names mean: finding them, binding them to roots, putting other expressions in their place.
//!
//! A free name is looked at with the keys selected from it, as in `tasks.plan.output.rows`, because only
//! all of them together say which value is meant.

use super::build::room;
use super::print::push_key;
use super::tree::{Id, Kind, Tree};
use super::{Ast, Expr, Fault, Hyphens, Span};
use crate::mark::mark;
use crate::suggest::shown;
use crate::template::Root;
use std::collections::{BTreeMap, BTreeSet};

/// A free name with the keys selected from it.
pub(crate) struct Chain<'a> {
    /// The name, then the keys; each with its place in the text.
    pub(crate) segments: Vec<(&'a str, Span)>,
    /// The place of the whole.
    pub(crate) span: Span,
    /// The nodes the segments stand for; one less if the last is only asked for, as in `has(inputs.x)`.
    nodes: Vec<Id>,
}

impl Chain<'_> {
    /// The names alone.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.segments.iter().map(|(name, _)| *name).collect()
    }

    /// The first `count` segments as they are written.
    pub(crate) fn written(&self, count: usize, hyphens: Hyphens) -> String {
        let mut text = String::new();
        for (n, (name, _)) in self.segments.iter().take(count).enumerate() {
            let named = n == 1 && hyphens == Hyphens::InNames && matches!(&*text, "tasks" | "inputs");
            match n {
                0 => text.push_str(name),
                _ => push_key(&mut text, name, named),
            }
        }
        text
    }
}

/// The roots of an expression, each once, as it writes them.
#[derive(Default)]
struct Roots {
    all: Vec<(String, Root)>,
    /// Where to look first, by the mark of the text; empty while there are few.
    places: BTreeMap<u64, u32>,
}

impl Roots {
    const FEW: usize = 8;

    /// The number of the root that is written so.
    fn find(&self, written: &str) -> Option<u32> {
        if self.all.len() > Self::FEW {
            let place = *self.places.get(&mark(written))?;
            return (self.all[place as usize].0 == written).then_some(place);
        }
        self.all.iter().position(|(text, _)| text == written).map(|place| place as u32)
    }

    /// The number of a root, which is a new one if it was not there.
    fn number(&mut self, written: String, root: Root) -> u32 {
        if let Some(place) = self.find(&written).filter(|place| self.all[*place as usize].1 == root) {
            return place;
        }
        let place = self.all.len();
        self.all.push((written, root));
        // With the first that is too many for looking at each, all of them get their places.
        let from = if place > Self::FEW { place } else { 0 };
        if place >= Self::FEW {
            for n in from..=place {
                self.places.entry(mark(&self.all[n].0)).or_insert(n as u32);
            }
        }
        place as u32
    }
}

/// How many segments of a chain make up a root, and which.
pub type Found = Result<(usize, Root), Fault>;

/// What stands in place of a node of the old tree.
enum Instead<'a> {
    Root(u32),
    Tree(&'a Tree),
}

/// What stands in place of which nodes. Sorted before it is asked; most expressions have one or two.
type Places<'a> = Vec<(Id, Instead<'a>)>;

fn found<'p, 'a>(places: &'p Places<'a>, id: Id) -> Option<&'p Instead<'a>> {
    places.binary_search_by_key(&id, |(node, _)| *node).ok().map(|at| &places[at].1)
}

impl Ast {
    /// Calls `see` with every free name and the keys selected from it, and where that stands.
    pub fn names(&self, see: &mut dyn FnMut(&[&str], Span)) {
        self.chains().iter().for_each(|chain| see(&chain.names(), chain.span));
    }

    /// Where the whole expression stands in the text.
    pub fn span(&self) -> Span {
        self.tree.node(self.tree.top).span
    }

    /// Binds the free names. `find` is given a name with the keys selected from it, and says which root that
    /// is and how many of the segments make it up.
    pub fn bind(self, find: &mut dyn FnMut(&[&str], Span) -> Found) -> Result<Expr, Vec<Fault>> {
        self.resolve(&mut |chain| match chain.segments.as_slice() {
            [(name, _)] => find(&[name], chain.span),
            _ => find(&chain.names(), chain.span),
        })
    }

    /// As [`Ast::bind`], for those who point at single segments.
    pub(crate) fn resolve(self, find: &mut dyn FnMut(&Chain<'_>) -> Found) -> Result<Expr, Vec<Fault>> {
        let (mut roots, mut faults): (Roots, Vec<Fault>) = Default::default();
        let mut instead = Places::new();
        let tree = &*self.tree;
        let selected = tree.selected();
        for (id, name, span) in tree.names() {
            // Most names of a long expression come again, and mean what they meant.
            let alone = selected.get(id as usize).is_none_or(Option::is_none);
            let known = if alone { roots.find(name) } else { None };
            if let Some(number) = known {
                instead.push((id, Instead::Root(number)));
                continue;
            }
            let chain = Chain::along(tree, &selected, (id, name, span));
            let (taken, root) = match find(&chain) {
                Ok(found) => found,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let Some(node) = taken.checked_sub(1).and_then(|last| chain.nodes.get(last)) else {
                let whole = chain.written(chain.segments.len(), self.hyphens);
                let message = format!("{} is there by itself, so `has` cannot ask for it", shown(&whole));
                faults.push(Fault::new(chain.span, "bad_call", message).help("compare it with `null` instead"));
                continue;
            };
            let written = chain.written(taken, Hyphens::InNames);
            instead.push((*node, Instead::Root(roots.number(written, root))));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Expr::bound(self.tree.rooted(instead), roots.all))
    }

    /// Puts other expressions in place of free names: `find` says what a name stands for, if for anything.
    /// The result can be much larger, so it is refused where it would pass the limits.
    pub fn substitute<'a>(self, find: &mut dyn FnMut(&str) -> Option<&'a Ast>) -> Result<Self, Vec<Fault>> {
        let mut instead = Places::new();
        let (mut nodes, mut bytes) = (self.tree.nodes.len(), self.tree.bytes());
        let mut faults = Vec::new();
        for chain in self.chains() {
            let (name, span) = chain.segments[0];
            let Some(other) = find(name) else { continue };
            nodes += other.tree.nodes.len();
            bytes += other.tree.bytes();
            faults.extend(self.captured(chain.nodes[0], other).map(|var| {
                let message = format!("{} uses {}, which means something else here", shown(name), shown(&var));
                Fault::new(span, "hidden_name", message).help("give the variable of the macro another name")
            }));
            instead.push((chain.nodes[0], Instead::Tree(&other.tree)));
        }
        if instead.is_empty() {
            return Ok(self);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let whole = self.tree.node(self.tree.top).span;
        room(nodes, bytes, whole).map_err(|fault| vec![fault])?;
        instead.sort_unstable_by_key(|(node, _)| *node);
        let mut tree = Tree::with_room(nodes);
        tree.top = copy(&self.tree, self.tree.top, &instead, &mut tree);
        let ast = Self::of(tree, self.hyphens);
        ast.within_limits(whole).map_err(|fault| vec![fault])?;
        Ok(ast)
    }

    /// A free name of `other` that a macro around `node` uses for its variable.
    fn captured(&self, node: Id, other: &Self) -> Option<String> {
        let free: BTreeSet<String> = other.chains().iter().map(|chain| chain.segments[0].0.to_owned()).collect();
        let mut inside = vec![false; self.tree.nodes.len()];
        inside[node as usize] = true;
        let mut found = None;
        // Children come before their parents, so one pass finds all that is around the node.
        for (id, parent) in self.tree.nodes.iter().enumerate() {
            let mut around = false;
            parent.kind.children(&mut |child| around |= inside[child as usize]);
            inside[id] |= around;
            if let Kind::Each(each) = &parent.kind
                && (inside[each.body as usize] || each.filter.is_some_and(|f| inside[f as usize]))
                && free.contains(&*each.var)
            {
                found = Some(each.var.to_string());
            }
        }
        found
    }

    pub(crate) fn chains(&self) -> Vec<Chain<'_>> {
        let tree = &*self.tree;
        let selected = tree.selected();
        tree.names().map(|named| Chain::along(tree, &selected, named)).collect()
    }
}

impl Tree {
    /// The tree with roots in place of names and of what is selected from them.
    fn rooted(&self, mut instead: Places<'_>) -> Self {
        let is_name = |id: Id| matches!(self.node(id).kind, Kind::Name(_));
        if !instead.iter().all(|(id, _)| is_name(*id)) {
            instead.sort_unstable_by_key(|(node, _)| *node);
            let mut tree = Self::with_room(self.nodes.len());
            tree.top = copy(self, self.top, &instead, &mut tree);
            return tree;
        }
        // Nothing goes away, so every node keeps its number.
        let mut tree = self.clone();
        for (id, root) in instead {
            if let Instead::Root(number) = root {
                tree.nodes[id as usize].kind = Kind::Root(number);
            }
        }
        tree
    }

    /// For each node the one that selects from it, if there is one; nothing at all if nothing selects.
    fn selected(&self) -> Vec<Option<Id>> {
        if !self.nodes.iter().any(|node| matches!(node.kind, Kind::Select(..) | Kind::Has(..))) {
            return Vec::new();
        }
        let mut selected: Vec<Option<Id>> = vec![None; self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            if let Kind::Select(of, _) | Kind::Has(of, _) = &node.kind {
                selected[*of as usize] = Some(id as Id);
            }
        }
        selected
    }

    /// The free names, with where they stand.
    fn names(&self) -> impl Iterator<Item = (Id, &str, Span)> {
        self.nodes.iter().enumerate().filter_map(|(id, node)| match &node.kind {
            Kind::Name(name) => Some((id as Id, &**name, node.span)),
            _ => None,
        })
    }
}

impl<'a> Chain<'a> {
    fn along(tree: &'a Tree, selected: &[Option<Id>], (mut id, name, mut span): (Id, &'a str, Span)) -> Self {
        let mut chain = Self { segments: vec![(name, span)], span, nodes: vec![id] };
        while let Some(next) = selected.get(id as usize).copied().flatten() {
            let node = tree.node(next);
            let (Kind::Select(_, key) | Kind::Has(_, key)) = &node.kind else { break };
            let has = matches!(node.kind, Kind::Has(..));
            // The last byte of `has(x.key)` is its bracket, which is not part of the chain.
            let to = node.span.to - u32::from(has);
            chain.segments.push((key, Span { from: span.to, to }));
            chain.span.to = to;
            if has {
                break;
            }
            chain.nodes.push(next);
            (id, span) = (next, node.span);
        }
        chain
    }
}

/// Copies a tree with other parts in place of some of its nodes; as deep as the tree, which is bounded.
fn copy(from: &Tree, id: Id, instead: &Places<'_>, to: &mut Tree) -> Id {
    let node = from.node(id);
    let kind = match found(instead, id) {
        Some(Instead::Root(number)) => Kind::Root(*number),
        Some(Instead::Tree(other)) => return graft(other, Some(node.span), to),
        None => node.kind.renumbered(&mut |child| copy(from, child, instead, to)),
    };
    to.push(kind, node.span)
}

/// Copies a whole tree into another. What is wrong with it there is wrong at `span`, where its name stands.
pub(super) fn graft(from: &Tree, span: Option<Span>, to: &mut Tree) -> Id {
    let first = to.nodes.len();
    let top = copy(from, from.top, &Places::new(), to);
    if let Some(span) = span {
        to.nodes[first..].iter_mut().for_each(|node| node.span = span);
    }
    top
}
