//! Inclusion: acknowledged entries get into the book, whoever proposes and whatever crashes.

use crate::genesis::{account_key, consensus_key, peer, validator};
use crate::rng::Rng;
use crate::world::{Lie, World};
use gridbay_host::message::{Acknowledgement, HostMessage};
use gridbay_host::{Host, HostEffect, HostInput, Offence, Received, Sought};
use gridbay_ledger::{Draft, State};
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::block::Block;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{EntryId, Hash32};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits::INCLUSION_HEIGHTS;
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::Credits;
use std::sync::Arc;

/// A proposer that leaves entries out of blocks that are right in every other way.
pub(crate) fn censor(unwanted: impl Fn(&SignedEntry) -> bool + 'static) -> Lie {
    Box::new(move |block: &Block, state: &State, _: &mut Rng| {
        let kept = block.entries.iter().filter(|e| !unwanted(e));
        let authentic = |signed: &SignedEntry| {
            let formed = WellFormed::check(&state.network(), signed.clone());
            Arc::new(formed.unwrap().authenticate().unwrap())
        };
        let entries: Vec<Arc<Authentic>> = kept.map(authentic).collect();
        (entries.len() < block.entries.len()).then(|| {
            let draft = Draft {
                proposer: block.header.proposer,
                time_ms: block.header.time_ms,
                reveal: block.header.beacon_reveal.0,
                last_commit: block.last_commit.clone(),
                evidence: block.evidence.clone(),
                entries,
                hints: vec![],
            };
            state.propose(draft).block.block().clone()
        })
    })
}

fn host(world: &World, i: usize) -> &Host {
    world.hosts[i].as_ref().expect("it runs")
}

/// Highest tip that the promises for an entry name.
fn acknowledged_at(promises: &[Receipt]) -> u64 {
    let heights = promises.iter().map(|promise| promise.height);
    heights.max().expect("there are promises")
}

#[test]
fn two_censors_of_seven_delay_what_was_acknowledged_by_three_blocks_at_most() {
    let mut world = World::new(7, 0, 21);
    let victim = world.account(1);
    let lie = censor(move |signed| signed.entry.account == victim);
    world.lie = Some((vec![5, 6], lie));
    world.lies_may_pass = true;
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(2)));
    let mut sent = vec![];
    for k in 0..80 {
        for from in [1, k % 5] {
            let entry = world.transfer(from);
            sent.push((from, Sought::from(&*entry)));
            world.input(from, HostInput::Submit(vec![entry]));
        }
        world.run(world.now + 130, |_| false);
    }
    let enough = world.tip(1) + INCLUSION_HEIGHTS;
    assert!(world.run(world.now + 60_000, |w| w.tip(1) >= enough));
    let mut acknowledged = 0;
    for (from, entry) in &sent {
        let owner = host(&world, *from);
        let included = owner
            .entry_height(*entry)
            .expect("every entry is in the book");
        if world.receipted.contains(&entry.id) {
            acknowledged += 1;
            let limit = acknowledged_at(&owner.promises(&entry.id)) + INCLUSION_HEIGHTS;
            assert!(included <= limit, "{included} > {limit}");
        }
    }
    assert!(world.lies.len() >= 8, "only {} omissions", world.lies.len());
    assert!(acknowledged >= 10, "only {acknowledged} acknowledged");
    // An omission that comes too late costs its proposer the round, and no more than that.
    assert!(world.rounds.values().all(|round| *round <= 2));
}

