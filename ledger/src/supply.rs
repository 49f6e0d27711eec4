//! The units of a class in offers, counted by who shares its room, so that a new offer is judged
//! without looking at all others.
//!
//! The units of a class are bounded, and an offer costs nothing, so units that nobody has could
//! take all room. Half of it is therefore kept for all alike: for each founding member an equal
//! part for its own account, and one for the accounts that it answers for. A party below its
//! part finds room, whatever others offer; the other half is for the first.

use crate::offer::Offer;
use crate::refusal::Refusal;
use crate::reservation;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, ClassId, OfferId};
use gridbay_protocol::limits;
use gridbay_protocol::offer::{OfferTerms, Primary};
use serde::{Deserialize, Serialize};

/// Who shares the room of a class: a founding member's own account, or all others that it answers
/// for.
pub(crate) type Party = (AccountId, bool);

/// Units of a party's offers, or of all parties together what they have beyond their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Supply {
    /// Of each offer as many as [`Offer::most_units`].
    pub(crate) units: u64,
    /// Of these, units that may come to be sold under reservation.
    pub(crate) reservable: u64,
}

impl Supply {
    fn of(offer: &Offer) -> Supply {
        Supply {
            units: offer.most_units().into(),
            reservable: reservation::reservable(offer).into(),
        }
    }
    pub(crate) fn plus(self, more: Supply) -> Supply {
        Supply {
            units: self.units.saturating_add(more.units),
            reservable: self.reservable.saturating_add(more.reservable),
        }
    }
    fn minus(self, less: Supply) -> Supply {
        Supply {
            units: self.units.saturating_sub(less.units),
            reservable: self.reservable.saturating_sub(less.reservable),
        }
    }
    /// What a party with so much has beyond its part.
    pub(crate) fn beyond(self, kept: Supply) -> Supply {
        self.minus(kept)
    }
}

/// Accounts that share the room of a class.
fn parties(work: &Work<'_>) -> u64 {
    2 * work.constitution.members.len().max(1) as u64
}

/// The part of each of them.
pub(crate) fn kept(work: &Work<'_>) -> Supply {
    let of = |limit: u32| u64::from(limit) / (2 * parties(work));
    Supply {
        units: of(limits::CLASS_UNITS),
        reservable: of(limits::RESERVABLE_UNITS),
    }
}

fn party(work: &Work<'_>, seller: &AccountId) -> Party {
    let sponsor = work.sponsor(seller);
    (sponsor, sponsor == *seller)
}

/// Where an offer counts, and for how much.
pub(crate) fn counted(work: &Work<'_>, offer: &Offer) -> (ClassId, Party, Supply) {
    let party = party(work, &offer.seller);
    (offer.terms.class, party, Supply::of(offer))
}

fn get(work: &Work<'_>, class: &ClassId, whose: Option<Party>) -> Supply {
    let found = work.tables.supply.get(&(*class, whose));
    found.copied().unwrap_or_default()
}

fn set(work: &mut Work<'_>, class: ClassId, whose: Option<Party>, supply: Supply) {
    if supply == Supply::default() {
        work.tables.supply.remove(&(class, whose));
    } else {
        work.tables.supply.insert((class, whose), supply);
    }
}

/// Counts an offer that is new, changed or gone.
pub(crate) fn note(work: &mut Work<'_>, was: Option<&Offer>, is: Option<&Offer>) {
    for (offer, enters) in [(was, false), (is, true)] {
        let Some((class, party, units)) = offer.map(|offer| counted(work, offer)) else {
            continue;
        };
        let kept = kept(work);
        let before = get(work, &class, Some(party));
        let after = match enters {
            true => before.plus(units),
            false => before.minus(units),
        };
        let all = get(work, &class, None);
        let all = all.minus(before.beyond(kept)).plus(after.beyond(kept));
        set(work, class, Some(party), after);
        set(work, class, None, all);
    }
}

/// Whether a class has room for the terms, in place of those of the same offer.
pub(crate) fn check(
    work: &Work<'_>,
    seller: &AccountId,
    terms: &OfferTerms,
    id: &OfferId,
) -> Result<(), Refusal> {
    let own = party(work, seller);
    let before = get(work, &terms.class, Some(own));
    let kept = kept(work);
    let others = get(work, &terms.class, None).minus(before.beyond(kept));
    let same = work.tables.offers.get(id);
    let free = before.minus(same.map(Supply::of).unwrap_or_default());
    let new = u64::from(terms.units.max(same.map_or(0, |offer| offer.bound)));
    let all = |kept: u64, others: u64, own: u64| (parties(work) - 1) * kept + others + own + new;
    let within = |units: u64, limit: u32| match units <= u64::from(limit) {
        true => Ok(()),
        false => Err(Refusal::ClassUnits {
            class: terms.class,
            units,
            limit,
        }),
    };
    within(
        all(kept.units, others.units, free.units),
        limits::CLASS_UNITS,
    )?;
    if terms.mechanism == Primary::Reservation {
        within(
            all(kept.reservable, others.reservable, free.reservable),
            limits::RESERVABLE_UNITS,
        )?;
    }
    Ok(())
}
