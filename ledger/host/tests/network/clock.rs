//! Wrong clocks: the node says so and takes no entries, the others go on, and it heals by itself.

use crate::world::{EPOCH_MS, World};
use gridbay_host::{HostEffect, HostInput, MempoolRefusal, Sought, Trouble};
use gridbay_protocol::limits::CLOCK_AHEAD_MS;

const YEAR_MS: i64 = 365 * 86_400_000;

/// Submits a transfer of host `i` to itself; returns the answer.
fn submit(world: &mut World, i: usize) -> (Sought, Vec<HostEffect>) {
    let entry = world.transfer(i);
    let sought = Sought::from(&*entry);
    (sought, world.input(i, HostInput::Submit(vec![entry])))
}

/// Runs on until all are `blocks` further; nobody's ledger time may be ahead of an honest clock.
fn pass(world: &mut World, blocks: u64) {
    let goal = world.tip(1) + blocks;
    let until = world.now + 4_000 * blocks;
    let live = world.run(until, |w| {
        let ledger = w.hosts[1].as_ref().unwrap().state().time_ms();
        assert!(ledger <= EPOCH_MS + w.now + CLOCK_AHEAD_MS, "{ledger}");
        w.all_at(goal)
    });
    assert!(live, "{:?}", world.hosts);
}

fn refused(effects: &[HostEffect]) -> Option<Trouble> {
    effects.iter().find_map(|effect| match effect {
        HostEffect::EntryRefused {
            refusal: MempoolRefusal::Trouble(trouble),
            ..
        } => Some(*trouble),
        _ => None,
    })
}

fn goes_wrong_and_heals(skew: i64) -> Trouble {
    let mut world = World::new(4, 0, 3);
    world.boot_all();
    pass(&mut world, 4);
    let (sent, before) = submit(&mut world, 2);
    pass(&mut world, 4);
    assert!(refused(&before).is_none() && world.promised.contains(&(2, sent.id)));
    world.skew[2] = skew;
    pass(&mut world, 12);
    let host = world.hosts[2].as_ref().unwrap();
    let trouble = host.trouble().expect("it has noticed");
    assert_eq!(world.troubles, [(2, Some(trouble))]);
    let (not_taken, during) = submit(&mut world, 2);
    assert_eq!(refused(&during), Some(trouble));
    // Entries of others reach it and the book, without its promise.
    let (of_another, _) = submit(&mut world, 1);
    pass(&mut world, 4);
    assert!(world.promised.contains(&(1, of_another.id)));
    assert!(
        !world
            .promised
            .iter()
            .any(|(host, id)| *host == 2 && (*id == of_another.id || *id == not_taken.id))
    );
    let at = |world: &World, entry| world.hosts[2].as_ref().unwrap().entry_height(entry);
    assert!(at(&world, of_another).is_some());
    world.skew[2] = 0;
    pass(&mut world, 12);
    assert_eq!(world.troubles, [(2, Some(trouble)), (2, None)]);
    let (sent, after) = submit(&mut world, 2);
    assert_eq!(refused(&after), None);
    pass(&mut world, 4);
    assert!(at(&world, sent).is_some() && world.promised.contains(&(2, sent.id)));
    assert_eq!(at(&world, not_taken), None);
    trouble
}

#[test]
fn a_clock_a_year_ahead_moves_nobody_and_is_noticed_until_it_is_right() {
    let trouble = goes_wrong_and_heals(YEAR_MS);
    assert!(trouble.to_string().contains("ahead"), "{trouble}");
    let Trouble::ClockAhead { ahead_ms } = trouble else {
        panic!("{trouble:?}");
    };
    assert!(ahead_ms.abs_diff(YEAR_MS as u64) < 10_000);
}

#[test]
fn a_clock_behind_is_noticed_until_it_is_right() {
    for skew in [-3_000, -YEAR_MS] {
        let trouble = goes_wrong_and_heals(skew);
        assert!(matches!(trouble, Trouble::ClockBehind { .. }), "{skew}");
    }
}

#[test]
fn clocks_at_the_ends_of_time_harm_nobody() {
    goes_wrong_and_heals(i64::MAX);
    goes_wrong_and_heals(i64::MIN);
}

#[test]
fn catching_up_is_no_trouble_and_followers_notice_theirs() {
    let mut world = World::new(4, 1, 8);
    world.boot_all();
    pass(&mut world, 4);
    world.crash(4);
    world.run(world.now + 100_000, |_| false);
    world.boot(4);
    pass(&mut world, 6);
    assert_eq!(world.troubles, []);
    world.skew[4] = YEAR_MS;
    pass(&mut world, 12);
    let told = world.troubles.last();
    assert!(
        matches!(told, Some((4, Some(Trouble::ClockAhead { .. })))),
        "{told:?}"
    );
    world.skew[4] = 0;
    pass(&mut world, 6);
    assert_eq!(world.troubles.last(), Some(&(4, None)));
}

#[test]
fn a_pause_of_the_whole_network_is_no_trouble() {
    let mut world = World::new(4, 0, 2);
    world.boot_all();
    pass(&mut world, 4);
    // Two halves for five minutes: the first block after it may be as old as the cut.
    world.cut = Some((world.now, world.now + 300_000, 2));
    world.run(world.now + 300_000, |_| false);
    let goal = world.tip(0) + 8;
    assert!(world.run(world.now + 120_000, |w| w.all_at(goal)));
    assert_eq!(world.troubles, []);
}