#[test]
fn another_entry_of_the_victim_excuses_no_omission() {
    let mut world = World::new(4, 0, 22);
    let victim = world.account(1);
    let parity = |signed: &SignedEntry| match &signed.entry.body {
        EntryBody::Transfer { memo, .. } => memo.0[0] % 2,
        _ => 1,
    };
    let lie = censor(move |signed| signed.entry.account == victim && parity(signed) == 0);
    world.lie = Some((vec![0, 1, 2, 3], lie));
    world.lies_may_pass = true;
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(3)));
    let send = |world: &mut World, wanted: u8| loop {
        let entry = world.transfer(1);
        let sought = Sought::from(&*entry);
        if parity(entry.signed()) == wanted {
            world.input(1, HostInput::Submit(vec![entry]));
            return sought;
        }
    };
    let left_out = send(&mut world, 0);
    let tip = world.tip(1);
    for _ in 0..1_000 {
        if world.tip(1) >= tip + 6 {
            break;
        }
        send(&mut world, 1);
        world.run(world.now + 40, |_| false);
    }
    let owner = host(&world, 1);
    assert_eq!(owner.entry_height(left_out), None, "all leave it out");
    for height in tip + 4..=tip + 6 {
        let block = owner.block(height).unwrap().expect("decided").block;
        let others = block.entries.iter().filter(|e| e.entry.account == victim);
        assert!(others.count() > 0, "its owner has other entries there");
        // Rounds 0 and 1 were refused; round 2 is let through.
        assert!(world.rounds[&height] >= 2, "{:?}", world.rounds);
    }
}

fn key_list(keys: &[SecretKey]) -> Vec<AccountKey> {
    let listed = keys.iter().map(|key| AccountKey {
        key: key.public(),
        roles: Roles::ALL,
    });
    let mut list: Vec<AccountKey> = listed.collect();
    list.sort_by_key(|listed| listed.key);
    list
}

#[test]
fn a_key_taken_and_given_back_costs_honest_proposers_no_round() {
    let mut world = World::new(4, 0, 23);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(3)));
    let contended = SecretKey::from_seed(&[222; 32]);
    let opens = EntryBody::OpenAccount {
        grant: None,
        keys: key_list(std::slice::from_ref(&contended)),
        endowment: Credits::ZERO,
    };
    let opens = world.sign(2, opens, 300);
    let first = world.tip(0);
    // Its taking is in every second block, before the opening or after it as the beacon draws.
    for height in first..first + 14 {
        if host(&world, 0).entry_height(&*opens).is_some() {
            break;
        }
        let own = account_key(1);
        let keys = match (height - first) % 2 {
            0 => key_list(&[own, contended.clone()]),
            _ => key_list(&[own]),
        };
        let entry = world.sign(1, EntryBody::SetKeys { keys }, height + 100);
        world.input(1, HostInput::Submit(vec![entry]));
        if height == first {
            world.input(2, HostInput::Submit(vec![opens.clone()]));
        }
        assert!(world.run(world.now + 10_000, |w| w.all_at(height + 1)));
    }
    let opened = host(&world, 0).entry_height(&*opens);
    assert!(opened.is_some(), "its turn came first in some block");
    assert!(world.refused.is_empty(), "{:?}", world.refused);
    assert!(
        world.rounds.values().all(|round| *round == 0),
        "{:?}",
        world.rounds
    );
}

#[test]
fn accounts_that_empty_one_another_keep_nobody_out_and_cost_no_round() {
    let mut world = World::new(9, 0, 24);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(2)));
    let mut conspiracy = vec![];
    for n in 0..512u32 {
        for i in 1..=8 {
            let to = world.account(((i - 1) ^ 1) + 1);
            let mut memo = Hash32::default();
            memo.0[..4].copy_from_slice(&n.to_le_bytes());
            let amount = Credits::from_micros(1_000_000_000).unwrap();
            let body = EntryBody::Transfer { to, amount, memo };
            conspiracy.push(world.sign(i, body, 300).signed().clone());
        }
    }
    for batch in conspiracy.chunks(128) {
        for i in 0..9 {
            let message = HostMessage::Entries(batch.to_vec());
            let message = Received::Message(message);
            let from = peer((i + 1) % 9);
            world.input(i, HostInput::Message { from, message });
        }
    }
    assert!(world.run(world.now + 20_000, |w| w.all_at(4)));
    let entry = world.transfer(0);
    let (tip, sought) = (world.tip(0), Sought::from(&*entry));
    world.input(0, HostInput::Submit(vec![entry]));
    assert!(world.run(world.now + 60_000, |w| w.all_at(tip + 6)));
    let included = host(&world, 0)
        .entry_height(sought)
        .expect("it is in the book");
    assert!(
        included <= tip + INCLUSION_HEIGHTS,
        "{included} > {tip} + 3"
    );
    assert!(
        world.rounds.values().all(|round| *round == 0),
        "{:?}",
        world.rounds
    );
}

