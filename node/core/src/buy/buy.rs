//! Buy-it-now.

use super::way::{Asked, Attempt, Buys, Desk};
use crate::reply::Refused;
use gridbay_ledger::Refusal;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::order::{Buy, BuyPart, Flaw};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Terms of a buy; slots are the order's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuyTerms {
    /// Units by class, ascending; one of the classes is the order's.
    pub parts: Vec<BuyPart>,
    /// Most to pay per slot for all units.
    pub limit: Credits,
    /// Heights to wait for units if there are not enough; 0 for not at all.
    pub patience: u64,
    /// Most to pay on top, once, to those who are evicted for it.
    pub surcharge: Credits,
}

impl BuyTerms {
    fn buy(&self, at: &Attempt) -> Buy {
        Buy {
            parts: self.parts.clone(),
            slots: at.slots,
            limit: self.limit,
            // It waits from the making of its entry on, or not at all.
            stands_until: match self.patience {
                0 => 0,
                patience => at.height.saturating_add(patience),
            },
            surcharge: self.surcharge,
            work: at.work,
        }
    }
}

impl Buys for BuyTerms {
    fn asked(&self, at: &Attempt) -> Asked {
        Asked::Open(EntryBody::Buy(self.buy(at)))
    }
    /// Its slots and the rest of the running one at the limit.
    fn check(&self, at: &Attempt, desk: &Desk<'_>) -> Result<Credits, Refused> {
        let (buy, state) = (self.buy(at), desk.state);
        buy.check().map_err(Refused::flawed)?;
        let known = |class: &ClassId| state.class(class).is_some();
        if let Some(class) = buy.classes().find(|class| !known(class)) {
            return Err(Refused::no_class(class));
        }
        if buy.units() != at.tasks {
            return Err(Refused::flawed(Flaw::Units));
        }
        if buy.surcharge > Credits::ZERO && !state.policy().buy.evicts() {
            return Err(Refused::by_ledger(&Refusal::Surcharge(buy.surcharge)));
        }
        Ok(buy.lock().unwrap_or(Credits::MAX))
    }
    fn needs(&self, _: ClassId) -> Vec<(ClassId, u32)> {
        let parts = self.parts.iter();
        parts.map(|part| (part.class, part.units)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buy::SEND_HEIGHTS;
    use gridbay_protocol::ids::Hash32;

    #[test]
    fn a_buy_waits_from_the_making_of_its_entry() {
        let terms = |patience| BuyTerms {
            parts: vec![],
            limit: Credits::ZERO,
            patience,
            surcharge: Credits::ZERO,
        };
        let at = Attempt {
            class: ClassId([1; 32]),
            slots: 1,
            tasks: 1,
            work: Hash32([2; 32]),
            height: 1_000,
            slot: 0,
            valid_until: 1_000 + SEND_HEIGHTS,
        };
        assert_eq!(terms(240).buy(&at).stands_until, 1_240);
        assert_eq!(terms(0).buy(&at).stands_until, 0);
    }
}
