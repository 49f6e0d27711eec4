mod cuts;
mod format;
mod tables;

use super::env::Env;
use super::install::{Disk, Place};
use super::keys;
use super::manifest::{Manifest, PARTS, Part, Sum};
use super::slot::Slot;
use ed25519_dalek::{SigningKey, VerifyingKey};
use std::collections::BTreeMap;
use std::io;

/// A builder's key.
fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn trusted(seed: u8) -> Vec<VerifyingKey> {
    keys::trusted(keys::public_text(&key(seed)).as_bytes()).unwrap()
}

/// The parts of a system, made up of a seed.
fn parts(seed: u8) -> [Vec<u8>; 3] {
    let part = |length: usize, salt: u8| -> Vec<u8> {
        let byte = |i: usize| u8::try_from(i % 251).unwrap() ^ seed ^ salt;
        (0..length).map(byte).collect()
    };
    [part(1_200_000, 1), part(3_000, 2), part(1_100_000, 3)]
}

fn manifest(parts: &[Vec<u8>; 3]) -> Manifest {
    let sum = |part: &Vec<u8>| super::install::sum(&mut part.as_slice()).unwrap();
    let [root, kernel, initrd] = parts;
    Manifest {
        flavour: "base".to_owned(),
        version: "0.2.0~rc1".to_owned(),
        built: 1_790_000_000,
        parts: [sum(root), sum(kernel), sum(initrd)],
    }
}

/// A disk in memory. What was written and not synchronised is apart, since a cut may lose it.
#[derive(Clone)]
struct Memory {
    kept: BTreeMap<&'static str, Vec<u8>>,
    loose: Vec<(&'static str, usize, Vec<u8>)>,
    /// Writes and synchronisations until the power is cut.
    left: u64,
}

fn name(place: Place) -> &'static str {
    match place {
        Place::Part(Slot::A, Part::Root) => "root a",
        Place::Part(Slot::A, Part::Kernel) => "kernel a",
        Place::Part(Slot::A, Part::Initrd) => "initrd a",
        Place::Part(Slot::B, Part::Root) => "root b",
        Place::Part(Slot::B, Part::Kernel) => "kernel b",
        Place::Part(Slot::B, Part::Initrd) => "initrd b",
        Place::Env => "env",
    }
}

/// Bytes of a place for a part.
fn room(part: Part) -> usize {
    match part {
        Part::Root => 1_300_000,
        Part::Kernel => 10_000,
        Part::Initrd => 1_200_000,
    }
}

impl Memory {
    /// A disk with this system in a slot that runs, and nothing in the other.
    fn with(running: Slot, system: &[Vec<u8>; 3]) -> Memory {
        let mut kept = BTreeMap::new();
        kept.insert("env", Env::only(running).block().to_vec());
        for (part, bytes) in PARTS.into_iter().zip(system) {
            let mut full = bytes.clone();
            full.resize(room(part), 0);
            kept.insert(name(Place::Part(running, part)), full);
            let other = name(Place::Part(running.other(), part));
            kept.insert(other, vec![0x55; room(part)]);
        }
        Memory {
            kept,
            loose: Vec::new(),
            left: u64::MAX,
        }
    }
    fn spend(&mut self) -> io::Result<()> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("cut"))?;
        Ok(())
    }
    fn env(&self) -> Env {
        Env::read(&self.kept["env"]).unwrap()
    }
    /// Whether a slot holds these parts, each followed by nothing that counts.
    fn holds(&self, slot: Slot, system: &[Vec<u8>; 3]) -> bool {
        PARTS.into_iter().zip(system).all(|(part, bytes)| {
            let held = &self.kept[name(Place::Part(slot, part))];
            let rest = &held[bytes.len()..];
            held.starts_with(bytes) && (part == Part::Root || rest.iter().all(|byte| *byte == 0))
        })
    }
    /// Brings loose writes to the disk: those of which `keeps` says so.
    fn bring(&mut self, mut keeps: impl FnMut(&str) -> bool) {
        for (place, at, bytes) in std::mem::take(&mut self.loose) {
            if keeps(place) {
                self.kept.get_mut(place).unwrap()[at..at + bytes.len()].copy_from_slice(&bytes);
            }
        }
    }
}

impl Disk for Memory {
    fn room(&mut self, place: Place) -> io::Result<u64> {
        Ok(self.kept[name(place)].len() as u64)
    }
    fn write(&mut self, place: Place, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.spend()?;
        let at = usize::try_from(at).unwrap();
        assert!(at + bytes.len() <= self.kept[name(place)].len());
        // A disk writes sectors, in any order.
        for (i, sector) in bytes.chunks(64 * 1024).enumerate() {
            let at = at + i * 64 * 1024;
            self.loose.push((name(place), at, sector.to_vec()));
        }
        Ok(())
    }
    fn read(&mut self, place: Place, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        assert!(self.loose.is_empty(), "it is read before it is on the disk");
        let at = usize::try_from(at).unwrap();
        bytes.copy_from_slice(&self.kept[name(place)][at..at + bytes.len()]);
        Ok(())
    }
    fn sync(&mut self, place: Place) -> io::Result<()> {
        self.spend()?;
        let later: Vec<_> = self
            .loose
            .extract_if(.., |loose| loose.0 != name(place))
            .collect();
        self.bring(|_| true);
        self.loose = later;
        Ok(())
    }
    fn forget(&mut self) -> io::Result<()> {
        assert!(self.loose.is_empty());
        Ok(())
    }
}

/// A sum of nothing in particular.
fn any_sum(bytes: u64) -> Sum {
    Sum {
        bytes,
        hash: [9; 32],
    }
}
