//! The refusals that may pass: the same entry may be good at a later height.

use super::Refusal;

impl Refusal {
    /// Whether the same entry may be accepted at a later height. If not, it can be forgotten.
    ///
    /// An order may end, and then its amendment is let go; a word about a slot may be right already
    /// for a node that is a block ahead of this one. A delivery counts anew after a slot without a
    /// sign of life. An offer's class, units and reserve change when its seller sets it anew, or
    /// under a label that was free again.
    pub fn may_pass_later(&self) -> bool {
        match self {
            Refusal::Window { .. }
            | Refusal::NoAccount(_)
            | Refusal::Role { .. }
            | Refusal::KeyTaken(_)
            | Refusal::Funds { .. }
            | Refusal::AccountQuota { .. }
            | Refusal::NoOffer(_)
            | Refusal::OfferQuota { .. }
            | Refusal::ClassUnits { .. }
            | Refusal::NoOrder(_)
            | Refusal::OrderQuota { .. }
            | Refusal::AllOrNoneQuota { .. }
            | Refusal::SealedAlready(_)
            | Refusal::Sealed(_)
            | Refusal::Closing(_)
            | Refusal::NoLease(_)
            | Refusal::NoPool(_)
            | Refusal::PoolFull { .. }
            | Refusal::PoolTwice(_)
            | Refusal::NothingToAppeal(_)
            | Refusal::NotPlanned(_)
            | Refusal::NotABid(_)
            | Refusal::Reshaped(_)
            | Refusal::Spent { .. }
            | Refusal::JobQuota { .. }
            | Refusal::BlockFull(_)
            | Refusal::BeaconWaits { .. }
            | Refusal::HeartbeatTwice { .. }
            | Refusal::Idle(_)
            | Refusal::NothingToComplain { .. }
            | Refusal::ComplaintQuota { .. }
            | Refusal::EntryBudget { .. }
            | Refusal::Final(_)
            | Refusal::Unopened(_)
            | Refusal::StillOpen { .. }
            | Refusal::OfferClass { .. }
            | Refusal::NothingToDeliver { .. }
            | Refusal::TooMuchWork { .. }
            | Refusal::BelowReserve { .. } => true,
            Refusal::OpeningTime { early, .. } => *early,
            Refusal::Contract(refusal) => refusal.may_pass_later(),
            Refusal::Reservation(why) => why.may_pass_later(),
            Refusal::Seat(why) => why.may_pass_later(),
            Refusal::Grant { .. } => self.is_early(),
            Refusal::Expired { .. }
            | Refusal::Used(_)
            | Refusal::Overflow
            | Refusal::TokenUsed { .. }
            | Refusal::NotMember(_)
            | Refusal::NoValidator(_)
            | Refusal::NoClass(_)
            | Refusal::NotSealed(_)
            | Refusal::Seal(_)
            | Refusal::Budget { .. }
            | Refusal::Standing { .. }
            | Refusal::Exiting(_)
            | Refusal::FirmSlots { .. }
            | Refusal::Surcharge(_)
            | Refusal::PoolWeights { .. }
            | Refusal::OpeningLapsed { .. }
            | Refusal::OpeningUnfunded(_)
            | Refusal::ReceiptLate { .. }
            | Refusal::Receipts(_)
            | Refusal::ReceiptPower { .. }
            | Refusal::Founder(_) => false,
        }
    }

    /// Whether it is a grant's, and only too early.
    fn is_early(&self) -> bool {
        matches!(self, Refusal::Grant { valid_until, height } if valid_until > height)
    }
}
