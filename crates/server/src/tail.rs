//! Where the ledger ends, looked at by one for all streams: however many read, a quiet ledger is looked at as often as
//! for one.

use crate::limits;
use crate::readers::Readers;
use edgewise_engine::reader::Reader;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// The end of the ledger, as it was a moment ago.
#[derive(Clone)]
pub struct Tail {
    readers: Readers,
    end: watch::Sender<u64>,
    watched: Arc<AtomicBool>,
}

impl Tail {
    /// Nobody looks yet.
    pub fn new(readers: Readers) -> Self {
        Self { readers, end: watch::channel(0).0, watched: Arc::default() }
    }

    /// Hears of every move of the end, until dropped.
    pub fn listen(&self) -> watch::Receiver<u64> {
        let heard = self.end.subscribe();
        if !self.watched.swap(true, Ordering::SeqCst) {
            tokio::spawn(self.clone().look());
        }
        heard
    }

    /// Looks as long as somebody listens.
    async fn look(self) {
        loop {
            if let Ok(end) = self.readers.look(Reader::tail).await {
                self.end.send_if_modified(|known| std::mem::replace(known, end.0) != end.0);
            }
            tokio::time::sleep(limits::STREAM_PAUSE).await;
            if self.end.receiver_count() > 0 {
                continue;
            }
            self.watched.store(false, Ordering::SeqCst);
            // Somebody may have come in between: then one of us goes on.
            if self.end.receiver_count() == 0 || self.watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }
}
