//! One clearing of a class with many sellers.
//!
//! Every offer enters the auction as a phantom bidder that buys its units back at its reserve,
//! behind every real bid in a tie, and is never charged:
//!
//! 1. Supply is the sum of all offers; the auction itself has no reserve.
//! 2. A phantom asks the reserve for a unit that somebody holds, and the reserve and the *switch
//!    cost* for one that nobody holds: moving a running job must be worth that much.
//! 3. The phantoms together bid their asks for all units in descending order. Only their joint
//!    curve can matter to real bids, so they enter as one bidder.
//! 4. The units sold are exactly those whose phantoms lost: as many as the real bidders won, the
//!    lowest asks first, of equal asks those held, then by offer id. So a job that runs does not
//!    move for nothing, even where switching costs nothing.
//! 5. The buyers' money is shared out above the reserves, so that earnings are [`level`].
//!
//! Why payments cover the reserves. Let real bidders win u units. Without a winner of A units, its
//! rivals could at least give the A dearest sold units back to their phantoms, so it pays at least
//! the sum of the A highest asks sold. Any A of the u sold units average no more than the A
//! highest, so all payments together reach the sum of the asks sold, and no ask is below its
//! reserve. Under `floor` payments are only higher. Under `paper` the clock drops phantoms cheapest
//! first, and a winner's last A units are clinched only when the others' phantoms have dropped up
//! to the u-th lowest ask: the same bound. There, units left idle by backtracking have neither a
//! buyer nor a winning phantom; they count as unsold, so again the lowest asks are the ones sold.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::{Award, Bidder, Rule, prepare, solve};
use crate::mechanism::ausubel;
use crate::mechanism::level::{self, Sold};

/// Most units of one class in one clearing. Tables take 8 or 16 bytes for each unit and each
/// all-or-none bid, so this bounds memory together with the number of such bids.
pub const UNITS_MAX: u32 = 65_536;

/// Units of one seller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer<O> {
    /// Unique among the offers of a clearing.
    pub id: O,
    /// Units for sale, 0 or more.
    pub units: u32,
    /// How many of them somebody holds; more than there are count as all.
    pub held: u32,
    /// Least earning of each unit, micro-credits.
    pub reserve: u64,
}

/// The input of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input<O, B> {
    /// How to allocate and price.
    pub rule: Rule,
    /// The worth above its reserve that a unit must have which nobody holds, micro-credits.
    pub switch_cost: u64,
    /// The sellers' side, in any order.
    pub offers: Vec<Offer<O>>,
    /// The buyers' side, in any order.
    pub bids: Vec<Bidder<B>>,
}

/// The units that one offer sold, and their earnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sale<O> {
    /// The offer.
    pub offer: O,
    /// Units sold, at least 1.
    pub units: u32,
    /// The earnings of these units together, micro-credits; at least their reserve.
    pub earned: u128,
}

/// The result of a clearing. Units won equal units sold; money paid equals money earned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<O, B> {
    /// Winners by (time, id).
    pub awards: Vec<Award<B>>,
    /// Offers that sold something, by id.
    pub sales: Vec<Sale<O>>,
    /// Sum of the stated prices of the units won.
    pub welfare: u128,
    /// Sum of the payments, which is the sum of the earnings.
    pub revenue: u128,
    /// Unit price of the first losing block, which may be a phantom; only [`Rule::Paper`].
    pub price: Option<u64>,
}

/// Why a clearing is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<O: Debug, B: Debug> {
    /// Two offers have one id.
    #[error("two offers have the id {0:?}")]
    DuplicateOffer(O),
    /// The offers together exceed [`UNITS_MAX`].
    #[error("{units} units exceed what one clearing takes")]
    TooManyUnits {
        /// Units of all offers.
        units: u64,
    },
    /// A bid is bad.
    #[error("bad bid")]
    Bid(#[source] ausubel::Error<B>),
}

/// Clears a class.
///
/// # Errors
/// Duplicate offers, too many units, or bids that [`ausubel`] refuses; in this order.
pub fn clear<O, B>(input: &Input<O, B>) -> Result<Outcome<O, B>, Error<O, B>>
where
    O: Ord + Clone + Debug,
    B: Ord + Clone + Debug + 'static,
{
    let lots = by_ask(input)?;
    let ask = |lot: &Lot<'_, O>| lot.ask;
    let phantoms: Vec<u64> = lots
        .iter()
        .rev()
        .flat_map(|lot| std::iter::repeat_n(ask(lot), lot.units as usize))
        .collect();
    // `by_ask` keeps the units within UNITS_MAX.
    let supply = phantoms.len() as u32;
    let mut prepared = prepare::prepare(&input.bids, supply, 0).map_err(Error::Bid)?;
    prepared.push_sellers(&phantoms);
    let (shares, price) = solve(&prepared, input.rule);
    let ausubel::Outcome {
        awards,
        welfare,
        revenue,
        price,
    } = ausubel::outcome(&input.bids, &prepared, &shares, price);
    let sales = sell(&lots, awards.iter().map(|award| award.units).sum(), revenue);
    Ok(Outcome {
        awards,
        sales,
        welfare,
        revenue,
        price,
    })
}

/// Units of one offer that are asked for alike.
struct Lot<'a, O> {
    offer: &'a Offer<O>,
    units: u32,
    ask: u64,
    /// Whether nobody holds them.
    free: bool,
}

/// The units of all offers in the order in which they sell.
fn by_ask<O, B>(input: &Input<O, B>) -> Result<Vec<Lot<'_, O>>, Error<O, B>>
where
    O: Ord + Clone + Debug,
    B: Debug,
{
    let mut sorted: Vec<&Offer<O>> = input.offers.iter().collect();
    sorted.sort_unstable_by_key(|offer| &offer.id);
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].id == pair[1].id) {
        return Err(Error::DuplicateOffer(pair[0].id.clone()));
    }
    let units = sorted.iter().map(|offer| u64::from(offer.units)).sum();
    if units > u64::from(UNITS_MAX) {
        return Err(Error::TooManyUnits { units });
    }
    let lots = sorted.into_iter().flat_map(|offer| {
        let held = offer.held.min(offer.units);
        let lot = |units, extra: u64, free| Lot {
            offer,
            units,
            ask: offer.reserve.saturating_add(extra),
            free,
        };
        let free = lot(offer.units - held, input.switch_cost, true);
        [lot(held, 0, false), free]
    });
    let mut lots: Vec<Lot<'_, O>> = lots.collect();
    // Stable: otherwise equal ones stay in order of offers.
    lots.sort_by_key(|lot| (lot.ask, lot.free));
    Ok(lots)
}

/// Takes the units sold from the lots in their order, and shares the revenue.
fn sell<O: Ord + Clone>(lots: &[Lot<'_, O>], units: u32, revenue: u128) -> Vec<Sale<O>> {
    let mut left = units;
    let mut by_offer: BTreeMap<&O, Sold<O>> = BTreeMap::new();
    for lot in lots {
        let units = lot.units.min(left);
        left -= units;
        if units > 0 {
            let sold = by_offer.entry(&lot.offer.id).or_insert_with(|| Sold {
                offer: lot.offer.id.clone(),
                units: 0,
                floor: lot.offer.reserve,
            });
            sold.units += units;
        }
    }
    let sold: Vec<Sold<O>> = by_offer.into_values().collect();
    let earned =
        level::earnings(&sold, revenue).expect("payments cover the reserves of sold units");
    let sales = sold.into_iter().zip(earned);
    sales
        .map(|(sold, earned)| Sale {
            offer: sold.offer,
            units: sold.units,
            earned,
        })
        .collect()
}
