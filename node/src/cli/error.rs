//! Failures as people see them: one line what, one line why, one line what to do. Programs, with
//! `-o json`, get the same as one object in one line, with the exit code.

use super::context::Format;
use super::exit::Exit;
use crate::api::ApiError;
use crate::config::ConfigError;
use crate::keys::KeyFileError;
use crate::ui::{WriteError, clean, seen_json};
use serde_json::Value;
use std::error::Error as StdError;
use std::fmt;

/// A command's failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    /// Exit code.
    pub exit: Exit,
    /// The action that did not happen.
    pub what: String,
    /// Why.
    pub why: String,
    /// Advice; may be empty.
    pub next: String,
    /// Facts for programs, such as the step that failed; null if there are none.
    pub details: Value,
}

impl CliError {
    /// A failure of the API, and what did not come about by it.
    pub(super) fn of(error: ApiError, what: &str) -> CliError {
        CliError {
            details: error.details,
            ..CliError::new(Exit::of(error.code), what, error.message, error.hint)
        }
    }
    /// A failure.
    pub fn new(
        exit: Exit,
        what: impl Into<String>,
        why: impl Into<String>,
        next: impl Into<String>,
    ) -> CliError {
        CliError {
            exit,
            what: what.into(),
            why: why.into(),
            next: next.into(),
            details: Value::Null,
        }
    }
    /// One that nobody but those who make the program can mend.
    pub(super) fn fault(what: impl Into<String>, why: impl Into<String>) -> CliError {
        let next = "report it, with the command and the output of gridbay version";
        CliError::new(Exit::FAILED, what, why, next)
    }
    /// The reader of the output has left: no failure, and nobody to tell.
    fn silent() -> CliError {
        let nothing = String::new;
        CliError::new(Exit::OK, nothing(), nothing(), nothing())
    }
    /// As it goes to standard error, in the form asked for.
    pub(super) fn shown(&self, format: Format) -> String {
        match format {
            Format::Table | Format::Wide | Format::Csv => self.to_string(),
            Format::Json => {
                let told = serde_json::json!({
                    "exit": self.exit.0,
                    "what": clean(&self.what),
                    "why": clean(&self.why),
                    "next": clean(&self.next),
                    "details": self.details,
                });
                seen_json(&told.to_string())
            }
        }
    }
    /// Whether there is nothing to say because the reader of the output has left.
    pub fn is_silent(&self) -> bool {
        self.what.is_empty()
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gridbay: {}", clean(&self.what))?;
        write!(f, "\n    why: {}", clean(&self.why))?;
        if !self.next.is_empty() {
            write!(f, "\n    try: {}", clean(&self.next))?;
        }
        Ok(())
    }
}

impl StdError for CliError {}

impl From<WriteError> for CliError {
    fn from(error: WriteError) -> CliError {
        if error.is_closed() {
            return CliError::silent();
        }
        let next = "free room where the output goes, or send it elsewhere";
        let what = "the output was not written";
        CliError::new(Exit::FAILED, what, chain(&error), next)
    }
}

/// An error with all its causes, in one line.
pub(super) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

/// Turns a failure of a lower layer into a command's: the caller says what did not happen.
pub(super) trait During<T> {
    fn during(self, what: &str) -> Result<T, CliError>;
}

impl<T> During<T> for Result<T, ApiError> {
    fn during(self, what: &str) -> Result<T, CliError> {
        self.map_err(|error| CliError::of(error, what))
    }
}

impl<T> During<T> for Result<T, KeyFileError> {
    fn during(self, what: &str) -> Result<T, CliError> {
        self.map_err(|error| {
            let next = match &error {
                KeyFileError::Missing(_) => "make the keys first: gridbay join or found member",
                KeyFileError::Exists(_) => "name another file, or remove this one",
                KeyFileError::Broken(_) => "restore the file from a backup, or start a new folder",
                KeyFileError::Loose { .. } => "see who read it, then close it: chmod go-rwx",
                KeyFileError::Foreign { .. } => "run the command as that user",
                KeyFileError::Io { .. } | KeyFileError::Randomness => "see to the disk, try again",
            };
            let exit = match error {
                KeyFileError::Missing(_) => Exit::NOT_FOUND,
                _ => Exit::REFUSED,
            };
            CliError::new(exit, what, chain(&error), next)
        })
    }
}

impl<T> During<T> for Result<T, ConfigError> {
    fn during(self, what: &str) -> Result<T, CliError> {
        self.map_err(|error| {
            let next = "see the settings and where they come from: gridbay config show";
            CliError::new(Exit::USAGE, what, chain(&error), next)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;

    #[test]
    fn three_lines() {
        let error = CliError::new(
            Exit::FUNDS,
            "the order was not sent",
            "it can cost 20 credits, 5 are free",
            "lower --budget",
        );
        assert_eq!(
            error.to_string(),
            "gridbay: the order was not sent\n    why: it can cost 20 credits, 5 are free\n    try: lower --budget"
        );
    }

    #[test]
    fn programs_get_one_object_in_one_line() {
        let error = CliError::new(Exit::FUNDS, "not \"sent\"", "a\nb", "");
        let shown = error.shown(Format::Json);
        let told: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown.lines().count(), 1);
        assert_eq!(
            told,
            serde_json::json!({
                "exit": 6,
                "what": "not \"sent\"",
                "why": "a\u{fffd}b",
                "next": "",
                "details": null,
            })
        );
        assert_eq!(error.shown(Format::Table), error.to_string());
        let api = ApiError::new(ErrorCode::Unreachable, "gone", "");
        let api = api.with_details(serde_json::json!({"step": "call\u{9b}"}));
        let shown = Err::<(), _>(api).during("no").unwrap_err();
        let shown = shown.shown(Format::Json);
        assert!(!shown.contains('\u{9b}'));
        let told: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(told["details"]["step"], "call\u{9b}");
    }

    #[test]
    fn nothing_from_elsewhere_adds_lines() {
        let api = ApiError::new(ErrorCode::NotFound, "a\nb\u{1b}[2J", "");
        let error = Err::<(), _>(api).during("no").unwrap_err();
        assert_eq!(error.exit, Exit::NOT_FOUND);
        assert_eq!(error.to_string().lines().count(), 2);
        assert!(!error.to_string().contains('\u{1b}'));
    }

    #[test]
    fn a_reader_that_left_is_no_failure() {
        let closed = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let error = CliError::from(WriteError::from(closed));
        assert!(error.is_silent() && error.exit == Exit::OK);
    }

    #[test]
    fn causes_are_told() {
        let error = KeyFileError::Io {
            path: "/tmp/x".into(),
            source: std::io::Error::other("full"),
        };
        assert_eq!(chain(&error), "/tmp/x: full");
    }
}
