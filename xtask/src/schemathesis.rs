//! `cargo xtask schemathesis`: the OpenAPI document against the real binary.
//!
//! Schemathesis makes requests from the document, good ones and bad ones, and looks at the answers: no status of 500
//! and above, and none, no type and no form that the document does not name. It comes from PyPI in a pinned version,
//! into a folder of its own below the target folder.

use crate::{built, debian};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const VERSION: &str = "4.32.5";
/// Requests for each address and phase: a number, so that a busy machine makes as many.
const EXAMPLES: &str = "8";
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance,response_headers_conformance,unsupported_method";
const HOOKS: &str = include_str!("schemathesis/hooks.py");

/// Runs it; true if nothing was found.
pub fn run(root: &Path) -> bool {
    match check(root) {
        Ok(good) => good,
        Err(why) => {
            eprintln!("error: {why}");
            false
        }
    }
}

fn check(root: &Path) -> Result<bool, String> {
    let tool = install(&built::target(root).join("schemathesis"))?;
    let binary = built::tested(root)?;
    let folder = std::env::temp_dir().join(format!("edgewise-schemathesis-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut server = Server::start(&binary, &folder)?;
    let good = server.url().and_then(|url| examine(&tool, &url, &folder));
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
    good
}

/// Schemathesis in a virtual environment, made once for each version.
fn install(base: &Path) -> Result<PathBuf, String> {
    let folder = base.join(VERSION);
    let tool = folder.join("bin/schemathesis");
    if !tool.exists() {
        let venv = || succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
        if venv().is_err() {
            // Debian's Python comes without it.
            debian::install("python3-venv");
            venv()?;
        }
        let mut pip = Command::new(folder.join("bin/pip"));
        succeed(pip.args(["install", "--quiet", "--disable-pip-version-check", &format!("schemathesis=={VERSION}")]))?;
    }
    Ok(tool)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?} could not be started: {error}")),
    }
}

fn examine(tool: &Path, url: &str, folder: &Path) -> Result<bool, String> {
    std::fs::write(folder.join("hooks.py"), HOOKS).map_err(|error| error.to_string())?;
    let mut command = Command::new(tool);
    command.args(["run", &format!("{url}/api/openapi.json"), "--checks", CHECKS]);
    command.args(["--max-examples", EXAMPLES, "--request-timeout", "20"]);
    command.args(["--seed", "1", "--continue-on-failure", "--warnings", "off", "--no-color"]);
    command.env("SCHEMATHESIS_HOOKS", "hooks").env("EDGEWISE_URL", url).env("PYTHONHASHSEED", "0");
    let status = command.current_dir(folder).status();
    status.map(|status| status.success()).map_err(|error| format!("schemathesis could not be started: {error}"))
}

/// The real binary, ended when this is dropped.
struct Server(Child);

impl Server {
    fn start(binary: &Path, folder: &Path) -> Result<Self, String> {
        let mut command = Command::new(binary);
        command.args(["serve", "--addr", "127.0.0.1:0"]).current_dir(folder).stdout(Stdio::piped());
        command.spawn().map(Self).map_err(|error| format!("{} could not be started: {error}", binary.display()))
    }

    /// Where it listens: its first line says it.
    fn url(&mut self) -> Result<String, String> {
        let mut line = String::new();
        let out = self.0.stdout.take().ok_or("the server's output is gone")?;
        BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
        line.trim().strip_prefix("listening at ").map(str::to_owned).ok_or_else(|| format!("the server said {line:?}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the requests have noticed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
