//! A buyer whose openings no proposer includes: its node appeals, gets the deposit back and tries
//! again.

use crate::genesis::credits;
use crate::{finish, market, order, sealed};
use gridbay_core::buyer::Finish;
use gridbay_core::key::OrderKey;
use gridbay_host::message::{Body, HostMessage, SignedProposal};
use gridbay_ledger::{Draft, State};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::stage::WellFormed;
use std::sync::Arc;

/// The messages of a proposer that leaves out the openings of an account.
pub(crate) fn censor(bytes: Vec<u8>, state: &State, victim: AccountId, key: &SecretKey) -> Vec<u8> {
    let Ok(HostMessage::Proposal(mut offered)) = HostMessage::decode(&bytes) else {
        return bytes;
    };
    let Some(Body::Whole(block)) = &mut offered.body else {
        return bytes;
    };
    let unwanted = |signed: &SignedEntry| {
        signed.entry.account == victim && matches!(signed.entry.body, EntryBody::Open(_))
    };
    if !block.entries.iter().any(unwanted) {
        return bytes;
    }
    let authentic = |signed: &SignedEntry| {
        let formed = WellFormed::check(&state.network(), signed.clone());
        let formed = formed.expect("an honest proposer took it in");
        Arc::new(formed.authenticate().expect("and checked its signature"))
    };
    let kept = block.entries.iter().filter(|e| !unwanted(e));
    let draft = Draft {
        proposer: block.header.proposer,
        time_ms: block.header.time_ms,
        reveal: block.header.beacon_reveal.0,
        last_commit: block.last_commit.clone(),
        evidence: vec![],
        entries: kept.map(authentic).collect(),
        hints: vec![],
    };
    **block = state.propose(draft).block.block().clone();
    let mut proposal = offered.signed.proposal;
    proposal.block = block.id();
    offered.signed = SignedProposal::new(proposal, &state.network(), key);
    HostMessage::Proposal(offered).encode()
}

#[test]
fn a_node_appeals_for_an_opening_that_was_acknowledged_and_left_out() {
    let mut world = market();
    let victim = world.nodes[4].core.account().unwrap();
    world.censored = Some(victim);
    let want = order(&world, 7, sealed(3, 400), 3, 1);
    world.order(4, want);
    let agent = |w: &crate::World| w.nodes[4].core.buyer().order(&OrderKey(7)).cloned();
    let attempt = |w: &crate::World| agent(w).map_or(0, |a| a.record().attempt);
    assert!(world.run_until(20_000, |w| attempt(w) == 1));
    let first = agent(&world).unwrap().id.unwrap();
    let waits = |w: &crate::World| w.nodes[4].core.state().unopened(&first).is_some();
    assert!(world.run_until(20_000, waits), "no block took the opening");
    let receipts = agent(&world).unwrap();
    let receipts = receipts.sent_opening().unwrap().receipts.len();
    assert!(receipts >= 2, "{receipts} receipts");
    // A restart in between forgets neither the opening nor its receipts.
    world.kill(4);
    world.restart(4);
    let over = |w: &crate::World| attempt(w) == 2;
    assert!(world.run_until(20_000, over), "a second attempt");
    world.censored = None;
    let done = |w: &crate::World| finish(w, 4, 7) == Some(Finish::Done);
    assert!(world.run_until(60_000, done));
    let state = world.nodes[4].core.state();
    assert_eq!(state.purse(&Purse::Bank), 0, "nothing was forfeited");
    assert!(state.balance(&victim).free < credits(100).micros() as i64);
}
