//! Which addresses a request may go to: public ones, and what the settings allow besides.

use edgewise_core::event::Failure;
use edgewise_core::{Error, Result};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// What is allowed besides public addresses.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Hosts and networks.
    pub allow: Vec<Allowed>,
}

/// One host or network that requests may go to although it is not public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// A name, whatever it resolves to.
    Host(String),
    /// All addresses with the same first bits.
    Network(IpAddr, u8),
}

impl Allowed {
    /// Reads `localhost`, `10.0.0.7`, `10.0.0.0/8` or `fd00::/8`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            let message =
                format!("{text:?} is neither a host nor a network: write `localhost`, `10.0.0.7` or `10.0.0.0/8`");
            Error::invalid("bad_host", message)
        };
        if let Some((ip, bits)) = text.split_once('/') {
            let (ip, bits): (IpAddr, u8) = (ip.parse().map_err(|_| bad())?, bits.parse().map_err(|_| bad())?);
            let most = if ip.is_ipv4() { 32 } else { 128 };
            return if bits <= most { Ok(Self::Network(ip, bits)) } else { Err(bad()) };
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Self::Network(ip, if ip.is_ipv4() { 32 } else { 128 }));
        }
        let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'.';
        let host = !text.is_empty() && text.len() <= 253 && text.bytes().all(letter);
        if host { Ok(Self::Host(text.to_ascii_lowercase())) } else { Err(bad()) }
    }

    fn contains(&self, found: IpAddr) -> bool {
        match (self, found) {
            (Self::Network(IpAddr::V4(net), bits), IpAddr::V4(ip)) => {
                let shift = 32 - u32::from(*bits);
                shift == 32 || net.to_bits() >> shift == ip.to_bits() >> shift
            }
            (Self::Network(IpAddr::V6(net), bits), IpAddr::V6(ip)) => {
                let shift = 128 - u32::from(*bits);
                shift == 128 || net.to_bits() >> shift == ip.to_bits() >> shift
            }
            _ => false,
        }
    }
}

impl Rules {
    /// Refuses an address that may not be asked. A name is looked at again when it is resolved.
    pub(super) fn check(&self, url: &Url) -> std::result::Result<(), Failure> {
        if !matches!(url.scheme(), "http" | "https") {
            let message =
                format!("{} is not asked over HTTP: an address begins with https:// or http://", url.scheme());
            return Err(Failure::permanent("bad_request", message));
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(ip) if !self.allows(ip) => Err(Refused.failure(url)),
            _ => Ok(()),
        }
    }

    fn allows(&self, ip: IpAddr) -> bool {
        is_public(ip) || self.allow.iter().any(|allowed| allowed.contains(ip))
    }

    /// What a name, or an address, may be connected to.
    pub(super) async fn resolve(&self, host: &str, port: u16) -> std::result::Result<Vec<SocketAddr>, Unresolved> {
        let found = tokio::net::lookup_host((host, port)).await?;
        let named = self.allows_name(host);
        let allowed: Vec<SocketAddr> = found.filter(|at| named || self.allows(at.ip())).collect();
        if allowed.is_empty() { Err(Refused.into()) } else { Ok(allowed) }
    }

    fn allows_name(&self, name: &str) -> bool {
        self.allow.iter().any(|allowed| matches!(allowed, Allowed::Host(host) if host.eq_ignore_ascii_case(name)))
    }
}

/// Why a name came to no address.
type Unresolved = Box<dyn std::error::Error + Send + Sync>;

/// An address that may not be asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address is not public")
    }
}

impl std::error::Error for Refused {}

impl Refused {
    pub(super) fn failure(self, url: &Url) -> Failure {
        let host = url.host_str().unwrap_or_default();
        let message = format!(
            "{host} is not a public address, and requests go to those alone: whoever runs the engine can allow it \
             with `http_allow = [\"{host}\"]` in edgewise.toml"
        );
        Failure::permanent("address_refused", message)
    }
}

