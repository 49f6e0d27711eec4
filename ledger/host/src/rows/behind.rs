//! Writing behind: a thread of its own puts rows into the file, so that a block does not wait for
//! it.
//!
//! 1. Rows are visible at once: they wait in memory, and whoever reads looks there first.
//! 2. The thread takes all that wait and writes them in one batch, in the order of their keys.
//!    Until that is done they stay where readers find them. It begins with [`BATCH`] rows, or
//!    after [`PAUSE`]: each batch writes whole pages again, which the rows of several blocks share.
//! 3. Beyond [`MOST`] rows that wait, or twice [`BATCH_BYTES`], the next ones wait for the thread.
//! 4. The thread makes rows safe too, on request: those that were there when it was asked
//!    ([`Behind::begin_flush`]), since only of their blocks it is known that they are safe.
//! 5. A failure of the file, of reading or of writing, is remembered; what waits then stays.

use super::file::{Error, File};
use super::{Row, last_of};
use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Rows that wait at the most, those that are being written left out: some thirty megabytes.
const MOST: usize = 131_072;
/// Rows for which the thread does not wait for more. The accounts' histories grow at as many places
/// of the file as there are accounts: the more rows are written together, the more share a page.
const BATCH: usize = 65_536;
/// The same of their bytes: the record of one auction may have a megabyte and more.
const BATCH_BYTES: usize = 16 << 20;
/// How long it waits for them.
const PAUSE: Duration = Duration::from_secs(20);

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Debug, Default)]
struct Queue {
    waiting: Map,
    /// Bytes of these, or more.
    bytes: usize,
    /// Older ones that are to be made safe.
    to_be_safe: Option<Map>,
    /// What the thread writes now.
    writing: Arc<Map>,
    /// So many wait until all is written.
    hurried: usize,
    /// Rows are to be made safe, or are being.
    flushing: bool,
    /// Nothing more comes.
    closed: bool,
}

#[derive(Debug)]
struct Shared {
    file: File,
    queue: Mutex<Queue>,
    /// Rows have come, or were written, or there will be none.
    turned: Condvar,
    failed: AtomicBool,
}

/// A file and the thread that writes to it.
#[derive(Debug)]
pub(crate) struct Behind {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.turned.notify_all();
        if self
            .writer
            .take()
            .is_some_and(|writer| writer.join().is_err())
        {
            tracing::warn!("the index was not written to the end");
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Each change leaves it whole.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        let turned = self.turned.wait(queue);
        turned.unwrap_or_else(PoisonError::into_inner)
    }
    /// Waits for more rows, as long as nobody waits for those that are there.
    fn gather<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        let turned = self
            .turned
            .wait_timeout_while(queue, PAUSE, |queue| queue.may_gather());
        turned.unwrap_or_else(PoisonError::into_inner).0
    }
    fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
    fn fail(&self, error: &Error, deed: &str) {
        // Nobody is between a look at this and the wait for a turn.
        let queue = self.queue();
        self.failed.store(true, Ordering::Relaxed);
        drop(queue);
        self.turned.notify_all();
        tracing::warn!(%error, "cannot {deed} the index");
    }
    /// Writes what waits until nothing more comes, or the file fails.
    fn write(&self) {
        loop {
            let (batch, safely) = {
                let mut queue = self.queue();
                while queue.has_nothing_to_do() && !queue.closed {
                    queue = self.wait(queue);
                }
                if queue.has_nothing_to_do() {
                    return;
                }
                queue = self.gather(queue);
                let (rows, safely) = match queue.to_be_safe.take() {
                    Some(rows) => (rows, true),
                    None => (queue.take_waiting(), false),
                };
                queue.writing = Arc::new(rows);
                (Arc::clone(&queue.writing), safely)
            };
            let written = match safely {
                true => self.file.write_safely(batch.iter()),
                false => self.file.write(batch.iter()),
            };
            match &written {
                Ok(()) => self.queue().written(safely),
                Err(error) => self.fail(error, "write"),
            }
            self.turned.notify_all();
            if written.is_err() {
                return;
            }
        }
    }
}

impl Queue {
    fn has_nothing_to_do(&self) -> bool {
        self.waiting.is_empty() && self.to_be_safe.is_none()
    }
    fn may_gather(&self) -> bool {
        let is_small = self.waiting.len() < BATCH && self.bytes < BATCH_BYTES;
        is_small && self.hurried == 0 && !self.flushing && !self.closed
    }
    fn has_room(&self) -> bool {
        self.waiting.len() <= MOST && self.bytes <= 2 * BATCH_BYTES
    }
    fn take_waiting(&mut self) -> Map {
        self.bytes = 0;
        std::mem::take(&mut self.waiting)
    }
    fn written(&mut self, safely: bool) {
        self.writing = Arc::default();
        self.flushing &= !safely;
    }
    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.has_nothing_to_do() && self.writing.is_empty()
    }
    /// All rows that are not in the file for certain, the newest last.
    fn parts(&self) -> [&Map; 3] {
        static NONE: Map = Map::new();
        let to_be_safe = self.to_be_safe.as_ref().unwrap_or(&NONE);
        [&*self.writing, to_be_safe, &self.waiting]
    }
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut newest_first = self.parts().into_iter().rev();
        newest_first.find_map(|part| part.get(key)).cloned()
    }
    /// Those from `start` on and before `end`, at most the last `limit` of either part.
    fn range(&self, start: &[u8], end: &[u8], limit: usize) -> Map {
        let bounds = (Bound::Included(start), Bound::Excluded(end));
        let mut found = Map::new();
        for part in self.parts() {
            found.extend(last_of(part.range::<[u8], _>(bounds), limit));
        }
        found
    }
}

