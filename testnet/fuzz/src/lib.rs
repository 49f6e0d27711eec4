//! Fuzz targets: plain functions on bytes that assert what must hold for any input at all.
//!
//! A [`Target`] takes bytes as they may come from a hostile peer, a torn disk or a careless user,
//! and panics if a promise is broken. [`TARGETS`] lists them, one file per family. They run in two
//! ways:
//!
//! 1. `cargo test -p gridbay-fuzz` replays the corpus, the seeds and a fixed number of
//!    [mutations](mutate);
//! 2. `testnet/fuzz/run` runs one target under libFuzzer for any length of time
//!    (`docs/fuzzing.md`).
//!
//! Beyond not panicking, targets promise:
//!
//! - bytes that decode are the only encoding of their value: encoding gives them back, they are
//!   canonical to an independent parser ([`cbor`]), and every other way to write the same value is
//!   refused;
//! - ids, hashes and checked stages follow from the value alone, and nothing passes a check that an
//!   independent source of truth (the chain that was really built, a plain map) contradicts;
//! - a machine fed with anything neither faults nor contradicts itself.

pub mod cbor;
pub mod mutate;
pub mod reader;

mod agent;
mod block;
mod codec;
mod disk;
mod entry;
mod execute;
mod genesis;
mod golden;
mod host;
mod ledgers;
mod log;
mod market;
mod message;
mod network;
mod orders;
mod overlay;
mod proof;
mod query;
mod snapshot;
mod strict;
mod text;
mod tree;
mod vote;

/// The result of a target for its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The input passed the checks.
    Accepted,
    /// The input was refused, as most inputs must be.
    Refused,
}

impl Verdict {
    fn of(accepted: bool) -> Verdict {
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
const fn decoder(
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
const fn machine(
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

/// All targets, by family.
pub const TARGETS: &[Target] = &[
    codec::NESTED,
    codec::REWRITES,
    entry::SIGNED_ENTRY,
    entry::RECEIVE,
    entry::GRANT,
    block::HEADER,
    block::BLOCK,
    vote::VOTE,
    vote::PROPOSAL,
    vote::CERTIFICATE,
    vote::EVIDENCE,
    vote::VALIDATOR_SET,
    genesis::GENESIS,
    genesis::POLICY,
    genesis::INVITATION,
    genesis::INVITATION_TEXT,
    market::ADVERT,
    market::BID,
    market::BUY,
    market::OFFER,
    market::EFFECT,
    market::CLEARING,
    market::JOB,
    message::HOST_MESSAGE,
    agent::REQUEST,
    agent::REPLY,
    agent::START,
    agent::ORDER_RECORD,
    agent::JOB_MEMO,
    agent::WITHHELD,
    agent::ADVERTS,
    text::CREDITS,
    text::IDS,
    text::JSON,
    text::PATHS,
    query::QUERY,
    tree::STATE_TREE,
    proof::TREE_PROOF,
    proof::LIGHT_HEADERS,
    proof::LIGHT_FACTS,
    log::FRONTIER,
    log::INCLUSION,
    log::CONSISTENCY,
    snapshot::RESTORE,
    execute::MARKET,
    execute::FORGED,
    disk::BLOCK_FILE,
    disk::BLOCK_FILE_DAMAGE,
    disk::JOURNAL,
    disk::JOURNAL_DAMAGE,
    disk::SNAPSHOT_FILE,
    host::MESSAGES,
    host::GUARD,
    overlay::NODE_RECORD,
    overlay::FRAME,
];
