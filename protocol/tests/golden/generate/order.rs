//! Orders, contracts and what happens to them.

use super::Generator;
use gridbay_protocol::ids::*;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::order::{
    Amendment, Bid, Buy, BuyPart, Claim, ContractEntry, ContractTerms, Deadline, Group, JobTerms,
    Open, Reservation, Step, Wish,
};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::record::contract::{ContractEvent, JobRecord, Settlement};

impl Generator {
    pub(super) fn step(&mut self) -> Step {
        Step {
            units: self.rng.narrow(),
            price: self.price(),
        }
    }
    pub(super) fn bid(&mut self) -> Bid {
        Bid {
            class: ClassId(self.id()),
            steps: self.some(26, Self::step),
            min: self.rng.narrow(),
            slots: self.rng.narrow(),
            budget: self.credits(),
            stands_until: self.rng.wide(),
            work: Hash32(self.id()),
        }
    }
    pub(super) fn group(&mut self) -> Group {
        Group {
            units: self.rng.narrow(),
            offers: self.some(3, |g| OfferId(g.id())),
        }
    }
    pub(super) fn channels(&mut self) -> Option<Channels> {
        self.maybe(|g| Channels {
            low: g.rng.narrow(),
            high: g.rng.narrow(),
        })
    }
    pub(super) fn reservation(&mut self) -> Reservation {
        Reservation {
            class: ClassId(self.id()),
            groups: self.some(4, Self::group),
            slots: self.rng.narrow(),
            earliest: self.rng.wide(),
            latest: self.rng.wide(),
            value: self.credits(),
            channels: self.channels(),
            work: Hash32(self.id()),
        }
    }
    pub(super) fn wish(&mut self) -> Wish {
        match self.rng.below(3) {
            0 => Wish::Reservation(self.reservation()),
            1 => Wish::Amendment(Amendment {
                order: OrderId(self.id()),
                bid: self.bid(),
            }),
            _ => Wish::Bid(self.bid()),
        }
    }
    pub(super) fn open(&mut self) -> Open {
        Open {
            commit: EntryId(self.id()),
            wish: self.wish(),
            salt: self.id(),
        }
    }
    pub(crate) fn receipt(&mut self) -> SignedReceipt {
        let receipt = Receipt {
            entry: EntryId(self.id()),
            height: self.rng.wide(),
            validator: ValidatorId(self.id()),
        };
        SignedReceipt {
            receipt,
            signature: self.signature(),
        }
    }
    pub(super) fn buy(&mut self) -> Buy {
        Buy {
            parts: self.some(3, |g| BuyPart {
                class: ClassId(g.id()),
                units: g.rng.narrow(),
                offers: g.some(3, |g| OfferId(g.id())),
            }),
            slots: self.rng.narrow(),
            limit: self.credits(),
            stands_until: self.rng.wide(),
            surcharge: self.credits(),
            work: Hash32(self.id()),
        }
    }
    pub(super) fn shape(&mut self) -> Shape {
        [Shape::Linear, Shape::Convex, Shape::Concave][self.rng.below(3)]
    }
    pub(super) fn deadline(&mut self) -> Deadline {
        Deadline {
            class: ClassId(self.id()),
            offer: OfferId(self.id()),
            tasks: self.rng.narrow(),
            unit_slots: self.rng.wide(),
            soft: self.rng.narrow(),
            hard: self.rng.narrow(),
            pmax: self.credits(),
            pmin: self.credits(),
            shape: self.shape(),
            work: Hash32(self.id()),
        }
    }
    pub(super) fn contract(&mut self) -> ContractTerms {
        ContractTerms {
            provider: AccountId(self.id()),
            class: ClassId(self.id()),
            first: self.rng.wide(),
            last: self.rng.wide(),
            jobs: self.rng.narrow(),
            job: JobTerms {
                units: self.rng.narrow(),
                slots: self.rng.narrow(),
                value: self.credits(),
                hold: self.rng.narrow(),
                decay: self.rng.narrow(),
                penalty: self.credits(),
            },
            alpha_ppm: self.rng.narrow(),
            beta16: self.rng.narrow(),
            stands_until: self.rng.wide(),
        }
    }
    pub(super) fn contract_entry(&mut self) -> ContractEntry {
        let contract = OrderId(self.id());
        let job = OrderId(self.id());
        match self.rng.below(6) {
            0 => ContractEntry::Propose(Box::new(self.contract())),
            1 => ContractEntry::Sign { contract },
            2 => ContractEntry::Request {
                contract,
                work: Hash32(self.id()),
            },
            3 => ContractEntry::Close { contract },
            4 => ContractEntry::Serve {
                contract,
                job,
                order: OrderId(self.id()),
            },
            _ => ContractEntry::Complete { contract, job },
        }
    }
    pub(super) fn contract_event(&mut self) -> ContractEvent {
        let contract = OrderId(self.id());
        match self.rng.below(4) {
            0 => ContractEvent::Signed {
                contract,
                client: AccountId(self.id()),
                provider: AccountId(self.id()),
                bond: self.credits(),
            },
            1 => ContractEvent::Decided(JobRecord {
                contract,
                job: OrderId(self.id()),
                number: self.rng.narrow(),
                arrival: self.rng.wide(),
                after: self.rng.wide(),
                done: self.rng.below(2) == 0,
                pays: self.credits(),
                owes: self.credits(),
            }),
            2 => ContractEvent::Settled(Settlement {
                contract,
                client: AccountId(self.id()),
                provider: AccountId(self.id()),
                alpha_ppm: self.rng.narrow(),
                beta16: self.rng.narrow(),
                requested: self.rng.narrow(),
                completed: self.rng.narrow(),
                earned: self.credits(),
                pays: self.credits(),
                owed: self.credits(),
            }),
            _ => ContractEvent::Lapsed {
                contract,
                withdrawn: self.rng.below(2) == 0,
            },
        }
    }
    pub(super) fn utility(&mut self) -> Utility {
        [Utility::Linear, Utility::Log][self.rng.below(2)]
    }
    pub(super) fn claim(&mut self) -> Claim {
        Claim {
            offer: OfferId(self.id()),
            rate: self.credits(),
            utility: self.utility(),
            weights: self.some(4, |g| g.rng.narrow()),
            tasks: self.rng.narrow(),
            slots: self.rng.narrow(),
            budget: self.credits(),
            stands_until: self.rng.wide(),
            work: Hash32(self.id()),
        }
    }
}
