//! How long a node takes to serve again after a restart.
//!
//! `cargo bench -p gridbay-host --bench restart -- 1000000` has one validator decide blocks with
//! that many signed transfers (100,000 if no number is given), each block as full as allowed, on
//! the real disk with its index. Then it measures, from opening the files to the answer about the
//! last block and an account's history:
//!
//! 1. after a clean stop;
//! 2. after a kill: on a copy of the files made while the node was running;
//! 3. as the baseline, the execution of a tenth of the same blocks from the genesis on, without
//!    snapshot and index, and what that means for all of them.
//!
//! The bar for 1 and 2 is 2 s; the run fails only beyond three times that, so that a busy machine
//! does not.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "a benchmark reports to its reader")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends at the first error")]

mod world;

use gridbay_host::{Host, HostInput};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::limits::BLOCK_ENTRIES;
use gridbay_protocol::stage::{Authentic, WellFormed};
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};
use world::{Payers, WINDOW, genesis, key, step};

const BAR: Duration = Duration::from_secs(2);

fn open(genesis: &Genesis, root: &Path, indexed: bool) -> Host {
    world::open(genesis, root, Some(key(100)), indexed)
}

/// Signs and checks transfers in a thread of its own, a block's worth at a time.
fn transfers(genesis: &Genesis, count: usize) -> Receiver<Vec<Arc<Authentic>>> {
    let (sender, receiver) = sync_channel(4);
    let (network, payers) = (genesis.network(), Payers::of(genesis));
    std::thread::spawn(move || {
        let sign = |n: usize| {
            let valid_until = (n / BLOCK_ENTRIES) as u64 + WINDOW;
            let signed = payers.transfer(n, valid_until);
            let formed = WellFormed::check(&network, signed).unwrap();
            Arc::new(formed.authenticate().unwrap())
        };
        for start in (0..count).step_by(BLOCK_ENTRIES) {
            let batch = (start..count.min(start + BLOCK_ENTRIES)).map(sign);
            if sender.send(batch.collect()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Has the validator decide all transfers; returns the time.
fn build(host: &mut Host, genesis: &Genesis, count: usize) -> u64 {
    let mut ms = 1;
    step(host, ms, HostInput::Start);
    for batch in transfers(genesis, count) {
        // The next height starts some time after the last decision, so all of them are in its
        // block.
        let mut wake = ms;
        for entry in batch {
            wake = step(host, ms, HostInput::Submit(vec![entry]));
        }
        while host.mempool_len() > 0 {
            ms = wake.max(ms + 1);
            wake = step(host, ms, HostInput::Tick);
        }
    }
    ms
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Opens a node and asks it; how long that took, and its height.
fn serve(genesis: &Genesis, root: &Path, ms: u64, indexed: bool) -> (Duration, u64) {
    let start = Instant::now();
    let mut host = open(genesis, root, indexed);
    step(&mut host, ms, HostInput::Start);
    let tip = host.state().height();
    host.block(tip).unwrap().unwrap();
    let account = genesis.account(&genesis.members[0]);
    let lines = host.history(&account, u64::MAX, 100).len();
    let took = start.elapsed();
    assert!(!indexed || lines == 100);
    (took, tip)
}

fn report(case: &str, took: Duration) -> bool {
    println!(
        "{case:<44} {:8.3} s | bar {} s",
        took.as_secs_f64(),
        BAR.as_secs()
    );
    took <= 3 * BAR
}

fn main() -> ExitCode {
    let count = std::env::args().find_map(|arg| arg.parse().ok());
    let count: usize = count.unwrap_or(100_000);
    let place = tempfile::tempdir().unwrap();
    let (root, killed, prefix) = (
        place.path().join("node"),
        place.path().join("killed"),
        place.path().join("prefix"),
    );
    let genesis = genesis();
    let start = Instant::now();
    let mut host = open(&genesis, &root, true);
    let ms = build(&mut host, &genesis, count);
    let (tip, state) = (host.state().height(), host.state().root());
    copy(&root, &killed);
    drop(host);
    let file = root.join("ledger").join("blocks");
    let bytes = fs::metadata(&file).unwrap().len();
    println!(
        "{count} transfers in {tip} blocks of {bytes} bytes in all, made in {:.1} s",
        start.elapsed().as_secs_f64()
    );

    assert_eq!(open(&genesis, &root, true).state().root(), state);
    let (stopped, height) = serve(&genesis, &root, ms, true);
    // It decides the next, empty block at once.
    assert!((tip..=tip + 1).contains(&height));
    let mut good = report("serves after a clean stop", stopped);
    let (crashed, height) = serve(&genesis, &killed, ms, true);
    assert!((tip..=tip + 1).contains(&height));
    good &= report("serves after a kill", crashed);

    // A tenth of the block file and nothing else; the record that is cut through is a torn end.
    fs::create_dir_all(prefix.join("ledger")).unwrap();
    let mut tenth = fs::read(&file).unwrap();
    tenth.truncate(tenth.len() / 10);
    fs::write(prefix.join("ledger").join("blocks"), tenth).unwrap();
    let (executed, height) = serve(&genesis, &prefix, ms, false);
    let all = executed.mul_f64(tip as f64 / height as f64);
    println!(
        "baseline: {height} blocks executed from the genesis {:.3} s, so {:.1} s for all; {:.0} times the restart",
        executed.as_secs_f64(),
        all.as_secs_f64(),
        all.as_secs_f64() / stopped.as_secs_f64()
    );
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
