//! The order in which an update is written, over any disk that can be written and synchronised.
//!
//! The steps and what a power cut does in each of them stand in the module above.

use super::env::{self, Env};
use super::manifest::{Manifest, PARTS, Part, Sum};
use super::slot::Slot;
use std::io::{self, Read};

/// Bytes that are moved at once.
const CHUNK: usize = 1 << 20;

/// A place on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A part of a system.
    Part(Slot, Part),
    /// The boot settings.
    Env,
}

/// A disk with two systems.
pub trait Disk {
    /// Bytes of a place.
    fn room(&mut self, place: Place) -> io::Result<u64>;
    /// Writes in place; a place never grows.
    fn write(&mut self, place: Place, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads so many bytes.
    fn read(&mut self, place: Place, at: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Returns once all that was written to a place is on the disk.
    fn sync(&mut self, place: Place) -> io::Result<()>;
    /// Forgets what memory holds, so that the next read is of the disk.
    fn forget(&mut self) -> io::Result<()>;
}

/// Why an update was not written.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The update cannot be read.
    #[error("the update's {} cannot be read: {error}", part.name())]
    Source {
        /// The part.
        part: Part,
        /// Why.
        error: io::Error,
    },
    /// The update is not what was signed.
    #[error("the update's {} is not what was signed", part.name())]
    Hash {
        /// The part.
        part: Part,
    },
    /// The disk failed.
    #[error("the disk failed at {}: {error}", name(*place))]
    Disk {
        /// Where.
        place: Place,
        /// Why.
        error: io::Error,
    },
    /// What was written is read otherwise.
    #[error("the disk does not hold the {} that was written to it", part.name())]
    Differs {
        /// The part.
        part: Part,
    },
}

fn name(place: Place) -> &'static str {
    match place {
        Place::Part(_, part) => part.name(),
        Place::Env => "the boot settings",
    }
}

/// Reads all parts once, and holds them against what was signed.
pub fn check(manifest: &Manifest, source: &mut impl Read) -> Result<(), InstallError> {
    for part in PARTS {
        let Sum { bytes, hash } = manifest.sum(part);
        let found = hashed(bytes, |chunk, _| source.read_exact(chunk));
        match found {
            Ok(found) if found == hash => {}
            Ok(_) => return Err(InstallError::Hash { part }),
            Err(error) => return Err(InstallError::Source { part, error }),
        }
    }
    Ok(())
}

/// Writes an admitted update to the slot that does not run, and puts it on trial.
pub fn install(
    disk: &mut impl Disk,
    manifest: &Manifest,
    source: &mut impl Read,
    (running, env): (Slot, Env),
) -> Result<(), InstallError> {
    if env != Env::only(running) {
        set(disk, Env::only(running))?;
    }
    let slot = running.other();
    for part in PARTS {
        copy(disk, Place::Part(slot, part), part, manifest, source)?;
    }
    let forgot = disk.forget();
    forgot.map_err(failed(Place::Part(slot, Part::Root)))?;
    for part in PARTS {
        let place = Place::Part(slot, part);
        let Sum { bytes, hash } = manifest.sum(part);
        let found = hashed(bytes, |chunk, at| disk.read(place, at, chunk));
        if found.map_err(failed(place))? != hash {
            return Err(InstallError::Differs { part });
        }
    }
    set(disk, Env::trial(running))
}

/// Writes the boot settings in place.
pub fn set(disk: &mut impl Disk, env: Env) -> Result<(), InstallError> {
    let wrote = disk.write(Place::Env, 0, &env.block());
    wrote
        .and_then(|()| disk.sync(Place::Env))
        .map_err(failed(Place::Env))
}

/// Reads the boot settings.
pub fn env(disk: &mut impl Disk) -> io::Result<Result<Env, env::EnvError>> {
    let bytes = usize::try_from(disk.room(Place::Env)?).unwrap_or(usize::MAX);
    if bytes != env::BYTES {
        return Ok(Err(env::EnvError::Length { bytes }));
    }
    let mut block = [0; env::BYTES];
    disk.read(Place::Env, 0, &mut block)?;
    Ok(Env::read(&block))
}

/// Copies a part. Kernel and initial RAM disk are files of a fixed size, filled with zeros: nothing
/// of the file system changes but their bytes.
fn copy(
    disk: &mut impl Disk,
    place: Place,
    part: Part,
    manifest: &Manifest,
    source: &mut impl Read,
) -> Result<(), InstallError> {
    let Sum { bytes, hash } = manifest.sum(part);
    let mut failure = None;
    let found = hashed(bytes, |chunk, at| {
        source.read_exact(chunk)?;
        disk.write(place, at, chunk).or_else(|error| {
            failure = Some(error);
            Ok(())
        })
    });
    if let Some(error) = failure {
        return Err(InstallError::Disk { place, error });
    }
    match found {
        Err(error) => return Err(InstallError::Source { part, error }),
        Ok(found) if found != hash => return Err(InstallError::Hash { part }),
        Ok(_) => {}
    }
    if part != Part::Root {
        let room = disk.room(place).map_err(failed(place))?;
        let zeros = vec![0; CHUNK];
        for (at, length) in chunks(room.saturating_sub(bytes)) {
            let wrote = disk.write(place, bytes + at, &zeros[..length]);
            wrote.map_err(failed(place))?;
        }
    }
    disk.sync(place).map_err(failed(place))
}

fn failed(place: Place) -> impl Fn(io::Error) -> InstallError {
    move |error| InstallError::Disk { place, error }
}

/// The hash of so many bytes, which `next` puts into each chunk.
fn hashed(
    bytes: u64,
    mut next: impl FnMut(&mut [u8], u64) -> io::Result<()>,
) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; CHUNK];
    for (at, length) in chunks(bytes) {
        let chunk = &mut buffer[..length];
        next(chunk, at)?;
        hasher.update(chunk);
    }
    Ok(hasher.finalize().into())
}

/// Offset and length of each chunk of so many bytes.
fn chunks(bytes: u64) -> impl Iterator<Item = (u64, usize)> {
    let starts = (0..bytes).step_by(CHUNK);
    starts.map(move |at| {
        let left = usize::try_from(bytes - at).unwrap_or(usize::MAX);
        (at, left.min(CHUNK))
    })
}

/// Size and hash of all that a reader gives.
pub fn sum(source: &mut impl Read) -> io::Result<Sum> {
    let mut hasher = blake3::Hasher::new();
    let bytes = io::copy(source, &mut hasher)?;
    let hash = hasher.finalize().into();
    Ok(Sum { bytes, hash })
}
