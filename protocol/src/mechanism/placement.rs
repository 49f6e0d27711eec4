//! Places winners: decides which offers' units each winner gets, once the units sold are known.
//!
//! Units of a class are alike to the auction, but not to a running job: a unit that stays where it
//! is costs nothing, and fewer sites mean shorter ways. In order of importance:
//!
//! 1. *Keep.* A winner keeps the units that it holds, as far as the sold set allows. Winners that
//!    can use all they hold come first, as they have no choice; then those that must give some up,
//!    which keep the offers where they hold most. Within both groups the smaller rank comes first.
//! 2. *Fewest offers.* Missing units are filled in order of need, the largest first, ties by rank:
//!    from the offers where the winner already is; then from the offer with the least room that
//!    holds all the rest; or else from the offer with the most room, and so on.
//! 3. *Beacon.* All other ties go to the smaller rank, then to the smaller id. The caller draws
//!    ranks from the beacon, so that no name is favoured for long.
//!
//! Steps 1 and 2 are greedy: deterministic and near-linear, not a minimum over all placements.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// A rank drawn from the beacon; the smaller one comes first.
pub type Rank = [u8; 32];

/// Sold units of one offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site<O> {
    /// The offer, unique in the list.
    pub offer: O,
    /// Its place in ties.
    pub rank: Rank,
    /// Units sold.
    pub units: u32,
}

/// A winner that is to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Winner<O, B> {
    /// The bid, unique in the list.
    pub id: B,
    /// Its place in ties.
    pub rank: Rank,
    /// Units won.
    pub units: u32,
    /// Units that it holds now, by offer; also of offers that sold nothing.
    pub held: BTreeMap<O, u32>,
}

/// Where a winner's units are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<O, B> {
    /// The bid.
    pub id: B,
    /// Units by offer, each at least 1; they add up to the units won.
    pub units: BTreeMap<O, u32>,
    /// Held units that must be given up, by offer, each at least 1.
    pub leaves: BTreeMap<O, u32>,
    /// How many of the units given up go on elsewhere; the others end.
    pub moves: u32,
}

/// Why nothing can be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<O: Debug, B: Debug> {
    /// An offer is listed twice.
    #[error("offer {0:?} is listed twice")]
    DuplicateOffer(O),
    /// A winner is listed twice.
    #[error("winner {0:?} is listed twice")]
    DuplicateWinner(B),
    /// More units won than sold.
    #[error("{won} units won, but only {sold} sold")]
    Shortage {
        /// Units of all winners.
        won: u64,
        /// Units of all sites.
        sold: u64,
    },
}

/// Places every winner; the result is in order of the winners' ids. Units left over stay unplaced.
///
/// # Errors
/// Duplicates, or more units won than sold.
pub fn place<O, B>(
    sites: &[Site<O>],
    winners: &[Winner<O, B>],
) -> Result<Vec<Placed<O, B>>, Error<O, B>>
where
    O: Ord + Clone + Debug,
    B: Ord + Clone + Debug,
{
    check(sites, winners)?;
    let mut floor = Floor::new(sites);
    let mut seats: Vec<Seat<'_, O, B>> = winners.iter().map(Seat::new).collect();
    seats.sort_unstable_by_key(|seat| (seat.gives_up, seat.winner.rank, &seat.winner.id));
    for seat in &mut seats {
        seat.keep(&mut floor);
    }
    seats.sort_unstable_by_key(|seat| {
        (
            std::cmp::Reverse(seat.need),
            seat.winner.rank,
            &seat.winner.id,
        )
    });
    for seat in &mut seats {
        seat.fill(&mut floor);
    }
    seats.sort_unstable_by_key(|seat| &seat.winner.id);
    Ok(seats.into_iter().map(Seat::placed).collect())
}