/// A network whose proposers all leave out what member 1 sends, once it is at a height.
pub(crate) fn censored(followers: usize, seed: u64, height: u64) -> World {
    let mut world = World::new(4, followers, seed);
    let victim = world.account(1);
    let lie = censor(move |signed| signed.entry.account == victim);
    world.lie = Some((vec![0, 1, 2, 3], lie));
    world.lies_may_pass = true;
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(height)));
    world
}

/// An entry of member 1, sent by host 4, which only follows; all proposers leave it out until its
/// owner has promises of more than two thirds.
fn receipted(seed: u64) -> (World, Arc<Authentic>, Vec<Receipt>) {
    let mut world = censored(1, seed, 3 + seed % 4);
    let entry = world.transfer(1);
    let id = entry.id();
    world.input(4, HostInput::Submit(vec![Arc::clone(&entry)]));
    assert!(world.run(world.now + 10_000, |w| w.receipted.contains(&id)));
    let promises = host(&world, 4).promises(&id);
    assert!(promises.len() >= 3);
    assert_eq!(host(&world, 4).receipts(&id), [], "nothing to show for it");
    assert_eq!(host(&world, 0).entry_height(&*entry), None);
    (world, entry, promises)
}

#[test]
fn a_power_cut_of_all_breaks_no_promise() {
    for seed in 30..36 {
        let (mut world, entry, promises) = receipted(seed);
        for i in 0..5 {
            world.crash(i);
        }
        // The owner stays away; one of the censors goes on.
        let (_, lie) = world.lie.take().unwrap();
        world.lie = Some((vec![seed as usize % 4], lie));
        for i in 0..4 {
            world.boot(i);
        }
        let limit = acknowledged_at(&promises) + INCLUSION_HEIGHTS;
        let done = world.run(world.now + 60_000, |w| (0..4).all(|i| w.tip(i) >= limit));
        assert!(done, "{:?}", world.hosts);
        let included = host(&world, 0).entry_height(&*entry);
        let included = included.expect("nobody sent it again, and it is in the book");
        assert!(included <= limit, "{included} > {limit}");
    }
}

#[test]
fn one_that_crashed_judges_by_what_it_promised_before() {
    let (mut world, entry, promises) = receipted(40);
    let id = entry.id();
    let promised = promises.iter().find(|p| p.validator == validator(2));
    world.crash(2);
    world.boot(2);
    // Asked again, it says the very same.
    let message = HostMessage::Entries(vec![entry.signed().clone()]);
    let message = Received::Message(message);
    let from = peer(4);
    let effects = world.input(2, HostInput::Message { from, message });
    let given = effects.iter().find_map(|effect| match effect {
        HostEffect::Send {
            to,
            message: HostMessage::Acknowledged(all),
        } if *to == from && all.entries.contains(&id) => Some(all.height),
        _ => None,
    });
    let given = given.expect("an answer with the promise");
    assert!(promised.is_none_or(|promised| promised.height == given));
}

#[test]
fn an_owner_that_lost_its_promises_gets_them_by_sending_again() {
    let (mut world, entry, _) = receipted(41);
    world.crash(4);
    world.boot(4);
    assert_eq!(host(&world, 4).promises(&entry.id()), []);
    world.receipted.clear();
    let id = entry.id();
    world.input(4, HostInput::Submit(vec![entry]));
    assert!(world.run(world.now + 200, |w| w.receipted.contains(&id)));
}

