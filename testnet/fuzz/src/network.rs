//! Hosts on disks in memory: one that runs alone, and four whose talk is recorded.

use crate::ledgers::{self, MEMBERS, key};
use gridbay_host::disk::{Disk, MemDisk};
use gridbay_host::message::HostMessage;
use gridbay_host::{Fault, Host, HostConfig, HostEffect, HostInput, Now, Peer, Received};
use gridbay_ledger::State;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{BlockId, Hash32};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::validator::validator_id;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

/// Wall clock when the monotonic clock shows 0.
const EPOCH_MS: u64 = 1_700_000_000_000;
/// Messages recorded.
const HEARD: usize = 120;

/// Files of a disk by name.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Everything on a disk.
pub(crate) fn files(disk: &MemDisk) -> Files {
    let names = disk.list().expect("a disk in memory does not fail");
    let read = |name: String| {
        let bytes = disk.read(&name, 0, usize::MAX).expect("it is listed");
        (name, bytes)
    };
    names.into_iter().map(read).collect()
}

/// A disk with these files, all safe.
pub(crate) fn disk(files: &Files) -> MemDisk {
    let mut disk = MemDisk::new();
    for (name, bytes) in files {
        disk.append(name, bytes)
            .expect("a disk in memory does not fail");
        disk.sync(name).expect("it exists");
    }
    disk
}

/// Transport key of member n's node.
pub(crate) fn peer(n: u8) -> Peer {
    *key(149 + n).public().as_bytes()
}

/// Opens the host of member n's validator.
pub(crate) fn open(genesis: &Genesis, n: u8, disk: &MemDisk) -> Result<Host, Fault> {
    let config = HostConfig {
        genesis: genesis.clone(),
        key: Some(key(100 + n)),
        chain: Some(ledgers::chain(n)),
        index: None,
    };
    Host::open(config, Box::new(disk.clone()))
}

/// A transfer of one micro-credit and more from member n to the next.
pub(crate) fn transfer(genesis: &Genesis, n: u8, nonce: u8, valid_until: u64) -> Arc<Authentic> {
    let account = |n: u8| genesis.account(&genesis.members[usize::from(n) - 1]);
    let entry = Entry {
        network: genesis.network(),
        account: account(n),
        key: key(n).public(),
        valid_until,
        body: EntryBody::Transfer {
            to: account(n % MEMBERS + 1),
            amount: ledgers::credits(u64::from(nonce) + 1),
            memo: Hash32([nonce; 32]),
        },
    };
    let formed = WellFormed::check(&genesis.network(), SignedEntry::new(entry, &key(n)));
    let formed = formed.expect("values in range");
    Arc::new(formed.authenticate().expect("just signed"))
}

/// A host with its clock.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) host: Host,
    pub(crate) now: u64,
    pub(crate) wake: u64,
}

impl Node {
    pub(crate) fn new(host: Host, now: u64) -> Node {
        Node {
            host,
            now,
            wake: now,
        }
    }
    /// One step. A fault is a failure: nothing that a host is told may stop it.
    pub(crate) fn step(&mut self, input: HostInput) -> Vec<HostEffect> {
        let now = Now {
            mono_ms: self.now,
            wall_ms: EPOCH_MS + self.now,
        };
        let effects = match self.host.step(now, input) {
            Ok(effects) => effects,
            Err(fault) => panic!("a fault at {} ms: {fault:?}", self.now),
        };
        for effect in &effects {
            if let HostEffect::WakeAt(at) = effect {
                self.wake = *at;
            }
        }
        effects
    }
    pub(crate) fn height(&self) -> u64 {
        self.host.state().height()
    }
    /// Lets the only validator of a network run alone until its tip is `height`.
    pub(crate) fn run_alone(&mut self, height: u64) {
        for _ in 0..200 {
            if self.height() >= height {
                return;
            }
            self.now = self.wake.max(self.now + 1);
            self.step(HostInput::Tick);
        }
        panic!("a lone validator stands still: {:?}", self.host);
    }
}

/// Height of the disk from which the recording goes on.
pub(crate) const RECORDED_FROM: u64 = 3;

/// Four hosts up to a height, as host 1 could have heard them.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) genesis: Genesis,
    /// Disk of host 1 at [`RECORDED_FROM`].
    pub(crate) files: Files,
    /// The time of that moment.
    pub(crate) now: u64,
    /// The senders and messages that host 1 received after that, in order.
    pub(crate) heard: Vec<(u8, Vec<u8>)>,
    /// The blocks that were decided, from height 1.
    pub(crate) blocks: Vec<BlockId>,
}

/// The recording; made once.
pub(crate) fn recording() -> &'static Recording {
    static RECORDING: LazyLock<Recording> = LazyLock::new(record);
    &RECORDING
}

