//! Addresses that need no token: of webhook gates, and of flows that are begun from outside. An address is what it is of,
//! an end, and a proof that this workspace made them. Whoever knows one can open its gate, once, or begin runs of its
//! flow; nobody can make one up or put one's proof on another.

use edgewise_core::control::{HOOK_SECRET, Setting};
use edgewise_core::event::TaskIx;
use edgewise_core::gate::Wait;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::plan::Work;
use edgewise_core::run::Run;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::entropy::Entropy;
use ring::hmac;
use std::collections::BTreeMap;

/// Where the addresses of gates are.
const PATH: &str = "/api/v1/hooks/";
/// Where the addresses of flows are.
const STARTS: &str = "/api/v1/starts/";
/// Stands between the parts of what an address is of: no id and no name has one.
const BETWEEN: char = '~';

/// What an address is of, since one must not do for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// A gate, of items or of a run.
    Gate,
    /// A flow.
    Flow,
}

impl Of {
    /// What stands before what is signed.
    fn path(self) -> &'static str {
        match self {
            Self::Gate => PATH,
            Self::Flow => STARTS,
        }
    }

    /// How long an address is good where nobody says. Whoever calls a flow is set up once, and stays.
    pub fn good_for(self) -> Millis {
        match self {
            Self::Gate => Millis(30 * 86_400_000),
            Self::Flow => Millis(366 * 86_400_000),
        }
    }
}

/// A gate of a run, as its address names it: good for one generation, so that a gate that asks again has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunGate {
    /// Which run.
    pub run: RunId,
    /// The gate's task.
    pub task: TaskIx,
    /// Its generation.
    pub generation: u16,
}

impl RunGate {
    /// The webhook gate of a path, in the generation that it has now.
    pub fn of(run: &Run, path: &str) -> Result<Self> {
        let task = run.find(path).ok_or_else(|| {
            let message = format!("run {} has no task `{path}`; `edgewise show {}` lists them", run.id, run.id.short());
            Error::not_found("task_not_found", message)
        })?;
        let found = match &run.spec_of(task).work {
            Work::Gate(gate) => match gate.wait {
                Wait::Webhook => {
                    let generation = run.tasks[task.0 as usize].generation;
                    return Ok(Self { run: run.id, task, generation });
                }
                Wait::After(_) | Wait::Until(_) => "a timer",
                Wait::Approval { .. } => "an approval gate",
                Wait::External { .. } => "an external gate",
                Wait::Shared { .. } => "a gate that opens with one of the work graph",
            },
            _ => "no gate",
        };
        let message = format!("`{path}` of run {} is {found}: only a webhook gate has an address", run.id);
        Err(Error::invalid("wrong_gate", message))
    }

    /// Reads what [`RunGate`] prints; `None` for anything else, such as a gate of items.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix("run")?.strip_prefix(BETWEEN)?.split(BETWEEN);
        let run = RunId::parse(parts.next()?).ok()?;
        let (task, generation) = (TaskIx(parts.next()?.parse().ok()?), parts.next()?.parse().ok()?);
        parts.next().is_none().then_some(Self { run, task, generation })
    }
}

impl std::fmt::Display for RunGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "run{BETWEEN}{}{BETWEEN}{}{BETWEEN}{}", self.run, self.task.0, self.generation)
    }
}

/// The name of a flow as it stands in an address, where a slash would begin something else.
pub fn flow_in_address(flow: &Name) -> String {
    flow.as_str().replace('/', "~")
}

/// The flow that stands in an address.
pub fn flow_of_address(text: &str) -> Result<Name> {
    Name::parse(&text.replace(BETWEEN, "/"))
}

/// The secret that a workspace's addresses are signed with.
pub struct Secret(hmac::Key);

impl Secret {
    /// The one that is kept; `None` before the first address is made.
    pub fn of(settings: &BTreeMap<Name, Setting>) -> Result<Option<Self>> {
        let kept = settings.get(&Name::parse(HOOK_SECRET)?).and_then(|setting| setting.value.as_str());
        Ok(kept.map(Self::read))
    }

    /// The text of a new one, as it is kept.
    pub fn fresh() -> Result<String> {
        let mut entropy = Entropy::from_system()?;
        Ok(format!("{:032x}{:032x}", entropy.bits(), entropy.bits()))
    }

