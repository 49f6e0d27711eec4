//! The conditions for a reservation. The same check serves the wallet, admission and the block.
//!
//! 1. Its last start is neither past nor beyond the starts for sale.
//! 2. It is no longer than the slots for sale.
//! 3. It is worth the posted price for every node-slot.
//! 4. The offers it names exist, are of its class and sell under reservation.

use crate::record::Offer;
use crate::refusal::Unbookable;
use crate::state::State;
use crate::work::Work;
use gridbay_protocol::class::Class;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::offer::{OfferTerms, Primary};
use gridbay_protocol::order::Reservation;
use gridbay_protocol::units::{Credits, Price};

/// The terms by which a reservation is judged.
struct Rules<'r, F> {
    posted: Price,
    policy: &'r WindowPolicy,
    /// First slot that can still be sold.
    next: u64,
    offer: F,
}

impl<'r, F: Fn(&OfferId) -> Option<&'r Offer>> Rules<'r, F> {
    fn check(&self, wish: &Reservation) -> Result<(), Unbookable> {
        let (latest, next) = (wish.latest, self.next);
        if latest < next {
            return Err(Unbookable::Past { latest, next });
        }
        let limit = next.saturating_add(u64::from(self.policy.starts) - 1);
        if latest > limit {
            return Err(Unbookable::Beyond { latest, limit });
        }
        if wish.slots > self.policy.slots {
            return Err(Unbookable::TooLong {
                slots: wish.slots,
                limit: self.policy.slots,
            });
        }
        let least = wish.least(self.posted).unwrap_or(Credits::MAX);
        if wish.value < least {
            return Err(Unbookable::BelowPosted {
                value: wish.value,
                least,
            });
        }
        for id in wish.groups.iter().flat_map(|g| &g.offers) {
            let offer = (self.offer)(id).filter(|o| o.terms.class == wish.class);
            let offer = offer.ok_or(Unbookable::UnknownOffer(*id))?;
            if offer.terms.mechanism != Primary::Reservation {
                return Err(Unbookable::OtherMechanism(*id));
            }
        }
        Ok(())
    }
}

/// Whether an opening of this block may stand. The class was checked.
pub(crate) fn check(work: &Work<'_>, class: &Class, wish: &Reservation) -> Result<(), Unbookable> {
    let rules = Rules {
        posted: class.reference_price,
        policy: &work.constitution.policy.reservation,
        next: work.calendar().slot(work.height()) + 1,
        offer: |id: &OfferId| work.tables.offers.get(id),
    };
    rules.check(wish)
}

/// Whether a seller may sell these units under reservation.
pub(crate) fn check_terms(class: &Class, terms: &OfferTerms) -> Result<(), Unbookable> {
    let posted = class.reference_price;
    if terms.mechanism == Primary::Reservation && terms.reserve > posted {
        return Err(Unbookable::ReserveAbovePosted {
            reserve: terms.reserve.0,
            posted: posted.0,
        });
    }
    Ok(())
}

impl State {
    /// Whether a reservation would be admitted if it were opened at `height`; an unknown class
    /// sells nothing.
    ///
    /// # Errors
    /// Why not.
    pub fn bookable(&self, wish: &Reservation, height: u64) -> Result<(), Unbookable> {
        let class = self.class(&wish.class);
        let rules = Rules {
            posted: class.map_or(Price::MAX, |c| c.reference_price),
            policy: &self.policy().reservation,
            next: self.calendar().slot(height) + 1,
            offer: |id: &OfferId| self.offer(id),
        };
        rules.check(wish)
    }
}
