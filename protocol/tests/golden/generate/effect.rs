//! Effects: what a block did.

use super::Generator;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::*;
use gridbay_protocol::lease::{LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::offer::PoolTerms;
use gridbay_protocol::payment::{Posting, Purse};
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{
    Award, ClearingBid, ClearingKind, ClearingOffer, ClearingRecord, Sold,
};
use gridbay_protocol::record::buy::{BoughtPart, BuyRecord, Eviction};
use gridbay_protocol::record::deadline::{Finished, Place, PlannedJob, Planning, Request};
use gridbay_protocol::record::reservation::{
    Booked, BusyChannel, BusyUnit, ReservationBid, ReservationRecord,
};
use gridbay_protocol::record::share::{Portion, Sharing, SharingAward, SharingClaim};

impl Generator {
    pub(super) fn clearing_offer(&mut self) -> ClearingOffer {
        ClearingOffer {
            offer: OfferId(self.id()),
            units: self.rng.narrow(),
            reserve: self.price(),
        }
    }
    pub(super) fn clearing(&mut self) -> ClearingRecord {
        ClearingRecord {
            id: ClearingId(self.id()),
            class: ClassId(self.id()),
            kind: [ClearingKind::Boundary, ClearingKind::Free][self.rng.below(2)],
            height: self.rng.wide(),
            slot: self.rng.wide(),
            heights: self.rng.wide(),
            policy: AuctionPolicy {
                rule: Rule::ALL[self.rng.below(3)],
                switch_cost: self.price(),
            },
            offers: self.some(3, Self::clearing_offer),
            held: self.some(3, Self::share),
            bids: self.some(3, |g| ClearingBid {
                order: OrderId(g.id()),
                sponsor: AccountId(g.id()),
                round: g.rng.wide(),
                rank: Hash32(g.id()),
                min: g.rng.narrow(),
                steps: g.some(3, Self::step),
            }),
            awards: self.some(3, |g| Award {
                order: OrderId(g.id()),
                units: g.rng.narrow(),
                pay: g.credits(),
            }),
            sold: self.some(3, |g| Sold {
                offer: OfferId(g.id()),
                units: g.rng.narrow(),
                earns: g.credits(),
            }),
        }
    }
    pub(super) fn reserved(&mut self) -> ReservationRecord {
        ReservationRecord {
            class: ClassId(self.id()),
            height: self.rng.wide(),
            slot: self.rng.wide(),
            posted: self.price(),
            units: self.some(3, Self::share),
            busy: self.some(3, |g| BusyUnit {
                offer: OfferId(g.id()),
                unit: g.rng.narrow(),
                first: g.rng.wide(),
                last: g.rng.wide(),
            }),
            channels: self.some(2, |g| BusyChannel {
                channel: g.rng.narrow(),
                first: g.rng.wide(),
                last: g.rng.wide(),
            }),
            bids: self.some(3, |g| {
                let (order, rank) = (OrderId(g.id()), Hash32(g.id()));
                ReservationBid::new(order, g.rng.wide(), rank, &g.reservation())
            }),
            booked: self.some(3, |g| Booked {
                order: OrderId(g.id()),
                start: g.rng.wide(),
                shares: g.some(3, Self::share),
                channel: g.maybe(|g| g.rng.narrow()),
                pay: g.credits(),
            }),
            beaten: self.maybe(Self::credits),
        }
    }
    pub(super) fn share(&mut self) -> Share {
        Share {
            offer: OfferId(self.id()),
            units: self.rng.narrow(),
        }
    }
    pub(super) fn bought(&mut self) -> BuyRecord {
        BuyRecord {
            order: OrderId(self.id()),
            height: self.rng.wide(),
            parts: self.some(3, Self::bought_part),
            price: self.credits(),
            slots: self.rng.narrow(),
        }
    }
    fn bought_part(&mut self) -> BoughtPart {
        BoughtPart {
            class: ClassId(self.id()),
            taken: self.some(3, Self::clearing_offer),
            displaced: self.some(3, |g| LeaseId(g.id())),
            displaced_value: self.credits(),
            evicted: self.some(3, |g| Eviction {
                lease: LeaseId(g.id()),
                remainder: g.credits(),
                surcharge: g.credits(),
            }),
            price: self.credits(),
        }
    }
    pub(super) fn planned(&mut self) -> PlannedJob {
        PlannedJob {
            order: OrderId(self.id()),
            left: self.rng.wide(),
            elapsed: self.rng.narrow(),
            soft: self.rng.narrow(),
            hard: self.rng.narrow(),
            pmax: self.credits(),
            pmin: self.credits(),
            shape: self.shape(),
        }
    }
    pub(super) fn planning(&mut self) -> Planning {
        use crate::samples::effect::ORDER_ENDS;
        let end = |g: &mut Self| ORDER_ENDS[g.rng.below(ORDER_ENDS.len())].1;
        Planning {
            offer: OfferId(self.id()),
            class: ClassId(self.id()),
            height: self.rng.wide(),
            slot: self.rng.wide(),
            capacity: self.rng.narrow(),
            suspended: self.rng.below(2) == 0,
            min_gain_ppm: self.rng.narrow(),
            finished: self.some(3, |g| Finished {
                order: OrderId(g.id()),
                end: end(g),
                age: g.rng.narrow(),
                pay: g.credits(),
                bond: g.credits(),
            }),
            jobs: self.some(3, Self::planned),
            requests: self.some(3, |g| Request {
                job: g.planned(),
                bond: g.credits(),
                refused: g.maybe(end),
            }),
            plan: self.some(3, |g| Place {
                order: OrderId(g.id()),
                units: g.rng.narrow(),
                done: g.rng.wide(),
                pay: g.credits(),
            }),
        }
    }
    pub(super) fn sharing(&mut self) -> Sharing {
        Sharing {
            offer: OfferId(self.id()),
            class: ClassId(self.id()),
            height: self.rng.wide(),
            slot: self.rng.wide(),
            units: self.rng.narrow(),
            reserve: self.price(),
            terms: PoolTerms {
                cap_ppm: self.rng.narrow(),
                sixteenths: self.rng.narrow(),
            },
            draw: Hash32(self.id()),
            claims: self.some(3, |g| SharingClaim {
                order: OrderId(g.id()),
                sponsor: AccountId(g.id()),
                rate: g.credits(),
                utility: g.utility(),
                weights: g.some(4, |g| g.rng.narrow()),
                tasks: g.rng.narrow(),
            }),
            awards: self.some(3, |g| SharingAward {
                order: OrderId(g.id()),
                portion: Portion {
                    units: g.rng.narrow(),
                    processors: g.rng.wide(),
                    parts: g.some(3, |g| g.rng.narrow()),
                },
                pay: g.credits(),
            }),
        }
    }
    pub(super) fn terms(&mut self) -> LeaseTerms {
        LeaseTerms {
            lease: LeaseId(self.id()),
            order: OrderId(self.id()),
            account: AccountId(self.id()),
            class: ClassId(self.id()),
            slot: self.rng.wide(),
            shares: self.some(3, Self::share),
            paid: self.credits(),
            firm_through: self.maybe(|g| g.rng.wide()),
        }
    }
    pub(super) fn purse(&mut self) -> Purse {
        match self.rng.below(6) {
            5 => Purse::Retained(AccountId(self.id())),
            0 => Purse::Account(AccountId(self.id())),
            1 => Purse::Escrow(OrderId(self.id())),
            2 => Purse::Class(ClassId(self.id())),
            3 => Purse::Bond(OrderId(self.id())),
            _ => Purse::Bank,
        }
    }
    pub(crate) fn effect(&mut self) -> Effect {
        use crate::samples::effect::{LEASE_ENDS, ORDER_ENDS, POSTINGS};
        match self.rng.below(11) {
            0 | 1 => Effect::Posting(Posting {
                from: self.purse(),
                to: self.purse(),
                amount: self.credits(),
                reason: POSTINGS[self.rng.below(POSTINGS.len())].1,
                order: self.maybe(|g| OrderId(g.id())),
            }),
            2 => Effect::Clearing(self.clearing()),
            3 => Effect::Buy(self.bought()),
            7 => Effect::Planning(self.planning()),
            8 => Effect::Contract(self.contract_event()),
            9 => Effect::Reservation(self.reserved()),
            4 => Effect::Lease(match self.rng.below(3) {
                2 => LeaseEvent::Disputed {
                    lease: LeaseId(self.id()),
                    order: OrderId(self.id()),
                    offer: OfferId(self.id()),
                    slot: self.rng.wide(),
                    withdrawn: self.rng.below(2) == 0,
                },
                0 => LeaseEvent::Started(self.terms()),
                _ => LeaseEvent::Renewed(self.terms()),
            }),
            5 => Effect::Lease(LeaseEvent::Ended {
                lease: LeaseId(self.id()),
                order: OrderId(self.id()),
                end: LEASE_ENDS[self.rng.below(LEASE_ENDS.len())].1,
            }),
            6 => Effect::Sharing(self.sharing()),
            _ => Effect::Order {
                order: OrderId(self.id()),
                end: ORDER_ENDS[self.rng.below(ORDER_ENDS.len())].1,
            },
        }
    }
}
