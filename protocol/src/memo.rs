//! A memory of keys found good; and, for worlds of many nodes in one thread, of signatures found
//! right.
//!
//! A key comes again with each entry of its account, and to find its point on the curve takes a
//! third of the time of a check: each thread keeps some thousands.
//!
//! A simulator runs every node's checks in one process, and would spend four fifths of its time on
//! the same signatures again. With [`remember`] a thread keeps the checks that passed; a verdict is
//! a function of the bytes alone, so nothing but speed changes. A node never turns it on: it sees
//! each signature about once.
//!
//! 1. Only signatures that passed, or that the thread itself made, are kept, under a hash of all
//!    that the verdict depends on.
//! 2. A full memory is emptied and fills again.

use ed25519_dalek::VerifyingKey;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Keys that a thread keeps: a megabyte. When it is full it begins anew.
const KEYS: usize = 4_096;

#[derive(Default)]
struct Memory {
    capacity: usize,
    right: BTreeSet<[u8; 16]>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
    static GOOD_KEYS: RefCell<BTreeMap<[u8; 32], VerifyingKey>> = RefCell::default();
}

/// From now on this thread remembers up to `capacity` signatures; 0 forgets all.
pub fn remember(capacity: usize) {
    MEMORY.with_borrow_mut(|memory| {
        *memory = Memory {
            capacity,
            ..Memory::default()
        };
    });
}

impl Memory {
    fn is_on(&self) -> bool {
        self.capacity > 0
    }
    fn keep(&mut self, name: [u8; 16]) {
        if self.right.len() >= self.capacity {
            self.right.clear();
        }
        self.right.insert(name);
    }
}

fn name_of(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut name = [0; 16];
    name.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    name
}

/// Whether `check` passes, or passed before for the same bytes.
pub(crate) fn passes(parts: &[&[u8]], check: impl FnOnce() -> bool) -> bool {
    if !MEMORY.with_borrow(Memory::is_on) {
        return check();
    }
    let name = name_of(parts);
    if MEMORY.with_borrow(|memory| memory.right.contains(&name)) {
        return true;
    }
    let right = check();
    if right {
        MEMORY.with_borrow_mut(|memory| memory.keep(name));
    }
    right
}

/// Takes note of a signature that this thread has just made, and that is right by that.
pub(crate) fn made(parts: &[&[u8]]) {
    if MEMORY.with_borrow(Memory::is_on) {
        let name = name_of(parts);
        MEMORY.with_borrow_mut(|memory| memory.keep(name));
    }
}

/// The key of these bytes, as `parse` finds it or found it before.
pub(crate) fn key<E>(
    bytes: &[u8; 32],
    parse: impl FnOnce() -> Result<VerifyingKey, E>,
) -> Result<VerifyingKey, E> {
    if let Some(key) = GOOD_KEYS.with_borrow(|keys| keys.get(bytes).copied()) {
        return Ok(key);
    }
    let key = parse()?;
    GOOD_KEYS.with_borrow_mut(|keys| {
        if keys.len() >= KEYS {
            keys.clear();
        }
        keys.insert(*bytes, key);
    });
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_not_checked_again_and_what_failed_is() {
        assert!(!passes(&[b"a"], || false));
        remember(2);
        assert!(passes(&[b"a"], || true));
        assert!(passes(&[b"a"], || false), "remembered");
        assert!(!passes(&[b"b"], || false));
        assert!(passes(&[b"b"], || true), "a failure is not remembered");
        assert!(!passes(&[b"a", b""], || false), "parts have lengths");
        assert!(passes(&[b"c"], || true), "a full memory starts anew");
        assert!(!passes(&[b"a"], || false));
        made(&[b"d"]);
        assert!(passes(&[b"d"], || false), "made here");
        remember(0);
        made(&[b"e"]);
        assert!(!passes(&[b"e"], || false), "off");
    }
}
