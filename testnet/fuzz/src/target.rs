//! What a target is.

/// The result of a target for its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The input passed the checks.
    Accepted,
    /// The input was refused, as most inputs must be.
    Refused,
}

impl Verdict {
    pub(crate) fn of(accepted: bool) -> Verdict {
        if accepted {
            Verdict::Accepted
        } else {
            Verdict::Refused
        }
    }
}

/// A function on bytes with what is needed to run it well.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name; also the folder of its corpus.
    pub name: &'static str,
    /// The code that it feeds, and its promise.
    pub doc: &'static str,
    /// The function. Panics if a promise is broken.
    pub run: fn(&[u8]) -> Verdict,
    /// Well-formed inputs made from real values; every one is accepted.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Mutations that the replay tries.
    pub mutations: u32,
    /// Bytes of memory that a run may hold at once beyond [`PER_BYTE`] for each byte of its input.
    pub memory: usize,
}

/// Bytes of memory that a run may hold for each byte of its input.
pub const PER_BYTE: usize = 64;

/// A target that decodes: fast, and with next to no memory of its own. The parser reserves at most
/// 1 MiB for a list before it has seen the items; three lists may lie in one another.
pub(crate) const fn decoder(
    name: &'static str,
    doc: &'static str,
    run: fn(&[u8]) -> Verdict,
    seeds: fn() -> Vec<Vec<u8>>,
) -> Target {
    Target {
        name,
        doc,
        run,
        seeds,
        mutations: 2_000,
        memory: 4 << 20,
    }
}

/// A target that drives a whole ledger or host through its input.
pub(crate) const fn machine(
    name: &'static str,
    doc: &'static str,
    run: fn(&[u8]) -> Verdict,
    seeds: fn() -> Vec<Vec<u8>>,
    mutations: u32,
) -> Target {
    Target {
        name,
        doc,
        run,
        seeds,
        mutations,
        memory: 64 << 20,
    }
}
