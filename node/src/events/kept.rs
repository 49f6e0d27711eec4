//! Readers of events, and what is kept for them.

use super::buffer::{Buffer, Happened};
use crate::api::limits::STREAMS;
use crate::api::shares::{Share, Shares};
use crate::api::{Answer, ApiError, Bearer, ErrorCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Streams of events, and what they tell. Clones are the same.
#[derive(Clone)]
pub(crate) struct Kept(Arc<Shared>);

struct Shared {
    readers: Arc<Semaphore>,
    shares: Shares,
    buffer: Mutex<Option<Buffer>>,
    /// Counts the changes of the buffer.
    turn: watch::Sender<u64>,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept(Arc::new(Shared {
            readers: Arc::new(Semaphore::new(STREAMS)),
            shares: Shares::new(STREAMS, "streams of events open"),
            buffer: Mutex::new(None),
            turn: watch::Sender::new(0),
        }))
    }
}

/// A place among the readers.
pub(super) struct Permit {
    _held: (Share, OwnedSemaphorePermit),
}

/// One reader: where it is, and its place among the readers.
pub(super) struct Reader {
    kept: Kept,
    at: u64,
    turn: watch::Receiver<u64>,
    _permit: Permit,
}

/// What a reader is told next.
pub(super) enum Told {
    /// Events, each with its id.
    Events(Vec<(String, Happened)>),
    /// It missed some, and goes on from the id.
    Reset(String),
}

