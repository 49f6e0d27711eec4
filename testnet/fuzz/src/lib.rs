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
mod steer;
mod strict;
mod target;
mod text;
mod tree;
mod vote;

pub use target::{PER_BYTE, Target, Verdict};
use target::{decoder, machine};

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
    steer::QUESTION,
    steer::ANSWER,
    agent::START,
    agent::ORDER_RECORD,
    agent::JOB_MEMO,
    agent::MANIFEST,
    agent::WITHHELD,
    agent::COPIES,
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
