//! Tokens of programs that use the API over HTTP: a text file in the data folder, a line each, as
//! in `backup read 1764316800000 never 3f5a..`.
//!
//! 1. A token holds 256 random bits and is shown once. The file has its hash alone, so that a copy
//!    of the file opens nothing.
//! 2. A change is in the file, whole, before it counts. A file that cannot be read, or a line that
//!    makes no sense, keeps the node from starting: it may be the word that a token is revoked.
//! 3. There are [`MOST`] tokens at the most. Those that ended make room for new ones.
//!
//! The book is told the time and the secrets.

use super::{read_text, replace_file};
use crate::api::scope::Scope;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tokens at the most.
pub const MOST: usize = 64;
/// Characters of a name at the most.
pub const NAME_CHARS: usize = 64;
/// Bytes read at the most.
const BYTES: u64 = 64 << 10;

/// Hash of a token.
type Mark = [u8; 32];

/// Why a token was not made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The name has other characters, or too many.
    #[error(
        "a name has 1 to {NAME_CHARS} letters, digits, dots, underscores and hyphens, the first of them a letter or digit"
    )]
    Name,
    /// There is one of that name.
    #[error("there is a token of that name already")]
    Taken,
    /// There is none.
    #[error("there is no token of that name")]
    Unknown,
    /// There are too many.
    #[error("there are {MOST} tokens already")]
    Full,
    /// The disk failed.
    #[error("cannot write down the tokens")]
    Disk(#[source] io::Error),
}

/// A token, without what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it may do.
    pub scope: Scope,
    /// When it was made, milliseconds since 1970.
    pub made_ms: u64,
    /// When it ends; never if `None`.
    pub ends_ms: Option<u64>,
    mark: Mark,
}

impl Token {
    /// Whether it counts at a time.
    pub fn counts(&self, now_ms: u64) -> bool {
        self.ends_ms.is_none_or(|ends| now_ms < ends)
    }
}

/// The tokens of one data folder. Clones are the same book.
#[derive(Clone, Debug)]
pub struct TokenBook(Arc<Book>);

#[derive(Debug)]
struct Book {
    path: PathBuf,
    tokens: Mutex<BTreeMap<String, Token>>,
}

impl TokenBook {
    /// Those in a file; none if there is no file.
    ///
    /// # Errors
    /// If it is there and cannot be read or understood.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<TokenBook> {
        let path = path.into();
        let text = read_text(&path, BYTES)?;
        let mut tokens = BTreeMap::new();
        for line in text.lines() {
            let Some((name, token)) = parse(line) else {
                let why = format!("{}: a line makes no sense", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            };
            tokens.insert(name, token);
        }
        let tokens = Mutex::new(tokens);
        Ok(TokenBook(Arc::new(Book { path, tokens })))
    }
    /// All tokens by name.
    pub fn all(&self) -> BTreeMap<String, Token> {
        self.tokens().clone()
    }
    /// The name of the token that is `secret`, and what its bearer may do now; `None` of what is no
    /// token, or no longer.
    pub fn of(&self, secret: &str, now_ms: u64) -> Option<(String, Scope)> {
        // Comparing hashes takes the same time wherever a guess goes wrong.
        let mark = blake3::Hash::from(mark(secret));
        let tokens = self.tokens();
        let (name, found) = tokens.iter().find(|(_, token)| mark == token.mark)?;
        found.counts(now_ms).then(|| (name.clone(), found.scope))
    }
    /// Takes in a new token, which is `secret`.
    ///
    /// # Errors
    /// If the name is no name or taken, there is no room, or the disk fails; then nothing has
    /// changed.
    pub fn add(
        &self,
        name: &str,
        secret: &str,
        (scope, ends_ms): (Scope, Option<u64>),
        now_ms: u64,
    ) -> Result<Token, TokenError> {
        if !is_name(name) {
            return Err(TokenError::Name);
        }
        let mut tokens = self.tokens();
        let mut changed = tokens.clone();
        changed.retain(|_, token| token.counts(now_ms));
        if changed.contains_key(name) {
            return Err(TokenError::Taken);
        }
        if changed.len() >= MOST {
            return Err(TokenError::Full);
        }
        let token = Token {
            scope,
            made_ms: now_ms,
            ends_ms,
            mark: mark(secret),
        };
        changed.insert(name.to_owned(), token.clone());
        self.write(&changed)?;
        *tokens = changed;
        Ok(token)
    }
    /// Takes a token back: it opens nothing from now on.
    ///
    /// # Errors
    /// If there is none, or the disk fails; then nothing has changed.
    pub fn revoke(&self, name: &str) -> Result<Token, TokenError> {
        let mut tokens = self.tokens();
        let mut changed = tokens.clone();
        let gone = changed.remove(name).ok_or(TokenError::Unknown)?;
        self.write(&changed)?;
        *tokens = changed;
        Ok(gone)
    }
    fn write(&self, tokens: &BTreeMap<String, Token>) -> Result<(), TokenError> {
        let text: String = tokens.iter().map(line).collect();
        replace_file(&self.0.path, text.as_bytes()).map_err(TokenError::Disk)
    }
    fn tokens(&self) -> MutexGuard<'_, BTreeMap<String, Token>> {
        // Every change leaves the map whole.
        self.0.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mark(secret: &str) -> Mark {
    blake3::derive_key("gridbay/api-token/1", secret.as_bytes())
}

fn is_name(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let first = name
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphanumeric());
    first && name.len() <= NAME_CHARS && name.bytes().all(legal)
}