fn check<O, B>(sites: &[Site<O>], winners: &[Winner<O, B>]) -> Result<(), Error<O, B>>
where
    O: Ord + Clone + Debug,
    B: Ord + Clone + Debug,
{
    let mut offers = BTreeSet::new();
    if let Some(twice) = sites.iter().find(|site| !offers.insert(&site.offer)) {
        return Err(Error::DuplicateOffer(twice.offer.clone()));
    }
    let mut ids = BTreeSet::new();
    if let Some(twice) = winners.iter().find(|winner| !ids.insert(&winner.id)) {
        return Err(Error::DuplicateWinner(twice.id.clone()));
    }
    let sold = sites.iter().map(|site| u64::from(site.units)).sum();
    let won = winners.iter().map(|winner| u64::from(winner.units)).sum();
    if won > sold {
        Err(Error::Shortage { won, sold })
    } else {
        Ok(())
    }
}

/// The units not placed yet.
struct Floor<'a, O> {
    room: BTreeMap<&'a O, (u32, Rank)>,
    /// Offers with room, by room and then rank.
    by_room: BTreeMap<u32, BTreeSet<(Rank, &'a O)>>,
}

impl<'a, O: Ord> Floor<'a, O> {
    fn new(sites: &'a [Site<O>]) -> Self {
        let mut floor = Floor {
            room: BTreeMap::new(),
            by_room: BTreeMap::new(),
        };
        for site in sites {
            floor.set(&site.offer, site.units, site.rank);
        }
        floor
    }

    fn set(&mut self, offer: &'a O, room: u32, rank: Rank) {
        self.room.insert(offer, (room, rank));
        if room > 0 {
            self.by_room.entry(room).or_default().insert((rank, offer));
        }
    }

    /// Takes up to `wanted` units of an offer.
    fn take(&mut self, offer: &O, wanted: u32) -> u32 {
        let Some((&offer, &(room, rank))) = self.room.get_key_value(offer) else {
            return 0;
        };
        let taken = room.min(wanted);
        if taken > 0 {
            if let Some(alike) = self.by_room.get_mut(&room) {
                alike.remove(&(rank, offer));
                if alike.is_empty() {
                    self.by_room.remove(&room);
                }
            }
            self.set(offer, room - taken, rank);
        }
        taken
    }

    /// The offer with the least room that holds all of `need`, else the one with the most room.
    fn best(&self, need: u32) -> Option<&'a O> {
        let fitting = self.by_room.range(need..).next();
        let (_, alike) = fitting.or_else(|| self.by_room.last_key_value())?;
        alike.first().map(|&(_, offer)| offer)
    }
}

/// A winner that is being placed.
struct Seat<'a, O, B> {
    winner: &'a Winner<O, B>,
    /// Whether it holds more than it won.
    gives_up: bool,
    units: BTreeMap<&'a O, u32>,
    /// Units still missing.
    need: u32,
    /// Units that stay where they are.
    kept: u32,
}

impl<'a, O: Ord + Clone, B: Clone> Seat<'a, O, B> {
    fn new(winner: &'a Winner<O, B>) -> Self {
        let gives_up = winner.holds() > u64::from(winner.units);
        Seat {
            winner,
            gives_up,
            units: BTreeMap::new(),
            need: winner.units,
            kept: 0,
        }
    }

