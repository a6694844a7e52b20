//! Who asks, and what they may.
//!
//! A token is a name and a secret, `alice.7k2…`. The workspace's settings keep the secret's hash under the name, with
//! a role and an end; making, changing and taking away a token are events of the ledger like any other.

use edgewise_core::control::Setting;
use edgewise_core::id::Token;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use subtle::ConstantTimeEq;

/// What the keys of settings that hold tokens begin with.
pub const PREFIX: &str = edgewise_core::control::TOKEN;

/// The role of a token whose setting says something else than a token's does: it lets nobody in, and can be revoked.
pub const UNREADABLE: &str = "unreadable";

/// What a secret is compared with where nobody has the name: as long as every hash, and never enough to be let in.
const NOBODYS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What somebody is trusted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looks.
    Viewer,
    /// Starts runs and acts on them.
    Operator,
    /// Takes tasks and reports them.
    Worker,
    /// Looks, and speaks to gates.
    Approver,
    /// Everything.
    Admin,
}

/// What an address needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Nothing: it says nothing about anybody's work.
    Open,
    /// To look at runs and items.
    Look,
    /// To start runs and act on them.
    Operate,
    /// To speak to gates.
    Approve,
    /// To take tasks and report them.
    Work,
    /// To change who may do what.
    Admin,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Their name: what is written beside what they do.
    pub name: Name,
    /// What they are trusted with.
    pub role: Role,
}

/// What is kept of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The hash of its secret, as hexadecimal text.
    pub hash: String,
    /// What its owner is trusted with.
    pub role: Role,
    /// Not good from here on; for ever if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 5] = [Self::Viewer, Self::Operator, Self::Worker, Self::Approver, Self::Admin];

    /// Whether it is enough for a permission.
    pub fn may(self, permission: Permission) -> bool {
        match permission {
            Permission::Open => true,
            Permission::Look => self != Self::Worker,
            Permission::Operate => matches!(self, Self::Operator | Self::Admin),
            Permission::Approve => matches!(self, Self::Approver | Self::Operator | Self::Admin),
            Permission::Work => matches!(self, Self::Worker | Self::Admin),
            Permission::Admin => self == Self::Admin,
        }
    }
}

impl Kept {
    /// What is kept of a new token, and its text, which is shown once.
    pub fn new(name: &Name, secret: Token, role: Role, expires: Option<Time>) -> (Self, String) {
        (Self { hash: hash(&secret.to_string()), role, expires }, format!("{name}.{secret}"))
    }
}

/// The tokens of a workspace, by their names.
#[derive(Debug, Clone, Default)]
pub struct Tokens(BTreeMap<Name, Kept>);

impl Tokens {
    /// Those that stand in the settings. One that cannot be read lets nobody in.
    pub fn of(settings: &BTreeMap<Name, Setting>) -> Self {
        let tokens = settings.iter().filter_map(|(key, setting)| {
            let name = Name::parse(key.strip_prefix(PREFIX)?).ok()?;
            Some((name, serde_json::from_value(setting.value.clone()).ok()?))
        });
        Self(tokens.collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose a token is. Takes as long for a wrong secret as for a right one, and for a name that nobody has.
    pub fn check(&self, token: &str, now: Time) -> Result<Principal> {
        let bad = |why: &str| Error::denied("bad_token", format!("the token is not good: {why}"));
        let (name, secret) = token.rsplit_once('.').ok_or_else(|| bad("it has the form NAME.SECRET"))?;
        let name = Name::parse(name).map_err(|_| bad("it has the form NAME.SECRET"))?;
        let kept = self.0.get(&name);
        // Compared with something as long where nobody has the name: how long it takes does not tell who is known.
        let expected = kept.map_or(NOBODYS, |kept| kept.hash.as_str());
        let same: bool = hash(secret).as_bytes().ct_eq(expected.as_bytes()).into();
        match kept {
            Some(kept) if same => match kept.expires {
                Some(end) if end <= now => Err(bad("it has expired; ask for a new one")),
                _ => Ok(Principal { name, role: kept.role }),
            },
            _ => Err(bad("nobody has it, or it was revoked")),
        }
    }
}

fn hash(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn a_token_lets_in_whoever_has_it_until_its_end() {
        let (kept, text) = Kept::new(&name("alice"), Token(7), Role::Viewer, Some(Time(100)));
        let tokens = Tokens([(name("alice"), kept)].into());
        let alice = tokens.check(&text, Time(99)).unwrap();
        assert_eq!(alice, Principal { name: name("alice"), role: Role::Viewer });
        let other = Kept::new(&name("alice"), Token(8), Role::Admin, None).1;
        for (token, now) in [(text.as_str(), 100), (&other, 1), ("alice.", 1), ("alice", 1), ("", 1), ("bob.x", 1)] {
            assert_eq!(tokens.check(token, Time(now)).unwrap_err().code, "bad_token", "{token} at {now}");
        }
    }

    #[test]
    fn a_name_that_nobody_has_is_compared_with_as_much_as_one_that_somebody_has() {
        assert_eq!(hash("x").len(), NOBODYS.len());
    }

    #[test]
    fn what_is_kept_of_a_token_does_not_tell_its_secret() {
        let (kept, text) = Kept::new(&name("alice"), Token(7), Role::Viewer, None);
        let secret = text.rsplit_once('.').unwrap().1;
        assert!(!serde_json::to_string(&kept).unwrap().contains(secret));
    }

    #[test]
    fn each_role_may_what_it_is_for_and_nothing_else() {
        use Permission::{Admin, Approve, Look, Open, Operate, Work};
        for (role, may) in [
            (Role::Viewer, vec![Open, Look]),
            (Role::Operator, vec![Open, Look, Operate, Approve]),
            (Role::Worker, vec![Open, Work]),
            (Role::Approver, vec![Open, Look, Approve]),
            (Role::Admin, vec![Open, Look, Operate, Approve, Work, Admin]),
        ] {
            let all = [Open, Look, Operate, Approve, Work, Admin];
            let found: Vec<_> = all.into_iter().filter(|permission| role.may(*permission)).collect();
            assert_eq!(found, may, "{role:?}");
        }
    }
}
