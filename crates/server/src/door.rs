//! The door itself: what is kept to before a request is looked at, and what is known of whoever stands before it.

use crate::limits;
use crate::pace::{Pace, asker};
use crate::problem::Problem;
use crate::tls::Tls;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use edgewise_core::Error;
use edgewise_core::rate::Rate;
use edgewise_core::time::Millis;
use edgewise_engine::engine::Clock;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How a server listens.
pub struct Listen {
    /// Speak TLS with this pair; plain HTTP if absent.
    pub tls: Option<Tls>,
    /// How often one token may ask.
    pub token_rate: Option<Rate>,
    /// How often one address may ask.
    pub address_rate: Option<Rate>,
    /// Most connections at once.
    pub connections: usize,
    /// Most of them from one address.
    pub connections_each: usize,
    /// How long peers may take.
    pub patience: Patience,
}

/// How long a peer may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// To agree on a cipher.
    pub handshake: Duration,
    /// To send the head of a request, also of the next one on the same connection.
    pub head: Duration,
    /// To send the body of a request.
    pub body: Duration,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            tls: None,
            token_rate: None,
            address_rate: None,
            connections: limits::CONNECTIONS,
            connections_each: limits::CONNECTIONS_EACH,
            patience: Patience { handshake: limits::HANDSHAKE, head: limits::HEAD, body: limits::BODY },
        }
    }
}

/// What one server keeps to.
pub(crate) struct Door {
    pub tls: Option<Tls>,
    pub patience: Patience,
    clock: Clock,
    addresses: Pace<IpAddr>,
    tokens: Pace<(Arc<str>, String)>,
    each: usize,
    crowd: Mutex<HashMap<IpAddr, usize>>,
    turned_away: AtomicU64,
    unspoken: AtomicU64,
}

/// Whoever stands before the door.
#[derive(Clone)]
pub(crate) struct Visit {
    pub door: Arc<Door>,
    pub peer: IpAddr,
    /// The workspace whose prefix the request had; empty where only one is served.
    pub place: Arc<str>,
}

/// What the door counts of itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct DoorCounts {
    /// Connections of addresses that had too many.
    pub turned_away: u64,
    /// Connections that came to no agreement about TLS.
    pub unspoken: u64,
    /// Requests of addresses that asked too often.
    pub addresses: u64,
    /// Requests of tokens that asked too often.
    pub tokens: u64,
    /// Changed certificates that could not be used.
    pub unread: u64,
}

impl Door {
    pub fn new(listen: Listen, clock: Clock) -> Self {
        let Listen { tls, token_rate, address_rate, connections_each, patience, .. } = listen;
        Self {
            tls,
            patience,
            clock,
            addresses: Pace::new(address_rate),
            tokens: Pace::new(token_rate),
            each: connections_each,
            crowd: Mutex::default(),
            turned_away: AtomicU64::new(0),
            unspoken: AtomicU64::new(0),
        }
    }

    /// A connection of an address, unless it has too many.
    pub fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Admitted> {
        let peer = asker(peer);
        let mut crowd = self.crowd.lock().unwrap_or_else(PoisonError::into_inner);
        let count = crowd.entry(peer).or_default();
        if *count >= self.each {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        *count += 1;
        Some(Admitted { door: Arc::clone(self), peer })
    }

    /// A connection came to no agreement about TLS.
    pub fn unspoken(&self) {
        self.unspoken.fetch_add(1, Ordering::Relaxed);
    }

    pub fn counts(&self) -> DoorCounts {
        DoorCounts {
            turned_away: self.turned_away.load(Ordering::Relaxed),
            unspoken: self.unspoken.load(Ordering::Relaxed),
            addresses: self.addresses.refused(),
            tokens: self.tokens.refused(),
            unread: self.tls.as_ref().map_or(0, Tls::unread),
        }
    }
}

impl Visit {
    /// Whether the address may ask now.
    pub fn may_ask(&self) -> Result<(), Box<Response>> {
        let asked = self.door.addresses.ask(asker(self.peer), (self.door.clock)());
        asked.map_err(|wait| asks_too_often("this address", wait))
    }

    /// Whether somebody may ask now.
    pub fn may_ask_as(&self, name: &str) -> Result<(), Box<Response>> {
        let asked = self.door.tokens.ask((Arc::clone(&self.place), name.to_owned()), (self.door.clock)());
        asked.map_err(|wait| asks_too_often(name, wait))
    }
}

fn asks_too_often(who: &str, wait: Millis) -> Box<Response> {
    Box::new(too_often(format!("{who} asks too often: come again in {wait}, and ask for more at once"), wait))
}

/// Somebody is to come again after so long.
pub(crate) fn too_often(message: String, wait: Millis) -> Response {
    let seconds = wait.0.div_ceil(1_000).max(1);
    let mut response = Problem(Error::limit("too_often", message)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// One connection of an address; dropping it makes room for another.
pub(crate) struct Admitted {
    door: Arc<Door>,
    peer: IpAddr,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut crowd = self.door.crowd.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = crowd.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                crowd.remove(&self.peer);
            }
        }
    }
}
