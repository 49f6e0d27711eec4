//! A past for a young market: the ledger of a lone validator is filled before its node starts, with
//! real signed entries in real blocks, many times faster than they could be traded.
//!
//! 1. The founding member opens accounts, as many as the bids need.
//! 2. Payments go round among them; one in five comes from or goes to the member.
//! 3. Each account seals a bid below any reserve and opens it a round later, again and again, and
//!    all of them stand.
//!
//! The blocks are decided at a virtual time that begins now, after the founding; [`fill`] returns
//! when the clock has passed it.

mod entries;
mod pace;

use super::plan::credits;
use anyhow::{Context as _, ensure};
use entries::{Signer, payment, seal, tenant};
use gridbay_host::disk::RealDisk;
use gridbay_host::{Host, HostConfig};
use gridbay_node::config::Home;
use gridbay_node::keys::{KeyFolder, private_folder};
use gridbay_protocol::beacon::{CHAIN_STEPS, Chain};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::limits::{
    BLOCK_ENTRIES, MEMBERS, ORDERS_PER_ACCOUNT_CLASS, ORDERS_PER_CLASS,
};
use pace::Pace;

/// Payments at the most: the member makes every tenth, and an epoch takes no more entries of it.
const PAYMENTS: usize = 150_000;

/// Classes that a past has bids in, and bids of each at the most: a quarter of a class is kept for
/// the accounts of members themselves.
const CLASSES: usize = 2;
const A_CLASS: usize = ORDERS_PER_CLASS / 4 * 3;

/// Numbers of what has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Payments between accounts.
    pub payments: usize,
    /// Bids that stand, in the first classes of the network.
    pub bids: usize,
}

impl History {
    /// Whether anything happened.
    pub fn is_empty(self) -> bool {
        self == History::default()
    }
    /// Refuses what a ledger does not hold.
    pub fn check(self) -> anyhow::Result<()> {
        ensure!(
            self.payments <= PAYMENTS,
            "want at most {PAYMENTS} payments"
        );
        ensure!(
            self.bids <= CLASSES * A_CLASS,
            "want at most {} bids: classes hold no more of invited accounts",
            CLASSES * A_CLASS
        );
        Ok(())
    }
    /// How many of the bids are of each class.
    fn by_class(self) -> [usize; CLASSES] {
        let first = self.bids.min(A_CLASS);
        [first, self.bids - first]
    }
    /// Accounts that it takes; payments need some as well.
    fn accounts(self) -> usize {
        self.bids
            .min(A_CLASS)
            .div_ceil(ORDERS_PER_ACCOUNT_CLASS)
            .max(MEMBERS.min(16))
    }
}

/// Fills the ledger of the network's only validator.
pub(super) fn fill(home: &Home, genesis: &Genesis, history: History) -> anyhow::Result<()> {
    let keys = KeyFolder::open(&home.keys())?.load()?;
    let validator = keys.validator.context("the node is no validator")?;
    let ledger = home.path().join("ledger");
    private_folder(&ledger)?;
    let config = HostConfig {
        genesis: genesis.clone(),
        key: Some(validator.key),
        chain: Some(Chain::new(&validator.beacon_secret, CHAIN_STEPS)),
        index: Some(ledger.join("index")),
    };
    let host = Host::open(config, Box::new(RealDisk::open(&ledger)?))?;
    let mut pace = Pace::start(host)?;
    let member = genesis.members.first().context("nobody founded it")?;
    let owner = Signer::new(genesis.account(member), keys.account);

    let mut accounts = Vec::new();
    for start in (0..history.accounts()).step_by(ACCOUNTS_A_BLOCK) {
        let batch = start..history.accounts().min(start + ACCOUNTS_A_BLOCK);
        let opened = batch.map(|n| tenant(genesis, &owner, n, pace.height(), credits(PURSE)));
        let (tenants, entries): (Vec<_>, Vec<_>) = opened
            .collect::<anyhow::Result<Vec<_>>>()?
            .into_iter()
            .unzip();
        pace.decide(entries)?;
        accounts.extend(tenants);
    }
    for start in (0..history.payments).step_by(BLOCK_ENTRIES) {
        let batch = start..history.payments.min(start + BLOCK_ENTRIES);
        let height = pace.height();
        let paid = batch.map(|n| payment(genesis, &owner, &accounts, n, height));
        pace.decide(paid.collect::<anyhow::Result<_>>()?)?;
    }
    for (class, bids) in genesis.classes.iter().zip(history.by_class()) {
        // An account seals one bid of a class a round.
        for start in (0..bids).step_by(accounts.len()) {
            let batch = start..bids.min(start + accounts.len());
            let height = pace.height();
            let sealed = batch.map(|n| seal(genesis, class.key.id(), &accounts, n, height));
            let sealed = sealed.collect::<anyhow::Result<Vec<_>>>()?;
            pace.round_begins()?;
            pace.decide(sealed.iter().map(|sealed| sealed.commit.clone()).collect())?;
            pace.round_begins()?;
            let height = pace.height();
            let opened = sealed.iter().map(|sealed| sealed.open(genesis, height));
            pace.decide(opened.collect::<anyhow::Result<_>>()?)?;
        }
    }
    let stand = pace.end()?;
    ensure!(
        stand == history.bids,
        "{stand} of {} bids stand: the ledger refused the others",
        history.bids
    );
    Ok(())
}

/// Accounts that are opened in a block: as many entries as one account may have waiting.
const ACCOUNTS_A_BLOCK: usize = 500;
/// Whole credits of each account.
const PURSE: u64 = 10;
