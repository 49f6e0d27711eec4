//! An update that lies somewhere for this machine, and whether the agent takes it by itself.
//!
//! 1. It is taken if it is signed, of this image's flavour and built after the running system.
//! 2. One that was tried before and is not what runs now is not tried again, wherever it lies: so
//!    no disk that stays attached, and no node that puts a file back, reboots a machine for ever.
//! 3. Of several, the one that was built last is taken.
//! 4. All else is told, but for the running system's own update on a disk that is still there.

use super::check::Refusal;
use super::manifest::Manifest;
use super::record::{LEFT, Record, Stage};
use crate::image::Image;
use crate::state::Fault;
use std::fmt;

/// Where an update lies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A disk that it was copied to, by the kernel's name.
    Device(String),
    /// A file on a configuration disk with this label.
    Label(String),
    /// A file that the node was handed by its owner.
    Owner,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Device(name) => write!(f, "on disk {name}"),
            Origin::Label(label) => write!(f, "on disk {label}"),
            Origin::Owner => write!(f, "that the owner handed over"),
        }
    }
}

/// An update that lies there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Where.
    pub origin: Origin,
    /// Tells it from others: the hash of its header, or of what stands in its place.
    pub id: String,
    /// What it says of itself under a trusted signature, or why that does not count.
    pub manifest: Result<Manifest, Fault>,
}

/// The decision about an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Take it.
    Take,
    /// Leave it where it is, and say nothing.
    Pass,
    /// Say why not.
    Refuse(Fault),
}

/// Judges an update, for a machine that runs this image and has no update on trial.
pub fn judge(offered: &Offered, image: &Image, record: Option<&Record>) -> Judged {
    let manifest = match &offered.manifest {
        Ok(manifest) => manifest,
        Err(fault) => return Judged::Refuse(fault.clone()),
    };
    let handed = offered.origin == Origin::Owner;
    if manifest.flavour != image.flavour {
        let refusal = Refusal::Flavour {
            update: manifest.flavour.clone(),
            own: image.flavour.clone(),
        };
        return Judged::Refuse(Fault::new(refusal.to_string(), refusal.hint()));
    }
    let version = &manifest.version;
    if manifest.built < image.built {
        let seconds = image.built - manifest.built;
        let why = format!("{version} was built {seconds} s before the running system");
        return Judged::Refuse(Fault::new(why, "take a newer one, or remove the disk"));
    }
    let runs = |record: &Record| record.stage == Stage::Committed && record.id == offered.id;
    if manifest.built == image.built || record.is_some_and(runs) {
        let why = format!("{version} is the running system, or as old");
        return match handed {
            true => Judged::Refuse(Fault::new(
                why,
                "there is nothing to do, or take a newer one",
            )),
            false => Judged::Pass,
        };
    }
    let Some(record) = record.filter(|record| record.was_tried(&offered.id)) else {
        return Judged::Take;
    };
    // The status tells of the last one that was left already.
    let told = record.stage.is_left() && record.id == offered.id;
    let why = match record.left.len() >= LEFT {
        _ if told && !handed => return Judged::Pass,
        true => format!("{LEFT} updates were tried in a row and left"),
        false => format!("{version} was tried before and left"),
    };
    Judged::Refuse(Fault::new(
        why,
        "see why it did not become ready, and build another one",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::update::manifest::Sum;
    use crate::update::slot::Slot;

    fn image() -> Image {
        Image {
            built: 1_000,
            version: "0.1".to_owned(),
            flavour: "base".to_owned(),
        }
    }

    fn offered(origin: &Origin, flavour: &str, built: u64) -> Offered {
        Offered {
            origin: origin.clone(),
            id: format!("id-{built}"),
            manifest: Ok(Manifest {
                flavour: flavour.to_owned(),
                version: "0.2".to_owned(),
                built,
                parts: [Sum {
                    bytes: 1,
                    hash: [0; 32],
                }; 3],
            }),
        }
    }

    #[test]
    fn what_is_newer_is_taken_and_all_else_is_told_or_passed() {
        let left = Record {
            id: "id-1001".to_owned(),
            ..Record::begun("0.2", Slot::B, "ready")
        };
        let (written, left) = (left.at(Stage::Written), left.at(Stage::Left));
        let later = Record {
            id: "id-1002".to_owned(),
            left: left.left.clone(),
            ..Record::begun("0.3", Slot::B, "ready")
        };
        let taken = written.at(Stage::Committed);
        let begun = Record {
            id: "id-1001".to_owned(),
            ..Record::begun("0.2", Slot::B, "ready")
        };
        let (disk, owner) = (Origin::Device("vdb".to_owned()), Origin::Owner);
        for (flavour, built, record, on_disk, handed) in [
            ("base", 1_001, None, "take", "take"),
            ("base", 1_001, Some(&begun), "take", "take"),
            ("base", 1_003, Some(&left), "take", "take"),
            ("base", 1_001, Some(&left), "pass", "left"),
            ("base", 1_001, Some(&written), "left", "left"),
            ("base", 1_001, Some(&later), "left", "left"),
            ("base", 1_000, None, "pass", "or as old"),
            ("base", 1_001, Some(&taken), "pass", "the running system"),
            ("base", 999, None, "1 s before", "1 s before"),
            ("cluster", 1_001, None, "flavour", "flavour"),
        ] {
            for (origin, wanted) in [(&disk, on_disk), (&owner, handed)] {
                let judged = judge(&offered(origin, flavour, built), &image(), record);
                let told = match judged {
                    Judged::Take => "take".to_owned(),
                    Judged::Pass => "pass".to_owned(),
                    Judged::Refuse(fault) => {
                        assert!(!fault.hint.is_empty());
                        fault.reason
                    }
                };
                assert!(told.contains(wanted), "{origin} {built} {record:?}: {told}");
            }
        }
    }

    #[test]
    fn one_whose_header_does_not_count_is_refused_for_that() {
        let fault = Fault::new("unsigned", "take a signed one");
        let offered = Offered {
            manifest: Err(fault.clone()),
            ..offered(&Origin::Owner, "base", 1_001)
        };
        assert_eq!(judge(&offered, &image(), None), Judged::Refuse(fault));
    }
}
