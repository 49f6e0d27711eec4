//! Places that may tell settings: a credential, and disks by their label.
//!
//! 1. The credential `gridbay.invite` comes first.
//! 2. Then disks labelled GRIDBAY, then CIDATA. Each is mounted read-only, without devices,
//!    programs or rights of others, as FAT or ISO 9660 alone, and unmounted once it was read.
//! 3. A disk has `invite.toml`, and may have `network.network`. A CIDATA disk may have the same as
//!    `user-data` instead, with `#gridbay` as its first line; other user data is passed over.
//! 4. A small disk is mounted once, and again only when a byte of it has changed: each mount leaves
//!    a line in the system's log. A large one is mounted at each look.
//! 5. A disk may hold an update as well, in the file `gridbay-update`: its first bytes are read
//!    with the rest, and it is mounted anew once the update is taken.
//! 6. Names are tried in small letters and in capitals: an ISO without extensions has the latter.

use super::command::Command;
use super::files::{first_bytes, open_plain, read_if_there};
use super::places::Places;
use crate::config::{FILE_BYTES, Files, NETWORK_BYTES};
use crate::seen::Source;
use crate::update::manifest::HEADER_BYTES;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Labels of disks, in the order in which they count.
const LABELS: [&str; 4] = ["GRIDBAY", "gridbay", "CIDATA", "cidata"];
const CREDENTIAL: &str = "gridbay.invite";
const OPTIONS: &str = "ro,nosuid,nodev,noexec";
/// A file that holds an update.
const UPDATE: &str = "gridbay-update";
/// First line of user data that is meant for the agent.
const FIRST_LINE: &[u8] = b"#gridbay";
/// Most bytes of a disk that are held against those of the last look.
const SMALL: u64 = 4 << 20;
/// Longest time to mount a disk.
const MOUNT: Duration = Duration::from_secs(20);

/// What a disk holds.
#[derive(Clone)]
struct Held {
    files: Result<Files, String>,
    /// The first bytes of an update.
    update: Option<Vec<u8>>,
}

/// What a disk held when it was read last.
struct Known {
    bytes: Vec<u8>,
    held: Held,
}

