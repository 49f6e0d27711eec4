//! A host that is told anything, in any order, at any time, and loses power in between.

use crate::mutate::{self, Rng};
use crate::network::{self, Node, RECORDED_FROM, Recording, peer, recording};
use crate::reader::Reader;
use crate::{Target, Verdict, ledgers, machine};
use gridbay_host::disk::MemDisk;
use gridbay_host::message::HostMessage;
use gridbay_host::{HostEffect, HostInput, Received};
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::validator::validator_id;
use gridbay_protocol::vote::VoteKind;
use std::collections::BTreeMap;

pub(crate) const MESSAGES: Target = machine(
    "host_messages",
    "a host told real, changed and arbitrary messages: no fault, and it decides what the network decided",
    |bytes| drive(bytes, false),
    || seeds(&[]),
    40,
);
pub(crate) const GUARD: Target = machine(
    "host_guard",
    "the same host, losing power between steps: it never signs two different statements, forgets no block \
     that it told of, and opens again",
    |bytes| drive(bytes, true),
    || seeds(&[0]),
    40,
);

/// Moves of one run at the most.
const MOVES: usize = 160;
/// The choice before a move at which power fails.
const CRASH: u8 = 11;

/// All that was heard, in order and in other orders; with `quiet`, moves before which power may
/// fail, as it then does before every seventh of one seed.
fn seeds(quiet: &[u8]) -> Vec<Vec<u8>> {
    let all: Vec<u8> = (0..recording().heard.len() as u8).collect();
    let say = |index: &u8| [quiet, &[0, *index]].concat();
    let twice = |index: &u8| [say(index), [quiet, &[5, 1]].concat(), say(index)].concat();
    let mut seeds: Vec<Vec<u8>> = vec![
        all.iter().flat_map(say).collect(),
        all.iter()
            .rev()
            .take(40)
            .chain(&all)
            .flat_map(say)
            .collect(),
        all.iter().flat_map(twice).collect(),
    ];
    if !quiet.is_empty() {
        let fail = |index: &u8| match index % 7 {
            6 => vec![CRASH, 9, 0, *index],
            _ => say(index),
        };
        seeds.push(all.iter().flat_map(fail).collect());
    }
    seeds
}

/// The words and deeds of host 1, also before a crash.
#[derive(Default)]
struct Witness {
    votes: BTreeMap<(u64, u32, VoteKind), Option<BlockId>>,
    proposals: BTreeMap<(u64, u32), (BlockId, Option<u32>)>,
    told: u64,
}

impl Witness {
    fn watch(&mut self, effects: &[HostEffect], recording: &Recording) {
        let me = validator_id(&ledgers::key(101).public());
        for effect in effects {
            match effect {
                HostEffect::Broadcast(message) | HostEffect::Send { message, .. } => {
                    match message {
                        HostMessage::Vote(signed) if signed.vote.validator == me => {
                            let vote = signed.vote;
                            let place = (vote.height, vote.round, vote.kind);
                            let first = *self.votes.entry(place).or_insert(vote.block);
                            assert_eq!(first, vote.block, "two votes: {vote:?}");
                        }
                        HostMessage::Proposal(offered)
                            if offered.signed.proposal.validator == me =>
                        {
                            let said = offered.signed.proposal;
                            let claim = (said.block, said.valid_round);
                            let place = (said.height, said.round);
                            let first = *self.proposals.entry(place).or_insert(claim);
                            assert_eq!(first, claim, "two proposals: {said:?}");
                        }
                        _ => {}
                    }
                }
                HostEffect::Decided { block, .. } => {
                    self.told = block.header().height;
                    let known = recording.blocks.get(self.told as usize - 1);
                    assert!(known.is_none_or(|id| *id == block.id()), "another decision");
                }
                _ => {}
            }
        }
    }
}

fn drive(bytes: &[u8], crashes: bool) -> Verdict {
    let recording = recording();
    let disk = network::disk(&recording.files);
    let mut witness = Witness::default();
    let mut node = boot(&disk, recording.now, &mut witness);
    let reader = &mut Reader::new(bytes);
    for _ in 0..MOVES {
        if reader.is_empty() {
            break;
        }
        if crashes && reader.below(12) == usize::from(CRASH) {
            let kept = reader.number();
            disk.crash(|at_stake| kept % (at_stake + 1));
            let now = node.now;
            drop(node);
            node = boot(&disk, now, &mut witness);
        }
        let input = choose(reader, &mut node);
        witness.watch(&node.step(input), recording);
    }
    Verdict::of(witness.told > RECORDED_FROM)
}

/// Opens host 1 and introduces its peers.
fn boot(disk: &MemDisk, now: u64, witness: &mut Witness) -> Node {
    let recording = recording();
    let host = network::open(&recording.genesis, 1, disk).expect("a crash leaves files that open");
    let mut node = Node::new(host, now);
    assert!(node.height() >= witness.told, "a block is forgotten");
    let peers = (2..=ledgers::MEMBERS).map(|n| HostInput::PeerUp(peer(n)));
    for input in std::iter::once(HostInput::Start).chain(peers) {
        witness.watch(&node.step(input), recording);
    }
    node
}

fn choose(reader: &mut Reader<'_>, node: &mut Node) -> HostInput {
    let recording = recording();
    let kind = reader.below(10);
    match kind {
        5 => {
            let waits = [0, 1, 10, 60, 250, 400, 2_000, 30_000];
            node.now += waits[reader.below(waits.len())];
            return HostInput::Tick;
        }
        6 => {
            node.now = node.now.max(node.wake);
            return HostInput::Tick;
        }
        7 if reader.once_in(2) => return HostInput::PeerDown(peer(2 + reader.byte() % 3)),
        7 => return HostInput::PeerUp(peer(2 + reader.byte() % 3)),
        8 => {
            let (n, nonce) = (1 + reader.byte() % 4, reader.byte());
            let until = node.height() + u64::from(nonce);
            return HostInput::Submit(vec![network::transfer(&recording.genesis, n, nonce, until)]);
        }
        _ => {}
    }
    let (from, said) = &recording.heard[reader.below(recording.heard.len())];
    let (from, bytes) = match kind {
        0..=2 => (peer(*from), said.clone()),
        3 | 4 => {
            let (_, donor) = &recording.heard[reader.below(recording.heard.len())];
            let rng = &mut Rng(u64::from(reader.short()));
            (peer(*from), mutate::mutate(said, donor, rng))
        }
        _ => ([reader.byte(); 32], reader.bytes(200).to_vec()),
    };
    HostInput::Message {
        from,
        message: Received::Bytes(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_goes_on_behind_its_disk() {
        let recording = recording();
        assert!(recording.blocks.len() as u64 > RECORDED_FROM + 2);
        let names: Vec<&String> = recording.files.iter().map(|(name, _)| name).collect();
        assert!(
            names.iter().any(|name| *name == network::BLOCKS),
            "{names:?}"
        );
    }
}
