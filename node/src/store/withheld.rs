//! The file `withheld` of the data folder: terms of the offers that the node holds back.

use super::replace_file;
use gridbay_core::withheld::Withheld;
use gridbay_protocol::offer::OfferTerms;
use std::fs;
use std::io;
use std::path::Path;

/// Name of the file.
const FILE: &str = "withheld";

/// The offers that an earlier run held back. A file that cannot be read holds none: they can be set
/// again by hand.
pub fn load(home: &Path) -> Vec<OfferTerms> {
    let read = fs::read(home.join(FILE)).map(|bytes| Withheld::decode(&bytes));
    match read {
        Ok(Ok(offers)) => offers,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Ok(Err(error)) => lost(&error),
        Err(error) => lost(&error),
    }
}

fn lost(error: &dyn std::error::Error) -> Vec<OfferTerms> {
    tracing::warn!(%error, "which offers were held back cannot be read");
    Vec::new()
}

/// Keeps what is held back, durably.
///
/// # Errors
/// It cannot be written.
pub fn save(home: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_file(&home.join(FILE), bytes)
}
