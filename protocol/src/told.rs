//! Words for people beside a refusal's word: one text and one hint wherever it is told.

/// A reason in a word, with its words for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The reason in a word, as programs see it everywhere.
    pub word: &'static str,
    /// The fault, as it stands in the documents of the code.
    about: &'static str,
    /// The way out, in lower case.
    pub hint: &'static str,
}

impl Told {
    /// A fault's word, its text and the way out of it.
    pub const fn new(word: &'static str, about: &'static str, hint: &'static str) -> Told {
        Told { word, about, hint }
    }

    /// The fault: a phrase that begins in upper case, without a full stop.
    pub fn wrong(&self) -> &'static str {
        self.about.trim().trim_end_matches('.')
    }
}