/// The disks that were read so far.
#[derive(Default)]
pub struct Disks {
    known: BTreeMap<&'static str, Known>,
    /// The first bytes of updates, by the label of their disk, as of the last look.
    updates: Vec<(&'static str, Vec<u8>)>,
}

impl Disks {
    /// All places that are there.
    pub fn sources(&mut self, places: &Places) -> Vec<Source> {
        let mut sources: Vec<Source> = credential(places).into_iter().collect();
        self.updates.clear();
        for label in LABELS {
            let device = places.labels.join(label);
            if !device.exists() {
                self.known.remove(label);
                continue;
            }
            let held = self.disk(places, label, &device);
            self.updates.extend(held.update.map(|head| (label, head)));
            sources.push(Source {
                origin: format!("disk {label}"),
                files: held.files,
            });
        }
        sources
    }
    /// Labels of the disks that held an update at the last look, with its first bytes.
    pub fn updates(&self) -> &[(&'static str, Vec<u8>)] {
        &self.updates
    }
    fn disk(&mut self, places: &Places, label: &'static str, device: &Path) -> Held {
        let read = || {
            let held = mounted(places, "disk", device, held);
            held.unwrap_or_else(|why| Held {
                files: Err(why),
                update: None,
            })
        };
        let Some(bytes) = whole(device) else {
            return read();
        };
        if let Some(known) = self.known.get(label).filter(|known| known.bytes == bytes) {
            return known.held.clone();
        }
        let held = read();
        let known = Known {
            bytes,
            held: held.clone(),
        };
        self.known.insert(label, known);
        held
    }
}

/// All bytes of a small disk.
fn whole(device: &Path) -> Option<Vec<u8>> {
    let file = File::open(device).ok()?;
    let mut bytes = Vec::new();
    file.take(SMALL + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= SMALL).then_some(bytes)
}

fn credential(places: &Places) -> Option<Source> {
    let path = places.credentials.as_ref()?.join(CREDENTIAL);
    let files = match read_if_there(&path, FILE_BYTES as u64) {
        Ok(None) => return None,
        Ok(invite) => Ok(Files {
            invite,
            network: None,
        }),
        Err(error) => Err(error.to_string()),
    };
    Some(Source {
        origin: format!("credential {CREDENTIAL}"),
        files,
    })
}

/// The update on the disk with a label, for as long as `take` runs.
pub fn with_update<T>(
    places: &Places,
    label: &str,
    take: impl FnOnce(&Path) -> T,
) -> Result<T, String> {
    let device = places.labels.join(label);
    mounted(places, "disk-update", &device, |folder| {
        take(&named(folder, UPDATE))
    })
}

/// Reads a disk, mounted at a folder of this name for that time. A device that is a folder, as
/// tests have it, is read as it is.
fn mounted<T>(
    places: &Places,
    name: &str,
    device: &Path,
    read: impl FnOnce(&Path) -> T,
) -> Result<T, String> {
    if device.is_dir() {
        return Ok(read(device));
    }
    let at = places.run.join(name);
    fs::create_dir_all(&at).map_err(|error| error.to_string())?;
    if places.is_mounted(&at) {
        unmount(&at)?;
    }
    let mount = |kind: &str| {
        let command = Command::new("mount").args(["-t", kind, "-o", OPTIONS]);
        command.path(device).path(&at).output(MOUNT)
    };
    mount("vfat")
        .or_else(|_| mount("iso9660"))
        .map_err(|failure| format!("it is neither FAT nor ISO 9660: {}", failure.why))?;
    let found = read(&at);
    unmount(&at)?;
    Ok(found)
}

fn unmount(at: &Path) -> Result<(), String> {
    let ended = Command::new("umount").path(at).output(MOUNT);
    ended
        .map(drop)
        .map_err(|failure| format!("it was not unmounted: {}", failure.why))
}

fn held(folder: &Path) -> Held {
    let update = open_plain(&named(folder, UPDATE));
    let update = update
        .ok()
        .map(|file| first_bytes(&file, HEADER_BYTES).unwrap_or_default());
    let files = match files(folder) {
        Err(_) if update.is_some() && is_without_settings(folder) => Ok(Files::default()),
        files => files,
    };
    Held { files, update }
}

/// Whether a disk has none of the files that tell settings.
fn is_without_settings(folder: &Path) -> bool {
    let there = |name: &str| named(folder, name).symlink_metadata().is_ok();
    !["invite.toml", "network.network", "user-data"]
        .into_iter()
        .any(there)
}

fn files(folder: &Path) -> Result<Files, String> {
    let read = |name: &str, most: usize| {
        let path = named(folder, name);
        read_if_there(&path, most as u64).map_err(|error| format!("{name}: {error}"))
    };
    let mut invite = read("invite.toml", FILE_BYTES)?;
    let network = read("network.network", NETWORK_BYTES)?;
    if invite.is_none() {
        invite = match read("user-data", FILE_BYTES)? {
            Some(data) if is_for_us(&data) => Some(data),
            Some(_) => return Err("its user-data does not begin with #gridbay".to_owned()),
            None => None,
        };
    }
    if invite.is_none() && network.is_none() {
        return Err("it has no file invite.toml".to_owned());
    }
    Ok(Files { invite, network })
}

fn named(folder: &Path, name: &str) -> PathBuf {
    let small = folder.join(name);
    let capital = folder.join(name.to_ascii_uppercase());
    match !small.exists() && capital.exists() {
        true => capital,
        false => small,
    }
}

fn is_for_us(data: &[u8]) -> bool {
    let line = data.split(|byte| *byte == b'\n').next();
    line.is_some_and(|line| line.trim_ascii_end() == FIRST_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn told(files: &[(&str, &[u8])]) -> Result<Files, String> {
        let dir = TempDir::new().unwrap();
        for (name, bytes) in files {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        super::files(dir.path())
    }

    #[test]
    fn a_disk_is_read_by_the_names_of_its_files() {
        let invite = |files: &[(&str, &[u8])]| told(files).unwrap().invite;
        assert_eq!(invite(&[("invite.toml", b"a")]).unwrap(), b"a");
        assert_eq!(invite(&[("INVITE.TOML", b"a")]).unwrap(), b"a");
        let data = b"#gridbay\r\nname = \"a\"\n";
        assert_eq!(invite(&[("user-data", data)]).unwrap(), data);
        assert_eq!(
            invite(&[("user-data", data), ("invite.toml", b"a")]).unwrap(),
            b"a"
        );
        assert_eq!(invite(&[("network.network", b"[Match]")]), None);
    }

    #[test]
    fn a_disk_without_settings_says_so() {
        for (files, why) in [
            (&[][..], "no file"),
            (&[("user-data", &b"#cloud-config\n"[..])][..], "#gridbay"),
            (&[("user-data", &b"#gridbayx"[..])][..], "#gridbay"),
            (&[("user-data", &b""[..])][..], "#gridbay"),
            (
                &[("invite.toml", &[b'#'; FILE_BYTES + 1][..])][..],
                "more than",
            ),
            (
                &[("network.network", &[b'#'; NETWORK_BYTES + 1][..])][..],
                "more than",
            ),
        ] {
            assert!(told(files).unwrap_err().contains(why), "{why}");
        }
    }
}