    /// A secret as it is kept.
    pub fn read(text: &str) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes()))
    }

    /// The path of an address.
    pub fn path(&self, home: &Home, (of, named): (Of, &str), expires: Time) -> String {
        format!("{}{}", of.path(), self.sign(home, (of, named), expires))
    }

    fn sign(&self, home: &Home, (of, named): (Of, &str), expires: Time) -> String {
        let tag = hmac::sign(&self.0, &said(home, (of, named), expires));
        format!("{named}.{}.{}", expires.0, hex(tag.as_ref()))
    }

    /// What an address is of. Anything that is wrong with it looks the same from outside, but for its end.
    pub fn check<'h>(&self, home: &Home, of: Of, hook: &'h str, now: Time) -> Result<&'h str> {
        let read = || {
            let (rest, tag) = hook.rsplit_once('.')?;
            let (named, expires) = rest.rsplit_once('.')?;
            let expires = Time(expires.parse().ok()?);
            hmac::verify(&self.0, &said(home, (of, named), expires), &bytes(tag)?).ok()?;
            Some((named, expires))
        };
        let (named, expires) = read().ok_or_else(|| no_hook(of))?;
        if expires <= now {
            let message = format!("this address was good until {expires}: ask for a new one");
            return Err(Error::not_found("hook_expired", message));
        }
        Ok(named)
    }
}

/// A path as it may be written down: whoever reads the trail must not be able to call an address in it.
pub fn without_proof(path: &str) -> String {
    let is_address = [PATH, STARTS].iter().any(|at| path.contains(at));
    match path.rsplit_once('.').filter(|_| is_address) {
        Some((known, _)) => format!("{known}.…"),
        None => path.to_owned(),
    }
}

/// Nothing is at an address that was not made here.
pub fn no_hook(of: Of) -> Error {
    let ask = match of {
        Of::Gate => "there is no such address: ask for the gate's own, `edgewise gate url GATE`",
        Of::Flow => "there is no such address: ask for the flow's own, `edgewise flows url FLOW`",
    };
    Error::not_found("hook_not_found", ask)
}

fn said(home: &Home, (of, named): (Of, &str), expires: Time) -> Vec<u8> {
    let of = match of {
        Of::Gate => "gate",
        Of::Flow => "flow",
    };
    format!("{of}\n{}\n{}\n{named}\n{}", home.tenant, home.workspace, expires.0).into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_good_for_its_gate_its_workspace_and_its_time() {
        let (home, secret) = (Home::local(), Secret::read("s1"));
        let hook = secret.sign(&home, (Of::Gate, "ew-7k2.1"), Time(100));
        assert_eq!(secret.check(&home, Of::Gate, &hook, Time(99)).unwrap(), "ew-7k2.1");
        assert_eq!(secret.check(&home, Of::Gate, &hook, Time(100)).unwrap_err().code, "hook_expired");
        assert_eq!(secret.check(&home, Of::Flow, &hook, Time(99)).unwrap_err().code, "hook_not_found");
        let other = Home { workspace: Name::parse("other").unwrap(), ..Home::local() };
        assert_eq!(secret.check(&other, Of::Gate, &hook, Time(99)).unwrap_err().code, "hook_not_found");
        assert_eq!(Secret::read("s2").check(&home, Of::Gate, &hook, Time(99)).unwrap_err().code, "hook_not_found");
        let later = hook.replace(".100.", ".900.");
        let stranger = hook.replace("7k2", "7k3");
        let cut = &hook[..hook.len() - 2];
        for bad in [later.as_str(), &stranger, cut, "", ".", "..", "a.b.c", "ew-7k2.1.100.zz", "é.1.é"] {
            assert_eq!(secret.check(&home, Of::Gate, bad, Time(1)).unwrap_err().code, "hook_not_found", "{bad}");
        }
    }

    #[test]
    fn a_gate_of_a_run_is_named_with_its_generation() {
        let gate = RunGate { run: RunId(7), task: TaskIx(3), generation: 2 };
        assert_eq!(RunGate::parse(&gate.to_string()), Some(gate));
        let text = gate.to_string();
        let longer = format!("{text}~1");
        let huge = text.replace("~2", "~70000");
        for bad in ["", "run", "run~", "run~7", "ew-7k2", longer.as_str(), &huge, &text.replace("run~", "ran~")] {
            assert_eq!(RunGate::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_proof_of_an_address_is_not_written_down() {
        for (path, shown) in [
            ("/api/v1/hooks/ew-7k2.1.100.abcdef", "/api/v1/hooks/ew-7k2.1.100.…"),
            ("/t/a/b/api/v1/starts/release.100.abcdef", "/t/a/b/api/v1/starts/release.100.…"),
            ("/api/v1/items/ew-7k2.1", "/api/v1/items/ew-7k2.1"),
        ] {
            assert_eq!(without_proof(path), shown);
        }
    }

    #[test]
    fn a_flow_is_found_again_in_its_address() {
        for flow in ["release", "data/etl.v2", "a/b/c_d"] {
            let flow = Name::parse(flow).unwrap();
            assert_eq!(flow_of_address(&flow_in_address(&flow)).unwrap(), flow);
        }
        assert_eq!(flow_of_address("a b").unwrap_err().code, Name::parse("a b").unwrap_err().code);
    }
}
