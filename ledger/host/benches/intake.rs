//! How many entries of other validators a host takes in a second, by the cores it may use.
//!
//! `cargo bench -p gridbay-host --bench intake` signs transfers, sends them to a host in the
//! messages in which a validator spreads them, and tells how many it checks and takes into its
//! mempool in a second: on one core, which is the baseline, and on all that the machine has.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends at the first error")]

mod world;

use gridbay_host::limits::BATCH_ENTRIES;
use gridbay_host::message::HostMessage;
use gridbay_host::{HostInput, Received};
use gridbay_protocol::genesis::Genesis;
use std::thread::available_parallelism;
use std::time::Instant;
use world::{MEMBERS, Payers, WINDOW, genesis, key, open, step};

/// Messages, together as much as the members may have in a mempool.
const BATCHES: usize = MEMBERS * 512 / BATCH_ENTRIES;

/// Entries in a second.
fn intake(genesis: &Genesis, batches: &[Vec<u8>], cores: usize) -> f64 {
    let place = tempfile::tempdir().unwrap();
    let mut host = open(genesis, place.path(), None, false);
    host.use_cores(cores);
    step(&mut host, 1, HostInput::Start);
    let from = *key(101).public().as_bytes();
    let begin = Instant::now();
    for bytes in batches {
        let message = Received::Bytes(bytes.clone());
        step(&mut host, 2, HostInput::Message { from, message });
    }
    let took = begin.elapsed().as_secs_f64();
    assert_eq!(host.mempool_len(), batches.len() * BATCH_ENTRIES);
    host.mempool_len() as f64 / took
}

fn main() {
    let genesis = genesis();
    let payers = Payers::of(&genesis);
    let batch = |first: usize| {
        let numbers = first..first + BATCH_ENTRIES;
        let entries = numbers.map(|n| payers.transfer(n, WINDOW)).collect();
        HostMessage::Entries(entries).encode()
    };
    let batches: Vec<_> = (0..BATCHES).map(|n| batch(n * BATCH_ENTRIES)).collect();
    let one = intake(&genesis, &batches, 1);
    println!("on one core: {one:.0} entries a second");
    let cores = available_parallelism().map_or(1, usize::from);
    let all = intake(&genesis, &batches, cores);
    println!("on {cores}: {all:.0}, {:.2} times as many", all / one);
}