impl Kept {
    fn buffer(&self) -> MutexGuard<'_, Option<Buffer>> {
        // Every change leaves the buffer whole.
        self.0.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A place for a reader. While anybody has one, nothing is forgotten as a whole.
    pub(super) fn permit(&self, bearer: Option<&Bearer>) -> Answer<Permit> {
        let share = self.0.shares.take(bearer)?;
        let permit = Arc::clone(&self.0.readers).try_acquire_owned();
        let held = permit.map_err(|_| {
            let why = format!("{STREAMS} streams of events are open already");
            ApiError::new(ErrorCode::Busy, why, "close one of them")
        })?;
        Ok(Permit {
            _held: (share, held),
        })
    }
    /// Whether anything is kept.
    pub(super) fn is_kept(&self) -> bool {
        self.buffer().is_some()
    }
    /// Whether anybody reads.
    pub(super) fn is_read(&self) -> bool {
        self.0.readers.available_permits() < STREAMS
    }
    /// Keeps events from now on, under a fresh name; false if they are kept already.
    pub(super) fn begin(&self, name: String) -> bool {
        let mut buffer = self.buffer();
        let begins = buffer.is_none();
        buffer.get_or_insert_with(|| Buffer::new(name));
        begins
    }
    /// Forgets all, unless somebody reads; whether it did.
    pub(super) fn forget(&self) -> bool {
        let mut buffer = self.buffer();
        let unread = !self.is_read();
        if unread {
            *buffer = None;
        }
        unread
    }
    /// Takes in events.
    pub(super) fn push(&self, events: &[(&'static str, String)]) {
        if let Some(buffer) = self.buffer().as_mut() {
            for (kind, data) in events {
                buffer.push(kind, data);
            }
        }
        self.0.turn.send_modify(|turn| *turn += 1);
    }
    /// A reader who has seen the event `id`, or begins if `None`. The second value tells one whose
    /// next events are not here any more to begin anew, with the id of where it is.
    pub(super) fn reader(&self, permit: Permit, id: Option<&str>) -> (Reader, Option<String>) {
        let turn = self.0.turn.subscribe();
        let buffer = self.buffer();
        let last = buffer.as_ref().map_or(0, Buffer::last);
        let found = buffer
            .as_ref()
            .zip(id)
            .and_then(|(buffer, id)| buffer.place(id));
        let missed = id.is_some() && found.is_none();
        let reset = buffer
            .as_ref()
            .filter(|_| missed)
            .map(|buffer| buffer.id(last));
        drop(buffer);
        let reader = Reader {
            kept: self.clone(),
            at: found.unwrap_or(last),
            turn,
            _permit: permit,
        };
        (reader, reset)
    }
}

impl Reader {
    /// The id behind which it goes on.
    pub(super) fn place(&self) -> Option<String> {
        self.kept.buffer().as_ref().map(|buffer| buffer.id(self.at))
    }
    /// Waits for what comes next; `None` when nothing more will.
    pub(super) async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(told) = self.waiting() {
                return Some(told);
            }
            self.turn.changed().await.ok()?;
        }
    }
    /// What is there for it now.
    fn waiting(&mut self) -> Option<Told> {
        let buffer = self.kept.buffer();
        let buffer = buffer.as_ref()?;
        if !buffer.reaches(self.at) {
            self.at = buffer.last();
            return Some(Told::Reset(buffer.id(self.at)));
        }
        let events = buffer.after(self.at);
        self.at = events.last()?.number;
        let with_id = |event: Happened| (buffer.id(event.number), event);
        Some(Told::Events(events.into_iter().map(with_id).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;

    fn numbers(told: Option<Told>) -> Vec<String> {
        match told {
            Some(Told::Events(events)) => events.into_iter().map(|(id, _)| id).collect(),
            Some(Told::Reset(id)) => vec![format!("reset {id}")],
            None => vec![],
        }
    }

    #[tokio::test]
    async fn a_reader_gets_what_comes_and_what_it_missed() {
        let kept = Kept::default();
        assert!(kept.begin("ab".to_owned()) && !kept.begin("cd".to_owned()));
        let (mut reader, reset) = kept.reader(kept.permit(None).unwrap(), None);
        assert_eq!((reset, reader.place().as_deref()), (None, Some("ab-0")));
        kept.push(&[("job", "1".to_owned()), ("job", "2".to_owned())]);
        assert_eq!(numbers(reader.next().await), ["ab-1", "ab-2"]);
        assert!(!kept.forget(), "somebody reads");
        drop(reader);
        let (mut reader, reset) = kept.reader(kept.permit(None).unwrap(), Some("ab-1"));
        assert_eq!((reset, reader.place().as_deref()), (None, Some("ab-1")));
        assert_eq!(numbers(reader.next().await), ["ab-2"]);
        drop(reader);
        assert!(kept.forget() && !kept.is_kept());
        kept.begin("ef".to_owned());
        let (_reader, reset) = kept.reader(kept.permit(None).unwrap(), Some("ab-2"));
        assert_eq!(reset.as_deref(), Some("ef-0"));
    }

    #[tokio::test]
    async fn a_slow_reader_is_told_that_it_missed_something() {
        let kept = Kept::default();
        kept.begin("ab".to_owned());
        let (mut reader, _) = kept.reader(kept.permit(None).unwrap(), None);
        for n in 0..super::super::buffer::KEPT + 1 {
            kept.push(&[("job", n.to_string())]);
        }
        assert_eq!(numbers(reader.next().await), ["reset ab-1025"]);
    }

    #[test]
    fn readers_are_bounded() {
        let kept = Kept::default();
        let all: Vec<_> = (0..STREAMS).map(|_| kept.permit(None).unwrap()).collect();
        assert_eq!(kept.permit(None).err().unwrap().code, ErrorCode::Busy);
        drop(all);
        let (name, scope) = (Some("watcher".to_owned()), Scope::Read);
        let bearer = Bearer { name, scope };
        let own: Vec<_> = (0..STREAMS / 4)
            .map(|_| kept.permit(Some(&bearer)).unwrap())
            .collect();
        let error = kept.permit(Some(&bearer)).err().unwrap();
        assert_eq!(error.code, ErrorCode::Busy);
        assert!(kept.permit(None).is_ok(), "others have theirs");
        drop(own);
        assert!(!kept.is_read() && kept.permit(None).is_ok());
    }
}
