//! Generated values: any shape a type allows, legal in the market or not.

use crate::rng::Rng;
use crate::samples::key;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::appeal::Appeal;
use gridbay_protocol::auction::AuctionPolicy;
use gridbay_protocol::block::{Block, Header};
use gridbay_protocol::booking::{Booked, BusyChannel, BusyUnit, ReservationBid, ReservationRecord};
use gridbay_protocol::clearing::{
    Award, BoughtPart, BuyRecord, ClearingBid, ClearingKind, ClearingOffer, ClearingRecord,
    Eviction, Sold,
};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::hint::{Hint, Placed, UnitRun};
use gridbay_protocol::ids::*;
use gridbay_protocol::invitation::{Grant, SignedGrant};
use gridbay_protocol::keys::{PublicKey, Signature};
use gridbay_protocol::lease::{LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::{DeadlineTerms, OfferTerms, PoolTerms, Primary, Reclaim};
use gridbay_protocol::order::{
    Amendment, Bid, Buy, BuyPart, Claim, Commit, ContractEntry, ContractEvent, ContractTerms,
    Deadline, Group, JobRecord, JobTerms, Open, Reservation, Settlement, Step, Wish,
};
use gridbay_protocol::payment::{Posting, Purse};
use gridbay_protocol::planning::{Finished, Place, PlannedJob, Planning, Request};
use gridbay_protocol::receipt::{Receipt, SignedReceipt};
use gridbay_protocol::sharing::{Portion, Sharing, SharingAward, SharingClaim};
use gridbay_protocol::units::{Credits, Price};
use gridbay_protocol::vote::{Certificate, CertificateSignature, Vote, VoteKind};

/// A generator with its pool of keys: making a key is dear.
pub(crate) struct Generator {
    pub(crate) rng: Rng,
    keys: Vec<PublicKey>,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Generator {
        Generator {
            rng: Rng(seed),
            keys: (100..116).map(|n| key(n).public()).collect(),
        }
    }
    fn key(&mut self) -> PublicKey {
        self.keys[self.rng.below(self.keys.len())]
    }
    fn signature(&mut self) -> Signature {
        Signature(self.rng.bytes())
    }
    fn id(&mut self) -> [u8; 32] {
        self.rng.bytes()
    }
    fn price(&mut self) -> Price {
        Price(self.rng.wide())
    }
    fn credits(&mut self) -> Credits {
        let micros = self.rng.wide() & Credits::MAX.micros();
        Credits::from_micros(micros).expect("masked to the range")
    }
    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.rng.below(2) == 0).then(|| make(self))
    }
    fn some<T>(&mut self, most: usize, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        let n = self.rng.below(most + 1);
        (0..n).map(|_| make(self)).collect()
    }

    fn step(&mut self) -> Step {
        Step {
            units: self.rng.narrow(),
            price: self.price(),
        }
    }
    fn bid(&mut self) -> Bid {
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
    fn group(&mut self) -> Group {
        Group {
            units: self.rng.narrow(),
            offers: self.some(3, |g| OfferId(g.id())),
        }
    }
    fn channels(&mut self) -> Option<Channels> {
        self.maybe(|g| Channels {
            low: g.rng.narrow(),
            high: g.rng.narrow(),
        })
    }
    fn reservation(&mut self) -> Reservation {
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
    fn wish(&mut self) -> Wish {
        match self.rng.below(3) {
            0 => Wish::Reservation(self.reservation()),
            1 => Wish::Amendment(Amendment {
                order: OrderId(self.id()),
                bid: self.bid(),
            }),
            _ => Wish::Bid(self.bid()),
        }
    }
    fn open(&mut self) -> Open {
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
    fn buy(&mut self) -> Buy {
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
    fn shape(&mut self) -> Shape {
        [Shape::Linear, Shape::Convex, Shape::Concave][self.rng.below(3)]
    }
    fn deadline(&mut self) -> Deadline {
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
    fn contract(&mut self) -> ContractTerms {
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
    fn contract_entry(&mut self) -> ContractEntry {
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
    fn contract_event(&mut self) -> ContractEvent {
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
    fn utility(&mut self) -> Utility {
        [Utility::Linear, Utility::Log][self.rng.below(2)]
    }
    fn claim(&mut self) -> Claim {
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
    fn offer(&mut self) -> OfferTerms {
        OfferTerms {
            label: self.rng.narrow(),
            class: ClassId(self.id()),
            units: self.rng.narrow(),
            reserve: self.price(),
            buy_price: self.maybe(Self::price),
            reclaim: self
                .maybe(|g| Reclaim::Notice(g.rng.narrow()))
                .unwrap_or(Reclaim::None),
            mechanism: match self.rng.below(4) {
                0 => Primary::Ausubel,
                1 => Primary::Reservation,
                2 => Primary::Deadline(DeadlineTerms {
                    min_gain_ppm: self.rng.narrow(),
                    bond_ppm: self.rng.narrow(),
                }),
                _ => Primary::Share(PoolTerms {
                    cap_ppm: self.rng.narrow(),
                    sixteenths: self.rng.narrow(),
                }),
            },
            node: self.key(),
        }
    }
    fn grant(&mut self) -> Box<SignedGrant> {
        let grant = Grant {
            inviter: AccountId(self.id()),
            key: self.key(),
            token: self.key(),
            endowment: self.credits(),
            valid_until: self.rng.wide(),
        };
        Box::new(SignedGrant {
            grant,
            signature: self.signature(),
        })
    }
    fn account_key(&mut self) -> AccountKey {
        let roles = [Roles::ALL, Roles::SPEND, Roles::TRADE, Roles::OPERATE];
        AccountKey {
            key: self.key(),
            roles: roles[self.rng.below(4)],
        }
    }
    fn body(&mut self) -> EntryBody {
        match self.rng.below(16) {
            0 => EntryBody::SetKeys {
                keys: self.some(4, Self::account_key),
            },
            1 => EntryBody::OpenAccount {
                grant: self.maybe(Self::grant),
                keys: self.some(4, Self::account_key),
                endowment: self.credits(),
            },
            2 => EntryBody::RegisterBeacon {
                tip: Hash32(self.id()),
            },
            3 => EntryBody::Transfer {
                to: AccountId(self.id()),
                amount: self.credits(),
                memo: Hash32(self.id()),
            },
            4 => EntryBody::SetOffer(self.offer()),
            5 => EntryBody::WithdrawOffer {
                label: self.rng.narrow(),
            },
            6 => EntryBody::Deliver {
                lease: LeaseId(self.id()),
            },
            7 => EntryBody::Fail {
                lease: LeaseId(self.id()),
            },
            8 => EntryBody::Cancel {
                order: OrderId(self.id()),
            },
            9 => EntryBody::Commit(Commit {
                class: ClassId(self.id()),
                seal: Hash32(self.id()),
                bracket: self.rng.next() as u8,
            }),
            10 => EntryBody::Open(self.open()),
            11 => EntryBody::Buy(self.buy()),
            14 => EntryBody::Share(self.claim()),
            13 => EntryBody::Contract(self.contract_entry()),
            12 => EntryBody::Appeal(Box::new(Appeal {
                key: self.key(),
                valid_until: self.rng.wide(),
                open: self.open(),
                receipts: self.some(3, Self::receipt),
            })),
            _ => EntryBody::Deadline(self.deadline()),
        }
    }
    pub(crate) fn entry(&mut self) -> SignedEntry {
        let entry = Entry {
            network: NetworkId(self.id()),
            account: AccountId(self.id()),
            key: self.key(),
            valid_until: self.rng.wide(),
            body: self.body(),
        };
        SignedEntry {
            entry,
            signature: self.signature(),
        }
    }

    fn clearing_offer(&mut self) -> ClearingOffer {
        ClearingOffer {
            offer: OfferId(self.id()),
            units: self.rng.narrow(),
            reserve: self.price(),
        }
    }
    fn clearing(&mut self) -> ClearingRecord {
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
    fn reserved(&mut self) -> ReservationRecord {
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
    fn hint(&mut self) -> Hint {
        Hint {
            class: ClassId(self.id()),
            placements: self.some(2, |g| Placed {
                order: OrderId(g.id()),
                start: g.rng.wide(),
                groups: g.some(2, |g| {
                    g.some(2, |g| UnitRun {
                        offer: OfferId(g.id()),
                        first: g.rng.narrow(),
                        // Within what a block may hold.
                        units: 1 + g.rng.below(100) as u32,
                    })
                }),
                channel: g.maybe(|g| g.rng.narrow()),
            }),
        }
    }
    fn share(&mut self) -> Share {
        Share {
            offer: OfferId(self.id()),
            units: self.rng.narrow(),
        }
    }
    fn bought(&mut self) -> BuyRecord {
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
    fn planned(&mut self) -> PlannedJob {
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
    fn planning(&mut self) -> Planning {
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
    fn sharing(&mut self) -> Sharing {
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
    fn terms(&mut self) -> LeaseTerms {
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
    fn purse(&mut self) -> Purse {
        match self.rng.below(5) {
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
            4 => Effect::Lease(match self.rng.below(2) {
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

    fn vote(&mut self) -> Vote {
        Vote {
            kind: [VoteKind::Prevote, VoteKind::Precommit][self.rng.below(2)],
            height: self.rng.wide(),
            round: self.rng.narrow(),
            block: self.maybe(|g| BlockId(g.id())),
            validator: ValidatorId(self.id()),
        }
    }
    fn header(&mut self) -> Header {
        Header {
            format: self.rng.next() as u16,
            rules: self.rng.narrow(),
            network: NetworkId(self.id()),
            height: self.rng.wide(),
            time_ms: self.rng.wide(),
            parent: BlockId(self.id()),
            proposer: ValidatorId(self.id()),
            entries_root: Hash32(self.id()),
            effects_root: Hash32(self.id()),
            state_root: Hash32(self.id()),
            validators: Hash32(self.id()),
            next_validators: Hash32(self.id()),
            log_root: Hash32(self.id()),
            last_commit: Hash32(self.id()),
            beacon_reveal: Hash32(self.id()),
            evidence_root: Hash32(self.id()),
            hints_root: Hash32(self.id()),
        }
    }
    pub(crate) fn block(&mut self) -> Block {
        Block {
            header: self.header(),
            entries: self.some(2, Self::entry),
            last_commit: self.maybe(|g| Certificate {
                height: g.rng.wide(),
                round: g.rng.narrow(),
                block: BlockId(g.id()),
                signatures: g.some(2, |g| CertificateSignature {
                    validator: ValidatorId(g.id()),
                    signature: g.signature(),
                }),
            }),
            evidence: self.some(1, |g| Evidence {
                first: g.vote(),
                first_signature: g.signature(),
                second: g.vote(),
                second_signature: g.signature(),
            }),
            hints: self.some(2, Self::hint),
        }
    }
}
