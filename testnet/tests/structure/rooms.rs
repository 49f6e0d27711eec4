//! A mechanism is one room in each layer, of the same name everywhere (ADR 19).
//!
//! 1. The rooms of a mechanism, [`ROOMS`], exist in every layer, as a file or as a folder.
//! 2. Elsewhere in the product few files lead to them: those that [`leads`] finds for a mechanism
//!    would have to be touched for a new one of its kind, at most [`TOUCHED`].

use crate::files::Source;

/// Mechanisms under which something is sold.
pub(crate) const MECHANISMS: &[&str] = &[
    "ausubel",
    "buy",
    "contract",
    "deadline",
    "posted",
    "reservation",
    "share",
];
/// Where the room of each is, without the end of the name.
const ROOMS: &[&str] = &[
    "protocol/src/order/",
    "protocol/src/record/",
    "ledger/src/sell/",
    "node/core/src/buy/",
    "node/src/buy/",
    "testnet/sim/src/load/",
];
/// Where else a file of its name belongs to it.
const MORE: &[&str] = &[
    "protocol/src/mechanism/",
    "protocol/src/policy/",
    "ledger/src/record/",
    "ledger/src/refusal/",
    "node/src/auction/types/",
    "node/src/cli/auction/",
];
/// The mechanism by which files are counted: the last one that was added.
pub(crate) const SAMPLE: &str = "posted";
/// Product files outside its rooms that name the sample's rooms, at the most.
pub(crate) const TOUCHED: usize = 15;

/// Rooms that are missing.
pub(crate) fn missing(sources: &[Source]) -> Vec<String> {
    let exists = |room: &str| sources.iter().any(|source| is_in(&source.path, room));
    let rooms = MECHANISMS
        .iter()
        .flat_map(|name| ROOMS.iter().map(move |layer| format!("{layer}{name}")));
    rooms
        .filter(|room| !exists(room))
        .map(|room| format!("no room {room}"))
        .collect()
}

/// Product files outside a mechanism's rooms that import from one, declare one, or have a variant
/// of its name.
pub(crate) fn leads(name: &str, sources: &[Source]) -> Vec<String> {
    let product = |path: &str| {
        let packages = [
            "protocol/src/",
            "ledger/src/",
            "ledger/host/src/",
            "node/core/src/",
        ];
        packages.iter().any(|p| path.starts_with(p)) || path.starts_with("node/src/")
    };
    let own = |path: &str| {
        let mut rooms = ROOMS.iter().chain(MORE);
        rooms.any(|layer| is_in(path, &format!("{layer}{name}")))
    };
    let names = [
        format!("mod {name};"),
        format!("mechanism::{name}"),
        format!("order::{name}"),
        format!("record::{name}"),
        format!("sell::{name}"),
        format!("buy::{name}"),
        format!("refusal::{name}"),
        format!("policy::{name}"),
        format!("{name}::"),
    ];
    let variant = variant(name);
    let found = sources.iter().filter(|source| {
        let leads = || {
            let lines = source.text.lines();
            let code = lines.filter(|line| !line.trim_start().starts_with("//"));
            let mut words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
            names.iter().any(|lead| source.text.contains(lead)) || words.any(|w| w == variant)
        };
        product(&source.path) && !own(&source.path) && leads()
    });
    found.map(|source| source.path.clone()).collect()
}

/// The name of an enum's variant for a mechanism.
fn variant(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// Whether a path is that of a room's file, or lies in its folder.
fn is_in(path: &str, room: &str) -> bool {
    let rest = path.strip_prefix(room);
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[test]
fn a_room_that_is_missing_is_found() {
    let rooms = MECHANISMS
        .iter()
        .flat_map(|name| ROOMS.iter().map(move |layer| format!("{layer}{name}.rs")));
    let mut all: Vec<Source> = rooms.map(|path| Source::sample(&path, "")).collect();
    assert!(missing(&all).is_empty());
    all.retain(|source| source.path != "ledger/src/sell/share.rs");
    assert_eq!(missing(&all), ["no room ledger/src/sell/share"]);
    all.push(Source::sample("ledger/src/sell/share/mod.rs", ""));
    assert!(missing(&all).is_empty());
}

#[test]
fn who_leads_to_a_room_is_counted() {
    let all = [
        Source::sample("node/src/buy/mod.rs", "mod share;"),
        Source::sample(
            "node/src/buy/share/plan.rs",
            "use gridbay_core::buy::share::Claim;",
        ),
        Source::sample("node/src/job/why.rs", "use crate::buy::share;"),
        Source::sample(
            "node/src/job/state.rs",
            "use crate::buy::buy; struct Shared;",
        ),
        Source::sample("node/src/job/kind.rs", "enum Kind { Share(Claim) }"),
        Source::sample(
            "node/src/job/word.rs",
            "/// Share and share alike.\nfn f() {}",
        ),
        Source::sample("testnet/src/x.rs", "use crate::buy::share;"),
    ];
    assert_eq!(
        leads("share", &all),
        [
            "node/src/buy/mod.rs",
            "node/src/job/why.rs",
            "node/src/job/kind.rs"
        ]
    );
}