    /// Step 1.
    fn keep(&mut self, floor: &mut Floor<'a, O>) {
        let mut held: Vec<(&'a O, u32)> = self.winner.held.iter().map(|(o, &u)| (o, u)).collect();
        // Stable, so equal holdings stay in offer order.
        held.sort_by_key(|&(_, units)| std::cmp::Reverse(units));
        for (offer, units) in held {
            self.kept += self.take(floor, offer, units);
        }
    }

    /// Step 2.
    fn fill(&mut self, floor: &mut Floor<'a, O>) {
        let present: Vec<&'a O> = self.units.keys().copied().collect();
        for offer in present {
            self.take(floor, offer, self.need);
        }
        while self.need > 0 {
            let Some(offer) = floor.best(self.need) else {
                return;
            };
            self.take(floor, offer, self.need);
        }
    }

    fn take(&mut self, floor: &mut Floor<'a, O>, offer: &'a O, wanted: u32) -> u32 {
        let taken = floor.take(offer, wanted.min(self.need));
        if taken > 0 {
            *self.units.entry(offer).or_default() += taken;
            self.need -= taken;
        }
        taken
    }

    fn placed(self) -> Placed<O, B> {
        let mut leaves = BTreeMap::new();
        for (offer, &held) in &self.winner.held {
            let stays = self.units.get(offer).copied().unwrap_or(0);
            if held > stays {
                leaves.insert(offer.clone(), held - stays);
            }
        }
        let going_on = self.winner.holds().min(u64::from(self.winner.units)) as u32;
        Placed {
            id: self.winner.id.clone(),
            units: self
                .units
                .into_iter()
                .map(|(offer, units)| (offer.clone(), units))
                .collect(),
            leaves,
            moves: going_on - self.kept,
        }
    }
}

impl<O, B> Winner<O, B> {
    fn holds(&self) -> u64 {
        self.held.values().map(|&units| u64::from(units)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(offer: u8, units: u32) -> Site<u8> {
        Site {
            offer,
            rank: [offer; 32],
            units,
        }
    }

    fn winner(id: u8, units: u32, held: &[(u8, u32)]) -> Winner<u8, u8> {
        Winner {
            id,
            rank: [id; 32],
            units,
            held: held.iter().copied().collect(),
        }
    }

    fn units(placed: &Placed<u8, u8>) -> Vec<(u8, u32)> {
        placed
            .units
            .iter()
            .map(|(&offer, &units)| (offer, units))
            .collect()
    }

    #[test]
    fn holders_stay_and_the_rest_goes_where_they_are() {
        let placed = place(
            &[site(1, 4), site(2, 4)],
            &[winner(1, 3, &[]), winner(2, 3, &[(2, 2)])],
        )
        .unwrap();
        assert_eq!(units(&placed[0]), [(1, 3)]);
        assert_eq!(units(&placed[1]), [(2, 3)]);
        assert_eq!((placed[1].moves, placed[1].leaves.len()), (0, 0));
    }

    #[test]
    fn who_has_no_choice_keeps_first() {
        let placed = place(
            &[site(1, 1), site(2, 1)],
            &[winner(1, 1, &[(1, 1), (2, 1)]), winner(2, 1, &[(1, 1)])],
        )
        .unwrap();
        assert_eq!(units(&placed[0]), [(2, 1)]);
        assert_eq!(units(&placed[1]), [(1, 1)]);
        assert_eq!(placed[0].moves, 0);
        assert_eq!(placed[0].leaves, BTreeMap::from([(1, 1)]));
    }

    #[test]
    fn units_whose_offer_left_the_sold_set_move() {
        let placed = place(&[site(2, 3)], &[winner(1, 3, &[(1, 2), (2, 1)])]).unwrap();
        assert_eq!(units(&placed[0]), [(2, 3)]);
        assert_eq!(
            (placed[0].moves, &placed[0].leaves),
            (2, &BTreeMap::from([(1, 2)]))
        );
    }

    #[test]
    fn the_tightest_offer_that_fits_is_used() {
        let placed = place(&[site(1, 9), site(2, 4), site(3, 2)], &[winner(1, 3, &[])]).unwrap();
        assert_eq!(units(&placed[0]), [(2, 3)]);
        let placed = place(&[site(1, 3), site(2, 4), site(3, 2)], &[winner(1, 6, &[])]).unwrap();
        assert_eq!(units(&placed[0]), [(2, 4), (3, 2)]);
    }

    #[test]
    fn bad_lists_are_refused() {
        let twice = place::<u8, u8>(&[site(1, 1), site(1, 1)], &[]);
        assert_eq!(twice, Err(Error::DuplicateOffer(1)));
        let twice = place(&[site(1, 9)], &[winner(4, 1, &[]), winner(4, 1, &[])]);
        assert_eq!(twice, Err(Error::DuplicateWinner(4)));
        let short = place(&[site(1, 1)], &[winner(4, 2, &[])]);
        assert_eq!(short, Err(Error::Shortage { won: 2, sold: 1 }));
    }
}
