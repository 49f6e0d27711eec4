//! The log of one node, as those see it who have something to tell: a thread of its own writes the
//! files. Lines that come while it writes others go together, with one sync for all of them.

use super::files::{Action, Files};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// Lines that are written together at the most.
const BATCH: usize = 1_024;

/// The log. Cheap to clone; with the last clone ends its thread, after all it was told.
#[derive(Clone, Debug)]
pub struct Book(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    /// The thread ends when this does.
    told: Option<Sender<Told>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is told: an action that is to be a line, or nothing, to hear when all before is
/// written.
#[derive(Debug)]
struct Told {
    action: Option<Action>,
    written: oneshot::Sender<()>,
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.told = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

impl Book {
    /// The log in a data folder. A line tells that the node begins, and whether the log was whole.
    ///
    /// # Errors
    /// The disk failed, or there is no thread to be had.
    pub fn open(home: &Path) -> io::Result<Book> {
        Book::of(Files::open(home)?)
    }

    fn of(files: Files) -> io::Result<Book> {
        let (told, hears) = mpsc::channel();
        let thread = thread::Builder::new().name("audit".to_owned());
        let thread = thread.spawn(move || serve(files, &hears))?;
        Ok(Book(Arc::new(Desk {
            told: Some(told),
            thread: Some(thread),
        })))
    }

    /// Tells of an action: what this returns is ready when the line is on disk. The line is written
    /// also if nobody waits for that.
    pub(crate) fn write(&self, action: Action) -> impl Future<Output = ()> + use<> {
        self.tell(Some(action))
    }

    /// Is ready when all is written that was told before.
    pub(crate) async fn settled(&self) {
        self.tell(None).await;
    }

    fn tell(&self, action: Option<Action>) -> impl Future<Output = ()> + use<> {
        let (written, heard) = oneshot::channel();
        let told = Told { action, written };
        if self.0.told.as_ref().is_none_or(|t| t.send(told).is_err()) {
            tracing::error!("the audit log has ended: an action is missing in it");
        }
        async move { heard.await.unwrap_or_default() }
    }
}

/// Writes what is told until nobody can tell more.
fn serve(mut files: Files, hears: &Receiver<Told>) {
    while let Ok(first) = hears.recv() {
        let more = hears.try_iter().take(BATCH - 1);
        let all = std::iter::once(first).chain(more);
        let (actions, written): (Vec<_>, Vec<_>) = all.map(|t| (t.action, t.written)).unzip();
        files.write(actions.into_iter().flatten());
        for written in written {
            let _gone = written.send(());
        }
    }
}

#[cfg(test)]
mod tests;
