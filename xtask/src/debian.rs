//! Tools that a check needs and a machine may lack. They are installed where that is possible, and it is said.

use std::path::PathBuf;
use std::process::Command;

/// A program, and the Debian package that holds it.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// What is looked for on the PATH.
    pub program: &'static str,
    /// What is installed if it is not there.
    pub package: &'static str,
}

impl Tool {
    /// Makes sure that the program is there; the error says what to install by hand.
    pub fn ensure(&self) -> Result<(), String> {
        if find(self.program).is_some() {
            return Ok(());
        }
        println!("      {} is missing: installing the package {}", self.program, self.package);
        install(self.package);
        match find(self.program) {
            Some(_) => Ok(()),
            None => Err(format!("needs `{}`: install the package {} and try again", self.program, self.package)),
        }
    }
}

/// Installs a package, if this machine has such and we may.
pub fn install(package: &str) {
    let words = ["install", "--yes", "--no-install-recommends", package];
    if !apt(&words) {
        // A fresh machine has no package lists; then the first try cannot find anything.
        apt(&["update"]);
        apt(&words);
    }
}

fn apt(args: &[&str]) -> bool {
    let quiet = Command::new("apt-get").arg("-qq").args(args).env("DEBIAN_FRONTEND", "noninteractive").output();
    quiet.is_ok_and(|output| output.status.success())
}

/// Where a program is on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_there_needs_nothing() {
        assert!(find("sh").is_some());
        assert_eq!(Tool { program: "sh", package: "dash" }.ensure(), Ok(()));
    }

    #[test]
    fn a_program_that_nobody_has_is_not_found() {
        assert_eq!(find("no-such-program-anywhere"), None);
    }
}
