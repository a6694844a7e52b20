//! Addresses of webhook gates: a gate, an end, and a proof that this workspace made them. Whoever knows an address can
//! open its gate, once, without a token; nobody can make one up or put one gate's proof on another.

use edgewise_core::control::Setting;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::entropy::Entropy;
use ring::hmac;
use std::collections::BTreeMap;

/// The setting that keeps the workspace's secret.
pub const SETTING: &str = "hook/secret";
/// Where the addresses are.
pub const PATH: &str = "/api/v1/hooks/";

/// The secret that a workspace's addresses are signed with.
pub struct Secret(hmac::Key);

impl Secret {
    /// The one that is kept; `None` before the first address is made.
    pub fn of(settings: &BTreeMap<Name, Setting>) -> Result<Option<Self>> {
        let kept = settings.get(&Name::parse(SETTING)?).and_then(|setting| setting.value.as_str());
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

    /// What stands in a gate's address, behind [`PATH`].
    pub fn sign(&self, home: &Home, gate: &str, expires: Time) -> String {
        let tag = hmac::sign(&self.0, &said(home, gate, expires));
        format!("{gate}.{}.{}", expires.0, hex(tag.as_ref()))
    }

    /// The gate that an address is of. Anything that is wrong with it looks the same from outside, but for its end.
    pub fn check<'h>(&self, home: &Home, hook: &'h str, now: Time) -> Result<&'h str> {
        let read = || {
            let (rest, tag) = hook.rsplit_once('.')?;
            let (gate, expires) = rest.rsplit_once('.')?;
            let expires = Time(expires.parse().ok()?);
            hmac::verify(&self.0, &said(home, gate, expires), &bytes(tag)?).ok()?;
            Some((gate, expires))
        };
        let (gate, expires) = read().ok_or_else(no_hook)?;
        if expires <= now {
            let message = format!("this address was good until {expires}: ask for a new one");
            return Err(Error::not_found("hook_expired", message));
        }
        Ok(gate)
    }
}

/// Nothing is at an address that was not made here.
pub fn no_hook() -> Error {
    Error::not_found("hook_not_found", "there is no such address: ask for the gate's own, `edgewise gate url GATE`")
}

fn said(home: &Home, gate: &str, expires: Time) -> Vec<u8> {
    format!("gate\n{}\n{}\n{gate}\n{}", home.tenant, home.workspace, expires.0).into_bytes()
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
        let hook = secret.sign(&home, "ew-7k2.1", Time(100));
        assert_eq!(secret.check(&home, &hook, Time(99)).unwrap(), "ew-7k2.1");
        assert_eq!(secret.check(&home, &hook, Time(100)).unwrap_err().code, "hook_expired");
        let other = Home { workspace: Name::parse("other").unwrap(), ..Home::local() };
        assert_eq!(secret.check(&other, &hook, Time(99)).unwrap_err().code, "hook_not_found");
        assert_eq!(Secret::read("s2").check(&home, &hook, Time(99)).unwrap_err().code, "hook_not_found");
        let later = hook.replace(".100.", ".900.");
        let stranger = hook.replace("7k2", "7k3");
        let cut = &hook[..hook.len() - 2];
        for bad in [later.as_str(), &stranger, cut, "", ".", "..", "a.b.c", "ew-7k2.1.100.zz", "é.1.é"] {
            assert_eq!(secret.check(&home, bad, Time(1)).unwrap_err().code, "hook_not_found", "{bad}");
        }
    }
}
