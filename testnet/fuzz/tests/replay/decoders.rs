//! Every decoder has a target.
//!
//! Everything that comes from a peer or a disk goes through `codec::decode`, or through one of the
//! few decoders of other forms. [`DECODERS`] lists each file that decodes, how often it does, and
//! the targets that feed it. A decoder that is added, moved or removed fails here until its line
//! says who feeds it.

use gridbay_fuzz::TARGETS;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with code that reads foreign bytes.
const ROOTS: &[&str] = &[
    "protocol/src",
    "ledger/src",
    "ledger/host/src",
    "node/core/src",
    "node/src",
];

/// How a decoder is called in the sources.
const CALLS: &[&str] = &["codec::decode", "frame::Reader::new"];

/// File, calls of a decoder in it, targets that feed them.
const DECODERS: &[(&str, usize, &[&str])] = &[
    ("ledger/host/src/blocks.rs", 1, &["block_file"]),
    ("ledger/host/src/index/postings.rs", 1, &["effect"]),
    ("ledger/host/src/journal.rs", 3, &["journal"]),
    ("ledger/host/src/message.rs", 1, &["host_message"]),
    ("ledger/host/src/snapshots.rs", 1, &["snapshot_file"]),
    ("ledger/src/snapshot.rs", 1, &["snapshot_restore"]),
    ("node/core/src/buyer/record.rs", 1, &["order_record"]),
    ("node/core/src/keeper.rs", 1, &["kept_copies"]),
    ("node/core/src/seller.rs", 1, &["job_memo"]),
    (
        "node/core/src/steer/wire.rs",
        2,
        &["owner_question", "owner_answer"],
    ),
    ("node/core/src/withheld.rs", 1, &["withheld_offers"]),
    ("node/src/body/ask.rs", 2, &["agent_request", "agent_reply"]),
    ("node/src/auction/clearings.rs", 1, &["effect"]),
    ("node/src/auction/handle.rs", 2, &["effect"]),
    (
        "node/src/cli/auction.rs",
        4,
        &["validator_set", "certificate", "header", "light_facts"],
    ),
    (
        "node/src/cli/chain.rs",
        3,
        &["header", "certificate", "validator_set"],
    ),
    (
        "node/src/cli/ledger/proof.rs",
        3,
        &["certificate", "header", "light_facts"],
    ),
    ("node/src/ledger/blocks.rs", 1, &["effect"]),
    ("node/src/overlay/wire/codec.rs", 3, &["frame"]),
    ("node/src/store/transfers/book.rs", 1, &["signed_entry"]),
    ("node/src/store/transfers/mod.rs", 1, &["signed_entry"]),
    ("protocol/src/advert.rs", 1, &["advert", "adverts_heard"]),
    ("protocol/src/block.rs", 1, &["block"]),
    ("protocol/src/checkpoint.rs", 1, &["checkpoint_manifest"]),
    ("protocol/src/genesis.rs", 1, &["genesis"]),
    ("protocol/src/invitation.rs", 1, &["invitation"]),
    ("protocol/src/node_record.rs", 1, &["node_record"]),
    ("protocol/src/stage.rs", 1, &["entry_receive"]),
];

/// Rust files below a folder, that are no tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
    found
}

/// Calls of decoders in a text, without comments and what follows `#[cfg(test)]`.
fn calls(text: &str) -> usize {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
    lines
        .map(|line| {
            let found = CALLS.iter().map(|call| line.matches(call).count());
            found.sum::<usize>()
        })
        .sum()
}

#[test]
fn every_decoder_has_a_target() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeMap::new();
    for source in ROOTS.iter().flat_map(|folder| sources(&root.join(folder))) {
        let n = calls(&fs::read_to_string(&source).expect("a source can be read"));
        let path = source.strip_prefix(&root).expect("it is below");
        if n > 0 {
            found.insert(path.to_string_lossy().into_owned(), n);
        }
    }
    let listed = DECODERS.iter().map(|(file, n, _)| ((*file).to_owned(), *n));
    assert_eq!(found, listed.collect());
    for (file, _, targets) in DECODERS {
        for name in *targets {
            let known = TARGETS.iter().any(|target| target.name == *name);
            assert!(known, "{file}: no target named {name}");
        }
    }
}

#[test]
fn calls_are_counted_outside_comments_and_tests() {
    let text = "// codec::decode\nlet a = codec::decode(b); codec::decode(c);\n#[cfg(test)]\ncodec::decode(d)";
    assert_eq!(calls(text), 2);
}