/// Resolves names, and gives only addresses that may be asked: these very ones are connected to.
pub(super) struct Resolver(pub(super) Arc<Rules>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = Arc::clone(&self.0);
        Box::pin(async move {
            let addresses: Addrs = Box::new(rules.resolve(name.as_str(), 0).await?.into_iter());
            Ok(addresses)
        })
    }
}

/// Whether an address is one of the open internet. Those that stand for another are judged by that one.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let reserved = a == 0 || a >= 240 || (a, b, c) == (192, 0, 0) || (a == 198 && (b & 0xfe) == 18);
    let shared = a == 100 && (b & 0xc0) == 64;
    let local = ip.is_private() || ip.is_loopback() || ip.is_link_local();
    !(reserved || shared || local || ip.is_multicast() || ip.is_broadcast() || ip.is_documentation())
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let s = ip.segments();
    let tail = Ipv4Addr::from_bits(ip.to_bits() as u32);
    if ip.to_ipv4_mapped().is_some() || (s[0], s[1]) == (0x64, 0xff9b) || s[..6] == [0; 6] {
        // `::` and `::1` stand for 0.0.0.0 and 0.0.0.1 here, which are not public either.
        return is_public_v4(tail);
    }
    if s[0] == 0x2002 {
        return is_public_v4(Ipv4Addr::from_bits(u32::from(s[1]) << 16 | u32::from(s[2])));
    }
    let global = s[0] & 0xe000 == 0x2000;
    let documentation = (s[0], s[1]) == (0x2001, 0xdb8) || s[0] & 0xfff0 == 0x3ff0;
    let teredo = (s[0], s[1]) == (0x2001, 0);
    global && !documentation && !teredo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_open_internet_is_public() {
        for (ip, public) in [
            ("93.184.215.14", true),
            ("1.1.1.1", true),
            ("100.128.0.1", true),
            ("127.0.0.1", false),
            ("127.8.8.8", false),
            ("0.0.0.0", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("198.18.0.1", false),
            ("198.19.255.1", false),
            ("192.0.0.8", false),
            ("192.0.2.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("240.0.0.1", false),
            ("2606:4700:4700::1111", true),
            ("::1", false),
            ("::", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:1.1.1.1", true),
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("2002:7f00:1::", false),
            ("2002:101:101::", true),
            ("fe80::1", false),
            ("fc00::1", false),
            ("fd12::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("2001::1", false),
        ] {
            assert_eq!(is_public(ip.parse().unwrap()), public, "{ip}");
        }
    }

    #[test]
    fn the_settings_allow_hosts_and_networks() {
        let rules = |allow: &[&str]| Rules { allow: allow.iter().map(|a| Allowed::parse(a).unwrap()).collect() };
        let allowed = |allow: &[&str], url: &str| rules(allow).check(&Url::parse(url).unwrap()).is_ok();
        assert!(!allowed(&[], "http://127.0.0.1/"));
        assert!(!allowed(&[], "http://2130706433/"), "a number is an address too");
        assert!(!allowed(&[], "http://0x7f.1/"));
        assert!(!allowed(&[], "http://[::1]:80/"));
        assert!(!allowed(&[], "ftp://example.org/"));
        assert!(!allowed(&["10.0.0.0/8"], "http://127.0.0.1/"));
        assert!(allowed(&["127.0.0.1"], "http://127.0.0.1/"));
        assert!(!allowed(&["127.0.0.1"], "http://127.0.0.2/"));
        assert!(allowed(&["10.0.0.0/8"], "http://10.200.1.1/"));
        assert!(allowed(&["fd00::/8"], "http://[fd00::7]/"));
        assert!(allowed(&["0.0.0.0/0"], "http://192.168.0.1/"));
        assert!(rules(&["Intern.example"]).allows_name("intern.example"));
        for bad in ["", "10.0.0.0/33", "::/129", "a b", "10.0.0.0/x", "host/8"] {
            assert_eq!(Allowed::parse(bad).unwrap_err().code, "bad_host", "{bad}");
        }
    }
}
