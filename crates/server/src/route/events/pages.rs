//! What many read is looked at once: readers of a workspace's events who stand at the same place share one look, and
//! one text. Looks are made one at a time, so that however many read, they take one thread from whoever works.

use super::write;
use crate::limits;
use crate::readers::Readers;
use axum::body::Bytes;
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_engine::reader::Reader;
use edgewise_store::Position;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Events behind a place, as they are told.
#[derive(Debug, Default)]
pub struct Page {
    /// Where the next page begins.
    pub to: Position,
    /// All of them.
    pub text: Bytes,
    /// Each of them.
    pub events: Vec<Marked>,
}

/// What an event is found by, and where it is told in the page.
#[derive(Debug)]
pub struct Marked {
    pub position: u64,
    pub place: u32,
    pub kind: String,
    pub run: Option<RunId>,
    pub at: Range<usize>,
}

/// The last few pages, by where they begin.
#[derive(Default)]
pub struct Pages(Mutex<VecDeque<(Position, Arc<Page>)>>);

impl Pages {
    /// What stands behind a place; nothing if nothing does yet.
    pub async fn after(&self, at: Position, readers: &Readers) -> Result<Arc<Page>> {
        self.shared(at, || readers.look(move |reader| read(reader, at))).await
    }

    async fn shared<F: Future<Output = Result<Page>>>(
        &self,
        at: Position,
        look: impl FnOnce() -> F,
    ) -> Result<Arc<Page>> {
        let mut kept = self.0.lock().await;
        if let Some((_, page)) = kept.iter().find(|(from, _)| *from == at) {
            return Ok(Arc::clone(page));
        }
        let page = Arc::new(look().await?);
        // Behind the end there may be more a moment later.
        if page.to != at {
            kept.push_front((at, Arc::clone(&page)));
            kept.truncate(limits::STREAM_PAGES);
        }
        Ok(page)
    }
}

fn read(reader: &mut Reader, at: Position) -> Result<Page> {
    let (told, to) = reader.told(at, limits::STREAM_RECORDS)?;
    let (mut text, mut events) = (Vec::new(), Vec::with_capacity(told.len()));
    for event in told {
        let begin = text.len();
        write(&mut text, format_args!("{}.{}", event.position, event.place), &event.kind, &event)?;
        let (position, place, kind, run) = (event.position, event.place, event.kind, event.run);
        events.push(Marked { position, place, kind, run, at: begin..text.len() });
    }
    Ok(Page { to, text: text.into(), events })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn readers_at_the_same_place_share_one_look_and_the_end_is_looked_at_again() {
        let (pages, looks) = (Pages::default(), AtomicUsize::new(0));
        let look = |at: u64, to: u64| {
            looks.fetch_add(1, Ordering::Relaxed);
            async move { Ok(Page { to: Position(to.max(at)), ..Page::default() }) }
        };
        for _ in 0..200 {
            assert_eq!(pages.shared(Position(5), || look(5, 9)).await.unwrap().to, Position(9));
        }
        assert_eq!(looks.load(Ordering::Relaxed), 1);
        for to in [9, 9, 12] {
            assert_eq!(pages.shared(Position(9), || look(9, to)).await.unwrap().to, Position(to));
        }
        assert_eq!(looks.load(Ordering::Relaxed), 4, "nothing new is not kept");
        for at in 100..100 + 2 * limits::STREAM_PAGES as u64 {
            pages.shared(Position(at), || look(at, at + 1)).await.unwrap();
        }
        assert_eq!(pages.0.lock().await.len(), limits::STREAM_PAGES, "only the last few are kept");
    }
}
