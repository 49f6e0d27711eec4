//! The order of entries in a block: houses take turns, and within a house its accounts.
//!
//! A *house* is a member with the accounts that it answers for, as the state before the block knows
//! them.
//!
//! 1. A house's entries: in its first round comes one entry of each of its accounts that has any,
//!    in the second one more of every account that has two, and so on. Within a round accounts come
//!    in the order that the block's beacon draws.
//! 2. The block: in the first turn comes one entry of every house that has any, in the second one
//!    more of every house that has two, and so on. Within a turn houses come in the order that the
//!    beacon draws.
//! 3. An account's own entries come by kind, then as the beacon draws: new keys come before the
//!    entries that a lost key signed. Openings and appeals come right after them: they save a
//!    deposit within a few blocks, and an account must not crowd out its own.
//!
//! So the entries of a block up to any place are shared out among houses, and those of a house
//! among its accounts, as evenly as the list allows: a block may end anywhere and be fair (see
//! `choice`). No entry comes sooner or later for its kind or for how many others its account sends,
//! and a member gains nothing by opening accounts.

use crate::work::Work;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Place of an entry among those of its account: its precedence, its kind, then its rank.
pub(crate) type OwnPlace = (u8, u8, [u8; 32]);

/// The precedence of an account's entries: keys first, then those that save a deposit.
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
    (precedence(body), body.kind().number, rank)
}

/// A turn of a house in a block, or of an account in its house: how many came before it, and the
/// rank of whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    number: usize,
    whose: [u8; 32],
}

impl Turn {
    /// A turn, counted from 0.
    pub(crate) fn new(work: &Work<'_>, whose: &AccountId, number: usize) -> Turn {
        let whose = work.rank(whose.as_bytes());
        Turn { number, whose }
    }
}

/// Where an entry that is not in the block has its place: before the entry of that turn; among
/// others of that turn by their accounts' turn, then by their own place.
pub(crate) type Place = (Turn, Turn, OwnPlace);

/// The turns of a block's entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// One for each entry.
    pub(crate) order: Vec<Turn>,
    /// Index of the first entry that is out of order.
    pub(crate) disorder: Option<usize>,
    /// The turns of a house's accounts in it, ascending.
    houses: BTreeMap<AccountId, Vec<Turn>>,
    own: BTreeMap<AccountId, Vec<OwnPlace>>,
}

impl Turns {
    /// The turns of a block's entries. `work` is the working set before any of them is applied:
    /// nothing in the block changes whose house is whose.
    pub(crate) fn of(work: &Work<'_>, entries: &[Arc<Authentic>]) -> Turns {
        let mut turns = Turns::default();
        for entry in entries {
            turns.take(work, entry);
        }
        turns
    }
    fn take(&mut self, work: &Work<'_>, entry: &Authentic) {
        let account = entry.entry().account;
        let house = work.sponsor(&account);
        let own = self.own.entry(account).or_default();
        let within = self.houses.entry(house).or_default();
        let turn = Turn::new(work, &house, within.len());
        let in_house = Turn::new(work, &account, own.len());
        let place = own_place(work, entry);
        let ordered = own.last().is_none_or(|before| *before < place)
            && within.last().is_none_or(|before| *before < in_house)
            && self.order.last().is_none_or(|before| *before < turn);
        if !ordered {
            self.disorder = self.disorder.or(Some(self.order.len()));
        }
        own.push(place);
        within.push(in_house);
        self.order.push(turn);
    }
    /// Where an entry would be looked at that is not there.
    pub(crate) fn of_absent(&self, work: &Work<'_>, entry: &Authentic) -> Place {
        let (account, place) = (entry.entry().account, own_place(work, entry));
        let house = work.sponsor(&account);
        let own = self.own.get(&account).map_or(&[][..], Vec::as_slice);
        let before = own.partition_point(|other| *other < place);
        let in_house = Turn::new(work, &account, before);
        let within = self.houses.get(&house).map_or(&[][..], Vec::as_slice);
        let before = within.partition_point(|other| *other < in_house);
        (Turn::new(work, &house, before), in_house, place)
    }
}