fn line((name, token): (&String, &Token)) -> String {
    let ends = token
        .ends_ms
        .map_or("never".to_owned(), |ms| ms.to_string());
    let (scope, mark) = (token.scope.name(), blake3::Hash::from(token.mark).to_hex());
    format!("{name} {scope} {} {ends} {mark}\n", token.made_ms)
}

fn parse(line: &str) -> Option<(String, Token)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [name, scope, made, ends, mark] = words[..] else {
        return None;
    };
    let ends_ms = match ends {
        "never" => None,
        ms => Some(ms.parse().ok()?),
    };
    let token = Token {
        scope: Scope::parse(scope).ok()?,
        made_ms: made.parse().ok()?,
        ends_ms,
        mark: *blake3::Hash::from_hex(mark).ok()?.as_bytes(),
    };
    is_name(name).then(|| (name.to_owned(), token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_counts_until_it_ends_or_is_revoked_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let book = TokenBook::open(&path).unwrap();
        book.add("a", "secret", (Scope::Trade, None), 1).unwrap();
        book.add("b", "other", (Scope::Read, Some(10)), 1).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            !text.contains("secret") && text.starts_with("a trade 1 never "),
            "{text}"
        );
        let book = TokenBook::open(&path).unwrap();
        assert_eq!(book.of("secret", 99), Some(("a".to_owned(), Scope::Trade)));
        let other = book.of("other", 9);
        assert_eq!(other, Some(("b".to_owned(), Scope::Read)));
        assert_eq!(book.of("other", 10), None);
        assert_eq!(book.of("Secret", 2), None);
        book.revoke("a").unwrap();
        assert!(matches!(book.revoke("a"), Err(TokenError::Unknown)));
        assert_eq!(book.of("secret", 2), None);
        let book = TokenBook::open(&path).unwrap();
        assert_eq!(book.of("secret", 2), None);
        assert_eq!(book.all().len(), 1);
    }

    #[test]
    fn names_and_their_number_are_bounded_and_what_ended_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let book = TokenBook::open(folder.path().join("tokens")).unwrap();
        let read = (Scope::Read, None);
        for bad in ["", "..", "a b", "a/b", "\n", &"a".repeat(65)] {
            assert!(
                matches!(book.add(bad, "x", read, 1), Err(TokenError::Name)),
                "{bad}"
            );
        }
        for n in 0..MOST {
            let ends = (n == 0).then_some(5);
            let name = format!("t{n}");
            book.add(&name, &name, (Scope::Read, ends), 1).unwrap();
        }
        assert!(matches!(
            book.add("t1", "x", read, 4),
            Err(TokenError::Taken)
        ));
        assert!(matches!(
            book.add("more", "x", read, 4),
            Err(TokenError::Full)
        ));
        book.add("more", "x", read, 5).unwrap();
        assert_eq!(book.all().len(), MOST);
    }

    #[test]
    fn a_file_that_makes_no_sense_is_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        for bad in ["a trade 1 never\n", "a root 1 never 00\n", "\n"] {
            std::fs::write(&path, bad).unwrap();
            assert!(TokenBook::open(&path).is_err(), "{bad:?}");
        }
    }
}