impl Behind {
    pub(super) fn open(directory: &Path) -> Result<Behind, Error> {
        let shared = Arc::new(Shared {
            file: File::open(directory)?,
            queue: Mutex::default(),
            turned: Condvar::new(),
            failed: AtomicBool::new(false),
        });
        let of_writer = Arc::clone(&shared);
        let writer = thread::Builder::new().name("index".to_owned());
        let writer = writer.spawn(move || of_writer.write());
        let writer = writer.map_err(|error: io::Error| Box::new(error.into()))?;
        let writer = Some(writer);
        Ok(Behind { shared, writer })
    }
    /// Whether rows could not be read or written: what seems to be missing may be there.
    pub(super) fn failed(&self) -> bool {
        self.shared.failed()
    }
    #[cfg(test)]
    pub(super) fn fail(&self) {
        self.shared.failed.store(true, Ordering::Relaxed);
    }
    fn read<T: Default>(&self, answer: Result<T, Error>) -> T {
        answer.unwrap_or_else(|error| {
            self.shared.fail(&error, "read");
            T::default()
        })
    }
    /// The values of keys, in their order; none at all if the file failed.
    pub(super) fn get(&self, keys: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let mut found: Vec<_> = {
            let queue = self.shared.queue();
            keys.iter().map(|key| queue.get(key)).collect()
        };
        let is_missing = |(_, value): &(&&[u8], &mut Option<Vec<u8>>)| value.is_none();
        let missing = keys.iter().zip(&mut found).filter(is_missing);
        let (keys, places): (Vec<&[u8]>, Vec<_>) = missing.unzip();
        if keys.is_empty() {
            return found;
        }
        let read = self.read(self.shared.file.get(&keys));
        if read.is_empty() {
            return Vec::new();
        }
        for (place, value) in places.into_iter().zip(read) {
            *place = value;
        }
        found
    }
    /// The last rows from `start` on and before `end`, descending.
    pub(super) fn last(&self, start: &[u8], end: &[u8], limit: usize) -> Vec<Row> {
        // In this order: what is written meanwhile is in the file then.
        let newest = self.shared.queue().range(start, end, limit);
        let read = self.read(self.shared.file.last(start, end, limit));
        let mut found: Map = read.into_iter().collect();
        found.extend(newest);
        found.into_iter().rev().take(limit).collect()
    }
    /// The values of all keys from `start` on and before `end`, ascending.
    pub(super) fn values(&self, start: &[u8], end: &[u8]) -> Vec<Vec<u8>> {
        let newest = self.shared.queue().range(start, end, usize::MAX);
        let read = self.read(self.shared.file.all(start, end));
        let mut found: Map = read.into_iter().collect();
        found.extend(newest);
        found.into_values().collect()
    }
    /// Adds rows, all or none.
    pub(super) fn write(&self, rows: Vec<Row>) {
        let mut queue = self.shared.queue();
        while !queue.has_room() && !self.failed() {
            queue = self.shared.wait(queue);
        }
        queue.bytes += rows.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>();
        queue.waiting.extend(rows);
        drop(queue);
        self.shared.turned.notify_all();
    }
    /// Waits until no row waits, or the file failed.
    #[cfg(test)]
    pub(super) fn drain(&self) {
        drop(self.wait_until(Queue::is_empty));
    }
    fn wait_until(&self, done: impl Fn(&Queue) -> bool) -> MutexGuard<'_, Queue> {
        let mut queue = self.shared.queue();
        queue.hurried += 1;
        self.shared.turned.notify_all();
        while !done(&queue) && !self.failed() {
            queue = self.shared.wait(queue);
        }
        queue.hurried -= 1;
        queue
    }
    /// See [`super::Rows::begin_flush`].
    pub(super) fn begin_flush(&self) {
        let mut queue = self.wait_until(|queue| !queue.flushing);
        queue.to_be_safe = Some(queue.take_waiting());
        queue.flushing = true;
        drop(queue);
        self.shared.turned.notify_all();
    }
    /// Waits until what was asked for is safe, or the file failed.
    #[cfg(test)]
    pub(super) fn end_flush(&self) {
        drop(self.wait_until(|queue| !queue.flushing));
    }
}
