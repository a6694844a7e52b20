//! Maps for the keys of every commit: a run's id is looked up some fifty times for each task, and a hash that withstands
//! chosen keys took a twentieth of all instructions. This one is seeded at random as well, which is enough for ids and
//! names that only somebody trusted to start runs can choose.

use std::collections::{HashMap, HashSet};

/// A map with a quick hash.
pub type QuickMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// A set with a quick hash.
pub type QuickSet<K> = HashSet<K, foldhash::fast::RandomState>;
