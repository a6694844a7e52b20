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
    /// Whether the engine has said anything: it greets before it reads.
    greeted: bool,
}

impl Client {
    pub(super) fn over(stream: UnixStream) -> Self {
        let (from, to) = stream.into_split();
        Self { from: BufReader::new(from), to, buffer: Vec::new(), last: 0, greeted: false }
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
            Read::Line(line) => {
                self.greeted = true;
                Response::read(&line)
            }
            // It ended with this connection still in line: nothing of it was read.
            Read::End if !self.greeted => Err(unheard()),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a client is told when an engine ends that has said this much.
    async fn told(said: &str) -> &'static str {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(said.as_bytes()).await.unwrap();
        drop(theirs);
        Client::over(ours).ask(&Ask::Ping).await.unwrap_err().code
    }

    #[tokio::test]
    async fn who_was_never_greeted_was_not_heard_and_may_ask_elsewhere() {
        assert_eq!(told("").await, UNHEARD);
        assert_eq!(told("{}\n").await, GONE);
        assert_eq!(told("{}\n{\"bye\":0}\n").await, UNHEARD);
        assert_eq!(told("{}\n{\"bye\":1}\n").await, GONE);
    }
}
