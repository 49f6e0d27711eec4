//! What an update is refused for before a byte is written.

use super::env::{Env, EnvError};
use super::manifest::{Manifest, PARTS, Part};
use super::slot::Slot;

/// What the machine is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// The flavour of its image.
    pub flavour: String,
    /// When the running system was built, in seconds since 1970.
    pub built: u64,
    /// The system that runs.
    pub running: Slot,
    /// The boot settings.
    pub env: Result<Env, EnvError>,
    /// Bytes that the other slot has for each part, in the order of [`PARTS`].
    pub room: [u64; 3],
}

/// Why an update is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is for another kind of image.
    #[error("the update is of the flavour {update}, this image of {own}")]
    Flavour {
        /// The update's.
        update: String,
        /// The image's.
        own: String,
    },
    /// It is older than what runs.
    #[error("the update was built {seconds} s before the running system")]
    Older {
        /// By how much.
        seconds: u64,
    },
    /// A part is too large.
    #[error("its {} has {bytes} bytes, and its place {room}", part.name())]
    Large {
        /// The part.
        part: Part,
        /// Its bytes.
        bytes: u64,
        /// Bytes of its place.
        room: u64,
    },
    /// Another update has not been decided.
    #[error("an update is on trial in slot {}", slot.name())]
    Pending {
        /// Its slot.
        slot: Slot,
    },
    /// The boot loader would start a system by chance.
    #[error("{0}")]
    Env(EnvError),
}

impl Refusal {
    /// What the owner can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Refusal::Flavour { .. } => "take the update of this image's flavour",
            Refusal::Older { .. } => "to go back to it, say --allow-older",
            Refusal::Large { .. } => "this image cannot hold it: begin with a new image",
            Refusal::Pending { .. } => "wait until the agent has taken or left it, or reboot",
            Refusal::Env(_) => "the agent mends them in a moment: try again",
        }
    }
}

/// Whether an update may be written; answers the boot settings as they are.
pub fn admit(manifest: &Manifest, here: &Here, allow_older: bool) -> Result<Env, Refusal> {
    if manifest.flavour != here.flavour {
        return Err(Refusal::Flavour {
            update: manifest.flavour.clone(),
            own: here.flavour.clone(),
        });
    }
    let seconds = here.built.saturating_sub(manifest.built);
    if seconds > 0 && !allow_older {
        return Err(Refusal::Older { seconds });
    }
    for (part, room) in PARTS.into_iter().zip(here.room) {
        let bytes = manifest.sum(part).bytes;
        if bytes > room {
            return Err(Refusal::Large { part, bytes, room });
        }
    }
    let env = here.env.clone().map_err(Refusal::Env)?;
    match env.trial {
        Some(slot) => Err(Refusal::Pending { slot }),
        None => Ok(env),
    }
}