#[test]
fn forged_receipts_are_not_kept_and_cost_their_sender() {
    let mut world = World::new(4, 1, 42);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(2)));
    let entry = world.transfer(1);
    world.input(4, HostInput::Submit(vec![Arc::clone(&entry)]));
    let network = world.genesis.network();
    let receipt = |entry: EntryId, i: usize| Receipt {
        entry,
        height: 0,
        validator: validator(i),
    };
    let say = |world: &mut World, receipt: SignedReceipt| {
        let message = Received::Message(HostMessage::Receipts(vec![receipt]));
        let from = peer(3);
        world.penalties.clear();
        world.input(4, HostInput::Message { from, message });
        world.penalties.clone()
    };
    let blame = [(4, peer(3), Offence::Signature)];
    // In another's name; altered.
    let forged = SignedReceipt::new(receipt(entry.id(), 2), &network, &consensus_key(3));
    assert_eq!(say(&mut world, forged), blame);
    // It may have been a validator a moment ago.
    let stranger = SignedReceipt::new(receipt(entry.id(), 9), &network, &consensus_key(9));
    assert_eq!(say(&mut world, stranger), []);
    let mut altered = SignedReceipt::new(receipt(entry.id(), 3), &network, &consensus_key(3));
    altered.receipt.height = 1;
    assert_eq!(say(&mut world, altered), blame);
    // Of an entry that is not ours: of no interest, right or wrong.
    let other = SignedReceipt::new(receipt(EntryId([7; 32]), 2), &network, &consensus_key(3));
    assert_eq!(say(&mut world, other), []);
    assert_eq!(host(&world, 4).receipts(&entry.id()), []);
    assert_eq!(host(&world, 4).receipts(&EntryId([7; 32])), []);
    let right = SignedReceipt::new(receipt(entry.id(), 3), &network, &consensus_key(3));
    assert_eq!(say(&mut world, right), []);
    assert_eq!(host(&world, 4).receipts(&entry.id()), [right]);
}

#[test]
fn a_word_counts_for_the_validator_whose_node_says_it_and_for_nobody_else() {
    let mut world = World::new(4, 1, 43);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(2)));
    let entry = world.transfer(1);
    let id = entry.id();
    world.input(4, HostInput::Submit(vec![entry]));
    let say = |world: &mut World, from: usize, entries: Vec<EntryId>| {
        let all = Acknowledgement { height: 1, entries };
        let message = Received::Message(HostMessage::Acknowledged(all));
        let from = peer(from);
        world.input(4, HostInput::Message { from, message });
    };
    say(&mut world, 9, vec![id]);
    assert_eq!(host(&world, 4).promises(&id), [], "of no validator's node");
    say(&mut world, 3, vec![EntryId([7; 32]), id, id]);
    say(&mut world, 3, vec![id]);
    let of = Receipt {
        entry: id,
        height: 1,
        validator: validator(3),
    };
    assert_eq!(host(&world, 4).promises(&id), [of]);
    assert_eq!(host(&world, 4).promises(&EntryId([7; 32])), [], "not ours");
    assert!(!world.receipted.contains(&id), "one of four");
    say(&mut world, 2, vec![id]);
    say(&mut world, 1, vec![id]);
    assert!(world.receipted.contains(&id));
}

#[test]
fn a_validator_that_comes_later_promises_what_waits() {
    let mut world = censored(1, 42, 3);
    // The owner's node reaches one validator, which passes the entry on to the others.
    let far = |_, from, to, message: &HostMessage| {
        from == 4 && to > 0 && matches!(message, HostMessage::Entries(_))
    };
    world.lost = Some(Box::new(far));
    let entry = world.transfer(1);
    let id = entry.id();
    world.input(4, HostInput::Submit(vec![entry]));
    assert!(!world.run(world.now + 500, |w| w.receipted.contains(&id)));
    assert_eq!(host(&world, 4).promises(&id).len(), 1);
    assert!(host(&world, 4).waits_for_others() && !host(&world, 0).waits_for_others());
    for i in 0..3 {
        world.input(4, HostInput::PeerUp(peer(i)));
    }
    assert!(world.run(world.now + 200, |w| w.receipted.contains(&id)));
    let effects = world.input(4, HostInput::PeerUp(peer(1)));
    let again = effects.iter().any(|effect| {
        matches!(
            effect,
            HostEffect::Send {
                message: HostMessage::Entries(_),
                ..
            }
        )
    });
    assert!(!again, "it has promised it");
}