fn record() -> Recording {
    let genesis = ledgers::genesis(MEMBERS);
    let disks: Vec<MemDisk> = (0..MEMBERS).map(|_| MemDisk::new()).collect();
    let start = |n: u8| open(&genesis, n, &disks[usize::from(n) - 1]).expect("an empty disk opens");
    let mut nodes: Vec<Node> = (1..=MEMBERS).map(|n| Node::new(start(n), 0)).collect();
    let mut queue: VecDeque<(u8, HostInput)> = VecDeque::new();
    for n in 1..=MEMBERS {
        queue.push_back((n, HostInput::Start));
        let others = (1..=MEMBERS).filter(|m| *m != n);
        queue.extend(others.map(|m| (n, HostInput::PeerUp(peer(m)))));
        let entry = transfer(&genesis, n, n, 100);
        queue.push_back((n, HostInput::Submit(vec![entry])));
    }
    let mut recording = Recording {
        files: vec![],
        now: 0,
        heard: vec![],
        blocks: vec![],
        genesis: genesis.clone(),
    };
    let mut now = 0;
    while recording.heard.len() < HEARD {
        let Some((n, input)) = queue.pop_front() else {
            now = nodes
                .iter()
                .map(|node| node.wake)
                .min()
                .unwrap_or(now)
                .max(now + 1);
            queue.extend((1..=MEMBERS).map(|n| (n, HostInput::Tick)));
            continue;
        };
        let begun = !recording.files.is_empty();
        if begun
            && n == 1
            && let HostInput::Message {
                from,
                message: Received::Bytes(bytes),
            } = &input
        {
            let from = (1..=MEMBERS).find(|m| peer(*m) == *from).unwrap_or(2);
            if !is_by_host_1(bytes) {
                recording.heard.push((from, bytes.clone()));
            }
        }
        let node = &mut nodes[usize::from(n) - 1];
        node.now = now;
        let effects = node.step(input);
        for effect in effects {
            perform(n, effect, &mut queue, &mut recording);
        }
        if !begun && n == 1 && nodes[0].height() == RECORDED_FROM {
            (recording.files, recording.now) = (files(&disks[0]), now);
        }
    }
    recording
}

/// Whether it is host 1's own statement, relayed to it. In another life it may say something else,
/// and its key is only ever in one.
fn is_by_host_1(bytes: &[u8]) -> bool {
    let me = validator_id(&key(101).public());
    match HostMessage::decode(bytes) {
        Ok(HostMessage::Vote(signed)) => signed.vote.validator == me,
        Ok(HostMessage::Proposal(offered)) => offered.signed.proposal.validator == me,
        _ => false,
    }
}

/// Carries out what host n asks for: messages arrive at once, and in order.
fn perform(
    n: u8,
    effect: HostEffect,
    queue: &mut VecDeque<(u8, HostInput)>,
    recording: &mut Recording,
) {
    let message = |bytes: &[u8]| HostInput::Message {
        from: peer(n),
        message: Received::Bytes(bytes.to_vec()),
    };
    match effect {
        HostEffect::Broadcast(said) => {
            let bytes = said.encode();
            let others = (1..=MEMBERS).filter(|m| *m != n);
            queue.extend(others.map(|m| (m, message(&bytes))));
        }
        HostEffect::Send { to, message: said } => {
            let to = (1..=MEMBERS).find(|m| peer(*m) == to);
            queue.extend(to.map(|m| (m, message(&said.encode()))));
        }
        HostEffect::Decided { block, .. } => {
            let height = block.header().height as usize;
            if recording.blocks.len() < height {
                recording.blocks.push(block.id());
            }
            assert_eq!(recording.blocks[height - 1], block.id(), "two decisions");
        }
        _ => {}
    }
}

/// A lone validator's disk after a few blocks.
#[derive(Debug)]
pub(crate) struct Alone {
    pub(crate) genesis: Genesis,
    pub(crate) files: Files,
    /// Length of the block file after each block, from height 0.
    pub(crate) ends: Vec<u64>,
    /// State roots by height, from height 0.
    pub(crate) roots: Vec<Hash32>,
    /// The time when it stopped.
    pub(crate) now: u64,
}

/// Name of the block file.
pub(crate) const BLOCKS: &str = "blocks";

/// The lone validator; run once, for a round and a half.
pub(crate) fn alone() -> &'static Alone {
    static ALONE: LazyLock<Alone> = LazyLock::new(run_alone);
    &ALONE
}

fn run_alone() -> Alone {
    let genesis = ledgers::genesis(1);
    let disk = MemDisk::new();
    let host = open(&genesis, 1, &disk).expect("an empty disk opens");
    let root = |state: &State| state.root();
    let (mut ends, mut roots) = (vec![0], vec![root(host.state())]);
    let mut node = Node::new(host, 0);
    node.step(HostInput::Start);
    for height in 1..=6 {
        let entry = transfer(&genesis, 1, height as u8, 100);
        node.step(HostInput::Submit(vec![entry]));
        node.run_alone(height);
        ends.push(disk.len(BLOCKS).expect("a disk in memory does not fail"));
        roots.push(root(node.host.state()));
    }
    Alone {
        files: files(&disk),
        now: node.now,
        genesis,
        ends,
        roots,
    }
}
