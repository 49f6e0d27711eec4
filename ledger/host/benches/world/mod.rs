//! A federation of one validator, for benchmarks: its genesis, its host, its members' transfers.

use gridbay_host::disk::RealDisk;
use gridbay_host::{Host, HostConfig, HostEffect, HostInput, Now};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::{Genesis, Member};
use gridbay_protocol::ids::{AccountId, Hash32, NetworkId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;
use gridbay_sample as sample;
use std::path::Path;

const EPOCH_MS: u64 = 1_700_000_000_000;
pub(crate) const MEMBERS: usize = 16;
/// Heights that an entry may wait, as the node's own agents set it.
pub(crate) const WINDOW: u64 = 40;

/// The key of a member; 100 is that of the validator, 101 that of its node.
pub(crate) fn key(n: usize) -> SecretKey {
    SecretKey::from_seed(&[n as u8 + 1; 32])
}

fn chain() -> Chain {
    Chain::new(&[9; 32], 16_384)
}

pub(crate) fn genesis() -> Genesis {
    let money = Credits::from_micros(1_000_000_000).unwrap();
    let member = |i: usize| Member {
        validator: (i == 0)
            .then(|| sample::validator(key(100).public(), key(101).public(), chain().tip())),
        ..sample::member(&format!("member{i:02}"), key(i).public(), money)
    };
    let members = (0..MEMBERS).map(member).collect();
    sample::genesis("bench", vec![sample::class("small", 1, 1024, 10)], members)
}

/// Opens a host, the validator's if it has its key, on the real disk.
pub(crate) fn open(genesis: &Genesis, root: &Path, key: Option<SecretKey>, indexed: bool) -> Host {
    let config = HostConfig {
        genesis: genesis.clone(),
        chain: key.is_some().then(chain),
        key,
        index: indexed.then(|| root.join("index")),
    };
    let disk = RealDisk::open(&root.join("ledger")).unwrap();
    Host::open(config, Box::new(disk)).unwrap()
}

/// The members as payers; what follows from the genesis is found once.
pub(crate) struct Payers {
    network: NetworkId,
    accounts: Vec<AccountId>,
    keys: Vec<SecretKey>,
}

impl Payers {
    pub(crate) fn of(genesis: &Genesis) -> Payers {
        Payers {
            network: genesis.network(),
            accounts: genesis.members.iter().map(|m| genesis.account(m)).collect(),
            keys: (0..MEMBERS).map(key).collect(),
        }
    }
    /// The transfer of a number, each by another member than the one before.
    pub(crate) fn transfer(&self, n: usize, valid_until: u64) -> SignedEntry {
        let key = &self.keys[n % MEMBERS];
        let mut memo = [0; 32];
        memo[..8].copy_from_slice(&(n as u64).to_le_bytes());
        let entry = Entry {
            network: self.network,
            account: self.accounts[n % MEMBERS],
            key: key.public(),
            valid_until,
            body: EntryBody::Transfer {
                to: self.accounts[(n + 1) % MEMBERS],
                amount: Credits::from_micros(1).unwrap(),
                memo: Hash32(memo),
            },
        };
        SignedEntry::new(entry, key)
    }
}

/// Steps a host at a virtual time; when it wants to be woken.
pub(crate) fn step(host: &mut Host, ms: u64, input: HostInput) -> u64 {
    let now = Now {
        mono_ms: ms,
        wall_ms: EPOCH_MS + ms,
    };
    let effects = host.step(now, input).unwrap();
    let wake = effects.iter().rev().find_map(|effect| match effect {
        HostEffect::WakeAt(at) => Some(*at),
        _ => None,
    });
    wake.unwrap()
}
