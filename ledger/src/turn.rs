//! The order of entries in a block: accounts take turns.
//!
//! 1. In the first turn comes one entry of every account that has any, in the second one more of
//!    every account that has two, and so on. Within a turn accounts come in the order that the
//!    block's beacon draws.
//! 2. An account's own entries come by kind, then as the beacon draws: new keys stand before what
//!    a lost key signed. Openings and appeals come right after them: they answer for a deposit
//!    within a few blocks, and whoever has one at stake is not to crowd its own out.
//!
//! So what a block has of a list of entries up to any place is shared out as evenly as the list
//! allows: a block may end anywhere and be fair (see `choice`). No entry comes sooner or later for
//! its kind or for how many others its account sends.

use crate::work::Work;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeMap;

/// Place of an entry among those of its account: its precedence, its kind, then its rank.
pub(crate) type OwnPlace = (u8, u8, [u8; 32]);

/// What comes first of an account: keys, then what answers for a deposit.
fn precedence(body: &EntryBody) -> u8 {
    match body {
        EntryBody::SetKeys { .. } => 0,
        EntryBody::Open(_) | EntryBody::Appeal(_) => 1,
        _ => 2,
    }
}

/// Place of an entry among those of its account.
pub(crate) fn own_place(work: &Work<'_>, entry: &Authentic) -> OwnPlace {
    let body = &entry.entry().body;
    let rank = work.rank(entry.id().as_bytes());
    (precedence(body), body.kind(), rank)
}

/// A turn of an account in a block: how many came before it, and the account's rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    number: usize,
    account: [u8; 32],
}

impl Turn {
    /// A turn of an account, counted from 0.
    pub(crate) fn new(work: &Work<'_>, account: &AccountId, number: usize) -> Turn {
        let account = work.rank(account.as_bytes());
        Turn { number, account }
    }
}

/// Entries of a block so far, as their order is checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    last: Option<Turn>,
    own: BTreeMap<AccountId, Vec<OwnPlace>>,
}

impl Turns {
    /// Takes the next entry of a block; returns its turn, and whether it is in order.
    pub(crate) fn take(&mut self, work: &Work<'_>, entry: &Authentic) -> (Turn, bool) {
        let account = entry.entry().account;
        let own = self.own.entry(account).or_default();
        let turn = Turn::new(work, &account, own.len());
        let place = own_place(work, entry);
        let ordered = own.last().is_none_or(|before| *before < place)
            && self.last.is_none_or(|before| before < turn);
        own.push(place);
        self.last = Some(turn);
        (turn, ordered)
    }
    /// The turn in which an entry would be looked at that is not there.
    pub(crate) fn of_absent(&self, work: &Work<'_>, entry: &Authentic) -> (Turn, OwnPlace) {
        let (account, place) = (entry.entry().account, own_place(work, entry));
        let own = self.own.get(&account);
        let before = own.map_or(0, |own| own.partition_point(|other| *other < place));
        (Turn::new(work, &account, before), place)
    }
}
