//! Readers of the store: a few, shared by all who look, each used by one at a time.

use crate::limits;
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::reader::Reader;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// The readers of one folder.
#[derive(Clone)]
pub struct Readers {
    dir: PathBuf,
    home: Home,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Reader>>>,
}

impl Readers {
    /// None are open yet.
    pub fn new(dir: PathBuf, home: Home) -> Self {
        Self { dir, home, turns: Arc::new(Semaphore::new(limits::READERS)), idle: Arc::default() }
    }

    /// Looks at the store on a thread where waiting for the disk stops nobody.
    pub async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let gone = || Error::unavailable("engine_stopped", "the server is stopping");
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| gone())?;
        let own = self.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let idle = own.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut reader = match idle {
                Some(reader) => reader,
                None => Reader::open(&own.dir, own.home.clone())?,
            };
            let result = look(&mut reader);
            own.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            result
        });
        looked.await.unwrap_or_else(|_| Err(Error::bug("reader_panicked", "a look at the store panicked")))
    }
}
