//! Scarce things, of which there is bounded room, and how much of them a record takes.

use super::live::Live;
use super::{Contract, Offer, Order};
use gridbay_protocol::ids::{AccountId, ClassId};
use gridbay_protocol::limits;
use serde::{Deserialize, Serialize};

/// A thing of which there is bounded room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scarce {
    /// Units in a class's offers, of each as many as [`Offer::most_units`].
    Units(ClassId),
    /// Of these, units that may come to be sold under reservation.
    Reservable(ClassId),
    /// Live orders of a class.
    Orders(ClassId),
    /// The lumpiness of a class's opened bids.
    AllOrNone(ClassId),
    /// Live jobs by deadlines of a class.
    Jobs(ClassId),
    /// Live claims on pools of a class.
    Claims(ClassId),
    /// Live contracts, counted for their clients.
    Contracts,
    /// Jobs of signed contracts, counted for their providers.
    ContractJobs,
}

impl Scarce {
    /// All the room.
    pub(crate) fn limit(self) -> u64 {
        match self {
            Scarce::Units(_) => limits::CLASS_UNITS.into(),
            Scarce::Reservable(_) => limits::RESERVABLE_UNITS.into(),
            Scarce::Orders(_) => limits::ORDERS_PER_CLASS as u64,
            Scarce::AllOrNone(_) => limits::ALL_OR_NONE_PER_CLASS as u64,
            Scarce::Jobs(_) => limits::JOBS_PER_CLASS as u64,
            Scarce::Claims(_) => limits::CLAIMS_PER_CLASS as u64,
            Scarce::Contracts => limits::CONTRACTS.into(),
            Scarce::ContractJobs => limits::CONTRACT_JOBS_SIGNED.into(),
        }
    }
}

/// One of those that share the room: a founding member's own account, or all others that it answers
/// for.
pub(crate) type Party = (AccountId, bool);

/// So much of something, and the account that has it.
pub(crate) type Taken = (Scarce, AccountId, u64);

/// A record that takes room.
pub(crate) trait Takes {
    fn takes(&self) -> Vec<Taken>;
}

impl Takes for Offer {
    fn takes(&self) -> Vec<Taken> {
        let (class, seller) = (self.terms.class, self.seller);
        let reservable = self.reservable();
        vec![
            (Scarce::Units(class), seller, self.most_units().into()),
            (Scarce::Reservable(class), seller, reservable.into()),
        ]
    }
}

impl Takes for Order {
    fn takes(&self) -> Vec<Taken> {
        let mut taken = Vec::new();
        let crowd = self.stage.live().map(Live::crowd).unwrap_or_default();
        for class in self.classes() {
            taken.extend([
                (Scarce::Orders(class), self.account, 1),
                (Scarce::AllOrNone(class), self.account, crowd.all_or_none),
                (Scarce::Jobs(class), self.account, crowd.jobs),
                (Scarce::Claims(class), self.account, crowd.claims),
            ]);
        }
        taken
    }
}

impl Takes for Contract {
    fn takes(&self) -> Vec<Taken> {
        let jobs = match self.progress {
            Some(_) => self.terms.jobs.into(),
            None => 0,
        };
        vec![
            (Scarce::Contracts, self.client, 1),
            (Scarce::ContractJobs, self.terms.provider, jobs),
        ]
    }
}
