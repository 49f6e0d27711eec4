//! A line about an action whose end is not known yet.

use super::book::{Action, Book};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// The line. If nobody waits for that end any more, it is written as it stands: the action may have
/// been done in part.
pub(crate) struct Pending {
    book: Book,
    action: Option<Action>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        let Some(action) = self.action.take() else {
            return;
        };
        let line = Unwritten::new(&self.book, action);
        match Handle::try_current() {
            // The disk takes its time, and other tasks of this thread have none to lose.
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(line))),
            Err(_) => drop(line),
        }
    }
}

/// A line that is written when it is dropped: also by a runtime that ends before its turn.
struct Unwritten {
    book: Book,
    action: Option<Action>,
    /// Tells [`Book::settled`] that there is something to wait for.
    _late: watch::Receiver<()>,
}

impl Unwritten {
    fn new(book: &Book, action: Action) -> Unwritten {
        Unwritten {
            book: book.clone(),
            action: Some(action),
            _late: book.late(),
        }
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        if let Some(action) = self.action.take() {
            self.book.write(action);
        }
    }
}

impl Pending {
    /// An action that begins.
    pub(crate) fn new(book: Book, action: Action) -> Pending {
        let action = Some(action);
        Pending { book, action }
    }
    /// Writes down what came of it, before the one who waits for it hears that.
    pub(crate) async fn ends(mut self, tell: impl FnOnce(&mut Action)) {
        let Some(mut action) = self.action.take() else {
            return;
        };
        tell(&mut action);
        let line = Unwritten::new(&self.book, action);
        // The line is written even if nobody waits for it.
        let _written = tokio::task::spawn_blocking(move || drop(line)).await;
    }
}
