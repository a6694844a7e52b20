//! Tests of SQLite's own: what the suite that all stores share cannot say.
