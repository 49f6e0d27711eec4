//! Preparation, common to all rules (A.2): from bids in any order to lots in canonical form.
//!
//! 1. Refuse duplicate ids (all bidders), then rising prices (whole vectors).
//! 2. `head = max(1, min)`: the units a bidder takes together or not at all.
//! 3. Cut prices to the supply. A bidder whose head is longer than that is out, so that a request
//!    larger than the supply never blocks anybody.
//! 4. Drop units that no rule can sell: units behind the head below the reserve, and a head whose
//!    average is below the reserve. Such a head ends below the reserve, so nothing behind it stays.
//! 5. Sort by (time, id).

use crate::mechanism::meter;
use std::fmt::Debug;

use super::{Bidder, Error};

/// A bidder in canonical form: a head that is taken whole, then single units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lot<'a> {
    /// Position in the input; `None` for the sellers, which are never charged.
    pub(crate) bidder: Option<u32>,
    /// Units of the head, 1 ..= `prices.len()`.
    pub(crate) head: u32,
    /// The number of the bidder's sponsor.
    pub(crate) sponsor: Option<u32>,
    /// Never rising, never empty; behind the head never below the reserve.
    pub(crate) prices: &'a [u64],
}

impl Lot<'_> {
    /// Sum of the first `units` prices.
    pub(crate) fn value(&self, units: u32) -> u128 {
        meter::steps(units as usize);
        self.prices[..units as usize]
            .iter()
            .map(|&p| u128::from(p))
            .sum()
    }

    /// Whether single units can be had from the first on.
    pub(crate) fn divisible(&self) -> bool {
        self.head == 1
    }

    /// Units wanted at most.
    pub(crate) fn len(&self) -> usize {
        self.prices.len()
    }
}

/// The market in canonical form.
#[derive(Debug, Clone)]
pub(crate) struct Prepared<'a> {
    /// Units for sale.
    pub(crate) supply: u32,
    /// Least price of a unit.
    pub(crate) reserve: u64,
    /// Surviving bids by (time, id).
    pub(crate) lots: Vec<Lot<'a>>,
}

impl<'a> Prepared<'a> {
    /// Lets the sellers bid for their own units, behind everybody in every tie. `prices` are
    /// never rising, at least the reserve, and at most `supply` many.
    pub(crate) fn push_sellers(&mut self, prices: &'a [u64]) {
        if !prices.is_empty() {
            self.lots.push(Lot {
                bidder: None,
                sponsor: None,
                head: 1,
                prices,
            });
        }
    }
}

/// Steps 1 to 5.
pub(crate) fn prepare<K: Ord + Clone + Debug>(
    bidders: &[Bidder<K>],
    supply: u32,
    reserve: u64,
) -> Result<Prepared<'_>, Error<K>> {
    refuse_duplicates(bidders)?;
    refuse_rising(bidders)?;
    let mut lots = Vec::with_capacity(bidders.len());
    for index in by_time_and_id(bidders) {
        lots.extend(lot(index, &bidders[index as usize], supply, reserve));
    }
    Ok(Prepared {
        supply,
        reserve,
        lots,
    })
}

fn refuse_duplicates<K: Ord + Clone + Debug>(bidders: &[Bidder<K>]) -> Result<(), Error<K>> {
    // The ledger hands bids over by id; then one look is enough.
    if bidders.is_sorted_by(|a, b| a.id < b.id) {
        return Ok(());
    }
    let mut ids: Vec<K> = bidders.iter().map(|b| b.id.clone()).collect();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::DuplicateId(pair[0].clone())),
        None => Ok(()),
    }
}

fn refuse_rising<K: Ord + Clone + Debug>(bidders: &[Bidder<K>]) -> Result<(), Error<K>> {
    let rising = |b: &&Bidder<K>| {
        meter::steps(b.prices.len());
        !b.prices.is_sorted_by(|dear, cheap| dear >= cheap)
    };
    match bidders.iter().filter(rising).map(|b| &b.id).min() {
        Some(id) => Err(Error::NotMonotone(id.clone())),
        None => Ok(()),
    }
}

/// Positions in the input, by (time, id).
fn by_time_and_id<K: Ord>(bidders: &[Bidder<K>]) -> impl Iterator<Item = u32> {
    let mut order: Vec<(u64, u32)> = (0u32..).zip(bidders).map(|(i, b)| (b.time, i)).collect();
    order.sort_unstable_by(|a, b| {
        let by_id = || bidders[a.1 as usize].id.cmp(&bidders[b.1 as usize].id);
        a.0.cmp(&b.0).then_with(by_id)
    });
    order.into_iter().map(|(_, index)| index)
}

/// Steps 2 to 4 for one bidder.
fn lot<K>(index: u32, bidder: &Bidder<K>, supply: u32, reserve: u64) -> Option<Lot<'_>> {
    let head = bidder.min.max(1);
    let cut = bidder.prices.len().min(supply as usize);
    if head as usize > cut {
        return None;
    }
    let prices = &bidder.prices[..cut];
    let worth = match prices.last() {
        Some(&last) if last >= reserve => cut,
        _ => prices.partition_point(|&p| p >= reserve),
    };
    let kept = worth.max(head as usize);
    let lot = Lot {
        bidder: Some(index),
        sponsor: bidder.sponsor,
        head,
        prices: &prices[..kept],
    };
    let covered =
        worth >= head as usize || lot.value(head) >= u128::from(reserve) * u128::from(head);
    covered.then_some(lot)
}
