//! Entries that a validator tells some and keeps from others: those who have them tell the rest,
//! before they insist on them.

use crate::crowding::{ENDOWMENT, with_house};
use crate::genesis::{peer, validator};
use crate::inclusion::{censor, censored};
use crate::mempool::{STRANGER, give, host, payment, signed};
use crate::world::World;
use gridbay_host::message::HostMessage;
use gridbay_host::{HostInput, Sought};
use gridbay_protocol::election;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::vote::VoteKind;
use std::cell::Cell;
use std::rc::Rc;

fn knows(world: &World, i: usize, id: &EntryId) -> bool {
    let waiting = host(world, i).waiting();
    waiting.iter().any(|known| known.id() == *id)
}

/// A validator, number 3 as they think, tells all but number 3 of an entry of member 1.
fn withhold(world: &mut World) -> EntryId {
    let entry = world.transfer(1);
    for i in 0..3 {
        give(world, i, peer(3), vec![entry.signed().clone()]);
    }
    let id = entry.id();
    assert!(knows(world, 0, &id) && !knows(world, 3, &id));
    id
}

#[test]
fn what_one_block_left_out_is_told_to_all_before_anybody_insists_on_it() {
    let mut world = censored(0, 54, 3);
    let id = withhold(&mut world);
    let tip = world.tip(0);
    assert!(world.run(world.now + 20_000, |w| knows(w, 3, &id)));
    // It is due, and a vote could be cast against a block without it, two blocks later.
    assert!(world.tip(3) <= tip + 1, "{} > {tip} + 1", world.tip(3));
}

#[test]
fn who_votes_against_an_omission_sends_the_entry_along() {
    let mut world = censored(0, 55, 3);
    // An entry that is told reaches number 3 only if it goes along with a vote for no block.
    let refused = Rc::new(Cell::new(None));
    let last = Rc::clone(&refused);
    world.lost = Some(Box::new(move |now, from, to, message| {
        match message {
            HostMessage::Vote(signed)
                if signed.vote.kind == VoteKind::Prevote && signed.vote.block.is_none() =>
            {
                last.set(Some((now, from)));
            }
            HostMessage::Entries(_) => return to == 3 && last.get() != Some((now, from)),
            _ => {}
        }
        false
    }));
    let id = withhold(&mut world);
    let tip = world.tip(0);
    let told = world.run(world.now + 20_000, |w| knows(w, 3, &id));
    assert!(told, "the last one never hears of it");
    assert!(refused.get().is_some());
    assert!(world.tip(3) <= tip + 4, "{} > {tip} + 4", world.tip(3));
}

#[test]
fn hundreds_of_withheld_entries_cost_an_honest_proposer_no_round() {
    let mut world = World::new(4, 0, 56);
    // The others leave out all entries, so that number 3 owes what it was not told.
    world.lie = Some((vec![0, 1, 2], censor(|_| true)));
    world.lies_may_pass = true;
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(3)));
    let mut own = vec![];
    for sent in 0..24 {
        let tip = world.tip(0);
        let state = host(&world, 0).state();
        let ranking = election::ranking(&state.election_seed(), tip + 1, state.validators());
        own.extend((ranking[0] == validator(3)).then_some(tip + 1));
        let entries: Vec<SignedEntry> = (0..100)
            .map(|_| world.transfer(sent % 4).signed().clone())
            .collect();
        for i in 0..3 {
            give(&mut world, i, peer(3), entries.clone());
        }
        assert!(world.run(world.now + 20_000, |w| w.all_at(tip + 1)));
    }
    let rounds: Vec<_> = own.iter().map(|height| world.rounds[height]).collect();
    assert!(rounds.len() >= 3, "number 3 has few turns: {own:?}");
    assert!(
        rounds.iter().all(|round| *round == 0),
        "{own:?}: {rounds:?}"
    );
}

/// Whether number 3 is first to make the block after the tip.
fn is_third_next(world: &World) -> bool {
    let state = host(world, 0).state();
    let height = state.height() + 1;
    election::ranking(&state.election_seed(), height, state.validators())[0] == validator(3)
}

#[test]
fn what_waited_and_left_one_pool_costs_an_honest_proposer_no_round() {
    let (mut world, house) = with_house(4, 57, 24);
    // Number 3 has no room for them: waiting entries have only a part of a mempool.
    let accounts: Vec<_> = house.iter().map(|(account, _)| *account).collect();
    world.lost = Some(Box::new(move |_, _, to, message| match message {
        HostMessage::Entries(sent) => {
            to == 3 && sent.iter().any(|e| accounts.contains(&e.entry.account))
        }
        _ => false,
    }));
    let (to, mut sent) = (world.account(1), vec![]);
    for valid_until in 250..254 {
        for (account, key) in &house {
            let all = payment(to, ENDOWMENT);
            sent.push(signed(&world, *account, key, valid_until, all));
        }
    }
    for i in 0..3 {
        give(&mut world, i, STRANGER, sent.clone());
    }
    let tip = world.tip(0);
    assert!(world.run(world.now + 60_000, |w| w.all_at(tip + 4)));
    world.lost = None;
    let mut own = vec![];
    for (account, _) in &house {
        let money = world.sign(0, payment(*account, ENDOWMENT), 250);
        let sought = Sought::from(&*money);
        world.input(0, HostInput::Submit(vec![money]));
        assert!(world.run(world.now + 20_000, |w| {
            host(w, 0).entry_height(sought).is_some()
        }));
        let height = world.tip(0) + 1;
        own.extend(is_third_next(&world).then_some(height));
        assert!(world.run(world.now + 20_000, |w| w.all_at(height + 2)));
    }
    let rounds: Vec<_> = own.iter().map(|height| world.rounds[height]).collect();
    assert!(own.len() >= 2, "number 3 has few turns: {own:?}");
    assert!(
        rounds.iter().all(|round| *round == 0),
        "{own:?}: {rounds:?}"
    );
}
