//! Events as they happen: a stream that goes on behind the last event seen, however often it is cut off.
//!
//! That a connection ends says nothing: the server may be stopping, or have lost patience with a slow reader, or not trust
//! the token any more. A stream of a run is over when the run is, and nothing more comes after that was heard.

use super::{Client, runs};
use crate::error::{Error, Result};
use crate::wire::Ended;
use edgewise_core::Kind;
use reqwest::{Method, Response, header};
use serde_json::Value;
use std::time::Duration;

/// A server that streams says four times as often that it is there.
const SILENCE: Duration = Duration::from_secs(60);

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its place in the stream; empty for one that has none, such as a fast domain event.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it says.
    pub data: Value,
}

/// A stream of events.
pub struct Events {
    client: Client,
    path: String,
    /// The id of the last event that was given out and had one.
    last: Option<String>,
    /// The run was over before this connection, and nothing came over it.
    over: bool,
    open: Option<Response>,
    text: Vec<u8>,
    tries: u32,
}

impl Client {
    /// The events of a run as they are committed, until it ends; behind the one with an id, or all of them.
    pub fn events(&self, run: &str, after: Option<&str>) -> Events {
        self.stream(&runs::of(run, "/events"), after)
    }

    /// The events of any address of the server that streams them; those of a run until it ends.
    pub fn stream(&self, path: &str, after: Option<&str>) -> Events {
        let (client, path, last) = (self.clone(), path.to_owned(), after.map(str::to_owned));
        Events { client, path, last, over: false, open: None, text: Vec::new(), tries: 0 }
    }
}

impl Events {
    /// The next event; `None` when the run has ended and no more will come.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.read() {
                if !event.id.is_empty() {
                    self.last = Some(event.id.clone());
                }
                (self.tries, self.over) = (0, false);
                return Ok(Some(event));
            }
            let Some(open) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            let Ok(came) = tokio::time::timeout(SILENCE, open.chunk()).await else {
                let address = format!("{}{}", self.client.address(), self.path);
                let message = format!("{address} says nothing any more: check what stands between");
                self.cut_off(Error::new(Kind::Unavailable, "stream_silent", message)).await?;
                continue;
            };
            match came {
                // Also that the server is still there: what is quiet is no trouble.
                Ok(Some(bytes)) => {
                    self.text.extend_from_slice(&bytes);
                    self.tries = 0;
                }
                Ok(None) if self.over => return Ok(None),
                Ok(None) => self.ended().await?,
                // Cut off in the middle: what was not whole comes again.
                Err(error) => {
                    let error = self.client.away(&error);
                    self.cut_off(error).await?;
                }
            }
        }
    }

    async fn connect(&mut self) -> Result<()> {
        self.text.clear();
        let request = self.client.request(Method::GET, &self.path).header(header::ACCEPT, "text/event-stream");
        let request = match &self.last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                let error = self.client.away(&error);
                return self.cut_off(error).await;
            }
        };
        let status = response.status();
        if status.is_success() {
            self.open = Some(response);
            return Ok(());
        }
        let body = response.bytes().await.unwrap_or_default();
        let address = format!("{}{}", self.client.address(), self.path);
        self.cut_off(Error::refused(status.as_u16(), &body, &address)).await
    }

    /// The connection has ended. What a run that is over had still to tell comes with the next one.
    async fn ended(&mut self) -> Result<()> {
        self.open = None;
        if let Some(run) = self.path.strip_suffix("/events").filter(|path| path.starts_with(runs::ALL)) {
            let end: Ended = self.client.get(&format!("{run}/end")).await?;
            self.over = end.state.is_some();
        }
        if self.over {
            return Ok(());
        }
        let address = format!("{}{}", self.client.address(), self.path);
        let message = format!("{address} ended before its events did, again and again: check what stands between");
        self.cut_off(Error::new(Kind::Unavailable, "stream_ended", message)).await
    }

    /// Waits before the next try, or says that there is none.
    async fn cut_off(&mut self, error: Error) -> Result<()> {
        self.open = None;
        self.tries += 1;
        let backoff = self.client.backoff();
        if !error.is_passing() || error.code == "older_server" || self.tries >= backoff.tries {
            return Err(error);
        }
        tokio::time::sleep(backoff.after(self.tries)).await;
        Ok(())
    }

    /// Takes one whole event out of what was received.
    fn read(&mut self) -> Option<Event> {
        loop {
            let end = self.text.windows(2).position(|pair| pair == b"\n\n")?;
            let block: Vec<u8> = self.text.drain(..end + 2).collect();
            if let Some(event) = event_of(&String::from_utf8_lossy(&block)) {
                return Some(event);
            }
        }
    }
}

/// The event of a block of lines; `None` for one that only says that the server is still there.
fn event_of(block: &str) -> Option<Event> {
    let (mut id, mut name, mut data) = (String::new(), String::new(), String::new());
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => value.clone_into(&mut id),
            "event" => value.clone_into(&mut name),
            "data" => {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(value);
            }
            _ => {}
        }
    }
    if data.is_empty() {
        return None;
    }
    // What is no JSON is told as the text that it is.
    let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
    Some(Event { id, name, data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(block: &str, event: Option<(&str, &str, Value)>) {
        let expected = event.map(|(id, name, data)| Event { id: id.into(), name: name.into(), data });
        assert_eq!(event_of(block), expected, "{block}");
    }

    #[test]
    fn a_block_of_lines_is_an_event_or_a_sign_of_life() {
        check("id: 7\nevent: run_started\ndata: {\"a\":1}\n\n", Some(("7", "run_started", json!({ "a": 1 }))));
        check("data:[1,\ndata:2]\n\n", Some(("", "", json!([1, 2]))));
        check("data: plain\n\n", Some(("", "", json!("plain"))));
        check(": still here\n\n", None);
        check("id: 7\n\n", None);
    }
}
