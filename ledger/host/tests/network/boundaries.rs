//! A host loses power at every single operation on its disk, and once more while it recovers.
//!
//! The world checks that no host forgets a block it told of, that none ever publishes two different
//! votes or proposals for one step, and that equal heights have equal blocks and states.

use crate::genesis::peer;
use crate::rng::Rng;
use crate::world::World;
use gridbay_host::disk::FaultPlan;
use gridbay_host::message::{BodyRequest, HostMessage};
use gridbay_host::{HostEffect, HostInput, Received};
use gridbay_protocol::ids::BlockId;
use std::collections::BTreeSet;

/// The fate of the bytes that were not synced.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// None of them stays.
    All,
    /// The first half stays: the last record is torn in the middle.
    Half,
    /// All stay: the process was killed, the machine was not.
    Nothing,
    /// Any sectors stay, and files never synced may lose their names.
    Torn,
}

fn lose_power(world: &World, loss: Loss, seed: u64) {
    let disk = &world.disks[0];
    match loss {
        Loss::All => disk.crash(|_| 0),
        Loss::Half => disk.crash(|at_stake| at_stake / 2),
        Loss::Nothing => disk.crash(|at_stake| at_stake),
        Loss::Torn => {
            let mut rng = Rng(seed);
            disk.crash_torn(|n| rng.below(n));
        }
    }
}

/// Four hosts, the disk of host 0 working for `operations`; whether that was too few for the
/// scenario.
fn power_fails_after(operations: u64, loss: Loss) -> bool {
    let mut world = World::new(4, 0, 5);
    world.latency = (1, 3);
    world.faults = Some(vec![]);
    world.snapshot_every = Some(1);
    for i in 1..4 {
        world.boot(i);
    }
    world.disks[0].fail(FaultPlan::power_for(operations));
    if world.open(0).is_ok() {
        world.disks[0].fail(FaultPlan::power_for(operations));
        world.boot(0);
        for k in 0..6 {
            world.transfer_at(100 + k * 150, (k % 4) as usize);
        }
        world.run(60_000, |w| w.all_at(3) || w.hosts[0].is_none());
    }
    let failed = world.hosts[0].is_none();
    if failed {
        lose_power(&world, loss, operations);
        // The power fails again while the host opens, at one operation after the other.
        for again in 0..12 {
            world.disks[0].fail(FaultPlan::power_for(again));
            let opened = world.open(0).is_ok();
            lose_power(&world, loss, operations * 12 + again);
            if opened {
                break;
            }
        }
        let down = 300 * (operations % 4);
        world.run(world.now + down, |_| false);
        world.boot(0);
    }
    world.disks[0].cure();
    let goal = world.decided.last_key_value().map_or(0, |(h, _)| *h) + 2;
    // Every promise is kept: an acknowledged entry reaches the book, whoever acknowledged it.
    world.run(world.now.max(1_000), |_| false);
    let kept = |w: &World| {
        let host = w.hosts[1].as_ref().unwrap();
        let mut all = w.acknowledged.iter();
        all.all(|id| host.entry_height(w.signed[id]).is_some())
    };
    let live = world.run(world.now + 60_000, |w| w.all_at(goal) && kept(w));
    assert!(live, "{operations}, {loss:?}: {:?}", world.hosts);
    failed
}

fn at_every_operation(loss: Loss) {
    let mut operations = 0;
    while power_fails_after(operations, loss) {
        operations += 1;
    }
    assert!(operations > 60, "only {operations} operations were tried");
}

#[test]
fn power_loss_at_every_operation_loses_nothing_told_if_all_unsynced_bytes_go() {
    at_every_operation(Loss::All);
}

#[test]
fn power_loss_at_every_operation_loses_nothing_told_if_records_are_torn() {
    at_every_operation(Loss::Half);
}

#[test]
fn a_kill_at_every_operation_loses_nothing_told() {
    at_every_operation(Loss::Nothing);
}

#[test]
fn power_loss_at_every_operation_loses_nothing_told_if_sectors_and_names_go() {
    at_every_operation(Loss::Torn);
}

/// Gives a host what lets it start a height: the proposals that it sends to anybody.
fn proposals(world: &mut World, i: usize) -> BTreeSet<BlockId> {
    let up = (0..4)
        .filter(|j| *j != i)
        .map(|j| HostInput::PeerUp(peer(j)));
    let inputs: Vec<_> = std::iter::once(HostInput::Start).chain(up).collect();
    let mut said = BTreeSet::new();
    for input in inputs {
        for effect in step(world, i, input) {
            if let HostEffect::Broadcast(HostMessage::Proposal(offered))
            | HostEffect::Send {
                message: HostMessage::Proposal(offered),
                ..
            } = effect
            {
                said.insert(offered.signed.proposal.block);
            }
        }
    }
    said
}

fn step(world: &mut World, i: usize, input: HostInput) -> Vec<HostEffect> {
    let now = world.clocks(i);
    world.hosts[i].as_mut().unwrap().step(now, input).unwrap()
}

#[test]
fn a_host_killed_between_making_and_publishing_a_block_offers_the_same_block_again() {
    let mut tried = 0;
    for i in 0..4 {
        let mut world = World::new(4, 0, 9);
        world.hosts[i] = Some(world.open(i).unwrap());
        let first = proposals(&mut world, i);
        let Some(block) = first.first().copied() else {
            continue;
        };
        tried += 1;
        // The messages of the step never left. Later there are other entries and another time.
        world.hosts[i] = None;
        world.disks[i].crash(|_| 0);
        world.now += 5_000;
        world.hosts[i] = Some(world.open(i).unwrap());
        let entry = world.transfer(i);
        step(&mut world, i, HostInput::Submit(vec![entry]));
        assert_eq!(proposals(&mut world, i), first);
        let request = HostMessage::BodyRequest(BodyRequest { height: 1, block });
        let ask = HostInput::Message {
            from: peer((i + 1) % 4),
            message: Received::Message(request),
        };
        let given = step(&mut world, i, ask)
            .into_iter()
            .any(|effect| match effect {
                HostEffect::Send {
                    message: HostMessage::Body(body),
                    ..
                } => body.id() == block,
                _ => false,
            });
        assert!(given, "the body is here, too");
    }
    assert_eq!(tried, 1, "one host is elected for the first round");
}
