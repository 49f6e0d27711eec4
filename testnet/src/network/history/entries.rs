//! The signed entries of a past.

use anyhow::Context as _;
use gridbay_protocol::account::{AccountKey, Roles, opened_by};
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::limits::ENTRY_WINDOW;
use gridbay_protocol::order::{Bid, Commit, Open, Step};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::{Credits, Price};
use std::sync::Arc;

/// An account and its key.
pub(super) struct Signer {
    account: AccountId,
    key: SecretKey,
}

impl Signer {
    pub(super) fn new(account: AccountId, key: SecretKey) -> Signer {
        Signer { account, key }
    }
    fn sign(
        &self,
        genesis: &Genesis,
        height: u64,
        body: EntryBody,
    ) -> anyhow::Result<Arc<Authentic>> {
        let network = genesis.network();
        let entry = Entry {
            network,
            account: self.account,
            key: self.key.public(),
            valid_until: height + ENTRY_WINDOW / 2,
            body,
        };
        let formed = WellFormed::check(&network, SignedEntry::new(entry, &self.key))?;
        Ok(Arc::new(formed.authenticate()?))
    }
}

/// A number as 32 bytes, each different.
fn bytes(n: usize) -> [u8; 32] {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&(n as u64).to_le_bytes());
    bytes
}

/// An account that the member opens, and the entry that does it.
pub(super) fn tenant(
    genesis: &Genesis,
    owner: &Signer,
    n: usize,
    height: u64,
    endowment: Credits,
) -> anyhow::Result<(Signer, Arc<Authentic>)> {
    let key = SecretKey::from_seed(&bytes(n));
    let body = EntryBody::OpenAccount {
        grant: None,
        keys: vec![AccountKey {
            key: key.public(),
            roles: Roles::ALL,
        }],
        endowment,
    };
    let entry = owner.sign(genesis, height, body)?;
    Ok((Signer::new(opened_by(&entry.id()), key), entry))
}

/// A payment of a millionth; one in ten comes from the member, one in ten goes there.
pub(super) fn payment(
    genesis: &Genesis,
    owner: &Signer,
    accounts: &[Signer],
    n: usize,
    height: u64,
) -> anyhow::Result<Arc<Authentic>> {
    let (one, next) = (
        &accounts[n % accounts.len()],
        &accounts[(n + 1) % accounts.len()],
    );
    let (from, to) = match n % 10 {
        0 => (owner, next),
        5 => (one, owner),
        _ => (one, next),
    };
    let body = EntryBody::Transfer {
        to: to.account,
        amount: Credits::from_micros(1).context("a millionth is an amount")?,
        memo: Hash32(bytes(n)),
    };
    from.sign(genesis, height, body)
}

/// A bid under its seal.
pub(super) struct Sealed<'a> {
    by: &'a Signer,
    bid: Bid,
    pub(super) commit: Arc<Authentic>,
}

const SALT: [u8; 32] = [8; 32];

/// A bid for one unit of a class, at a price that nobody sells for.
pub(super) fn seal<'a>(
    genesis: &Genesis,
    class: ClassId,
    accounts: &'a [Signer],
    n: usize,
    height: u64,
) -> anyhow::Result<Sealed<'a>> {
    let by = &accounts[n % accounts.len()];
    let bid = Bid {
        class,
        steps: vec![Step {
            units: 1,
            price: Price(1 + n as u64 % 100),
        }],
        min: 1,
        slots: 1,
        budget: Credits::from_micros(1_000).context("a thousandth is an amount")?,
        stands_until: height + STANDS,
        work: Hash32(bytes(n)),
    };
    let commit = EntryBody::Commit(Commit {
        class,
        seal: bid.seal(&genesis.network(), &by.account, &SALT),
        bracket: 0,
    });
    let commit = by.sign(genesis, height, commit)?;
    Ok(Sealed { by, bid, commit })
}

/// Heights for which a bid stands: some hours.
const STANDS: u64 = 50_000;

impl Sealed<'_> {
    pub(super) fn open(&self, genesis: &Genesis, height: u64) -> anyhow::Result<Arc<Authentic>> {
        let open = Open {
            commit: self.commit.id(),
            wish: self.bid.clone().into(),
            salt: SALT,
        };
        self.by.sign(genesis, height, EntryBody::Open(open))
    }
}
