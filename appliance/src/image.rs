//! What an image says of itself, in `image.json`.

use serde::Deserialize;

/// What an image says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Image {
    /// When it was made, in seconds since 1970.
    pub built: u64,
    /// Its version.
    pub version: String,
    /// Its flavour.
    pub flavour: String,
}
