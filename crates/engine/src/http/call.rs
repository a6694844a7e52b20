//! A body sent to an address whose answer matters: its status, how long it asks to wait, and its body, bounded.
//!
//! Redirects are not followed: what is signed for one address is not sent to another.

use super::{CONNECT, Http, not_sent, response};
use edgewise_core::time::Millis;
use reqwest::Url;
use tokio::net::TcpStream;

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The status.
    pub status: u16,
    /// How long the other side asks to wait.
    pub retry_after: Option<Millis>,
    /// The body, if the status is 200; of another answer it is not read.
    pub body: Vec<u8>,
}

/// Why nothing came back that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missed {
    /// Nothing was sent: no connection, or the address may not be asked.
    Unreached(String),
    /// Something may have been sent, and no whole answer came.
    BrokenOff(String),
    /// The body has more bytes than it may have.
    TooLarge(usize),
}

impl Http {
    /// Whether somebody listens at an address that may be asked: connects, and says nothing.
    pub async fn reach(&self, url: &str) -> Result<(), String> {
        let url = Url::parse(url).map_err(|_| "the address cannot be read".to_owned())?;
        self.rules.check(&url).map_err(|failure| failure.message)?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let addresses = self.rules.resolve(&host, url.port_or_known_default().unwrap_or(0)).await;
        let addresses = addresses.map_err(|error| format!("no response from {host}: {error}"))?;
        let connected = tokio::time::timeout(CONNECT, TcpStream::connect(&addresses[..])).await;
        match connected {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(format!("no response from {host}: {error}")),
            Err(_) => Err(format!("no response from {host} within {CONNECT:?}")),
        }
    }

    /// Sends a body, and gives what was answered, at most so many bytes of it. Takes as long as it takes.
    pub async fn call(
        &self,
        url: &str,
        headers: Vec<(&'static str, String)>,
        body: String,
        most: usize,
    ) -> Result<Called, Missed> {
        let url = Url::parse(url).map_err(|_| Missed::Unreached("the address cannot be read".into()))?;
        let client = self.rules.check(&url).and_then(|()| self.client());
        let mut request = client.map_err(|failure| Missed::Unreached(failure.message))?.post(url.clone()).body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let mut answer = request.send().await.map_err(|error| {
            let why = not_sent(&url, &error).message;
            if error.is_connect() || error.is_builder() { Missed::Unreached(why) } else { Missed::BrokenOff(why) }
        })?;
        let (status, mut body) = (answer.status().as_u16(), Vec::new());
        let retry_after = response::asked_to_wait(answer.headers(), (self.clock)());
        while status == 200
            && let Some(chunk) = answer.chunk().await.map_err(|error| Missed::BrokenOff(error.to_string()))?
        {
            if body.len() + chunk.len() > most {
                return Err(Missed::TooLarge(most));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Called { status, retry_after, body })
    }
}
