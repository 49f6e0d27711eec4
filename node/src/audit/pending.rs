//! A line about an action whose end is not known yet.

use super::book::Book;
use super::files::Action;

/// The line. If nobody waits for that end any more, it is written as it stands: the action may have
/// been done in part.
pub(crate) struct Pending {
    book: Book,
    action: Option<Action>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(action) = self.action.take() {
            drop(self.book.write(action));
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
        self.book.write(action).await;
    }
}
