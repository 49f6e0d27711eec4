//! All words of refusals, with what they tell people: those of the protocol, of the ledger, and of
//! the own node.

use crate::needs;
use gridbay_ledger::{CONTRACT_WORDS, REFUSAL_WORDS, RESERVATION_WORDS, SEAT_WORDS};
use gridbay_protocol::order::{ContractFault, Flaw};
use gridbay_protocol::stage::Malformed;
use gridbay_protocol::told::Told;

const ELSEWHERE: &str =
    "take fewer nodes, or another class: `gridbay market find` shows who has it";

/// Reasons that only a node gives, beside those of the ledger.
const OWN: &[Told] = &[
    Told::new(
        "job",
        "The job's text is out of range",
        "shorten arguments or inputs",
    ),
    Told::new(
        "signature",
        "The node's own key does not sign what it should",
        "look after the key file",
    ),
    Told::new(
        "trouble",
        "The node's clock or disk is wrong",
        "cure it; the node goes on by itself",
    ),
    Told::new(
        "draining",
        "The node drains, so it offers nothing",
        "`gridbay node resume` takes leases again",
    ),
    Told::new(
        "project",
        "The project has too little left of its budget, or too many jobs or nodes at once; or an amendment would pass what the project counts on",
        "`gridbay project show` tells what it may and has used",
    ),
    Told::new(
        "busy",
        "Too many entries of the account wait for their inclusion, or the node itself is withdrawing the offer or setting it again",
        "try again after the next blocks",
    ),
    Told::new(
        "not_included",
        "Sent again and again, and no block took it",
        "see `gridbay status`: the network may be behind, or this node cut off; then send it again",
    ),
    Told::new(
        needs::NETWORK,
        "Too few units with a network of their own",
        ELSEWHERE,
    ),
    Told::new(needs::MPI, "Too few units with OpenMPI", ELSEWHERE),
    Told::new(needs::DASK, "Too few units with Dask", ELSEWHERE),
    Told::new(
        needs::INTERNET,
        "Too few units that let jobs reach the web",
        ELSEWHERE,
    ),
];

/// What a refusal's word tells people.
pub fn told(word: &str) -> Option<Told> {
    all().find(|told| told.word == word)
}

/// All of them, each word once.
pub fn all() -> impl Iterator<Item = Told> {
    let others = [
        ContractFault::WORDS,
        Malformed::WORDS,
        REFUSAL_WORDS,
        CONTRACT_WORDS,
        RESERVATION_WORDS,
        SEAT_WORDS,
        OWN,
    ];
    let flaws = Flaw::ALL.into_iter().map(Flaw::told);
    flaws.chain(others.into_iter().flatten().copied())
}
