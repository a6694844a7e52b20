//! What cargo built, and where it lies.
//!
//! The tests build everything at once, and features are united over all of it: whoever builds one package alone afterwards
//! builds most of it a second time. So what is checked beside the tests is what they built.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that cargo builds into.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// The binary as it is released; `cargo build --release` makes it.
pub fn released(root: &Path) -> Result<PathBuf, String> {
    let binary = target(root).join("release/edgewise");
    if binary.exists() { Ok(binary) } else { Err("there is no release build; `cargo build --release` makes it".into()) }
}

/// The binary as the tests have it; built if it is not there or old.
pub fn tested(root: &Path) -> Result<PathBuf, String> {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--workspace", "--all-targets"]).current_dir(root);
    match build.status() {
        Ok(status) if status.success() => Ok(target(root).join("debug/edgewise")),
        Ok(status) => Err(format!("the binary cannot be built: {status}")),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}
