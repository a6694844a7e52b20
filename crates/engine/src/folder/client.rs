//! A client: one conversation with the engine of another process, one request at a time.

use super::wire::{Ask, LINE_BYTES, Read, Response, Said, read_line, speak};
use edgewise_core::{Error, Result};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The engine went away; whether it heard is not known.
pub(super) const GONE: &str = "engine_gone";
/// The engine went away and did not hear it.
pub(super) const UNHEARD: &str = "engine_left";

/// A connection to an engine.
#[derive(Debug)]
pub struct Client {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
    buffer: Vec<u8>,
    last: u64,
}

impl Client {
    pub(super) fn over(stream: UnixStream) -> Self {
        let (from, to) = stream.into_split();
        Self { from: BufReader::new(from), to, buffer: Vec::new(), last: 0 }
    }

    /// Asks for one thing, and waits for the answer. A question whose answer was not waited for is forgotten.
    pub async fn ask(&mut self, ask: &Ask) -> Result<Said> {
        self.last += 1;
        let id = self.last;
        let line = speak(id, ask)?;
        // Even if it cannot be written, the engine may have said why.
        let _ = self.to.write_all(&line).await;
        loop {
            let response = self.hear().await?;
            match response {
                Response { bye: Some(read), .. } if read < id => return Err(unheard()),
                Response { bye: Some(_), .. } => return Err(gone()),
                Response { id: Some(to), error: Some(refusal), .. } if to == id || to == 0 => {
                    return Err(refusal.into());
                }
                Response { id: Some(to), ok: Some(said), .. } if to == id => return Ok(said),
                _ => {}
            }
        }
    }

    /// Returns when the engine has left.
    pub async fn ended(&mut self) {
        while let Ok(response) = self.hear().await {
            if response.bye.is_some() {
                return;
            }
        }
    }

    async fn hear(&mut self) -> Result<Response> {
        match read_line(&mut self.from, &mut self.buffer, LINE_BYTES).await {
            Read::Line(line) => Response::read(&line),
            Read::TooLong | Read::End => Err(gone()),
        }
    }
}

fn gone() -> Error {
    let message = "the engine of this folder ended before it answered; `edgewise runs` shows what it had accepted";
    Error::unavailable(GONE, message)
}

fn unheard() -> Error {
    Error::unavailable(UNHEARD, "the engine of this folder ended before it heard the question: ask again")
}
