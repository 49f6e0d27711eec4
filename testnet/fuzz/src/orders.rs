//! Orders that a fuzzed stream asks for: of every kind, near what the ledger takes.

use crate::ledgers::{Ledger, class_key, credits};
use crate::reader::Reader;
use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::offer_id;
use gridbay_protocol::order::{
    Bid, Buy, BuyPart, Claim, ContractEntry, ContractTerms, Deadline, Group, Hire, JobTerms,
    Reservation, Step,
};
use gridbay_protocol::units::Price;

pub(crate) fn class(reader: &mut Reader<'_>) -> ClassId {
    if reader.once_in(24) {
        ClassId([9; 32])
    } else {
        class_key().id()
    }
}

pub(crate) fn bid(reader: &mut Reader<'_>, ledger: &Ledger) -> Bid {
    let mut steps: Vec<Step> = (0..=reader.below(3))
        .map(|_| Step {
            units: reader.number() as u32,
            price: Price(reader.number()),
        })
        .collect();
    steps.sort_by_key(|step| std::cmp::Reverse(step.price));
    Bid {
        class: class(reader),
        min: if reader.once_in(3) { steps[0].units } else { 1 },
        steps,
        slots: reader.number() as u32,
        budget: credits(reader.number().saturating_mul(100)),
        stands_until: ledger.state.height() + reader.number() % 1_000,
        work: Hash32([3; 32]),
    }
}

pub(crate) fn deadline(reader: &mut Reader<'_>, ledger: &Ledger) -> Deadline {
    let shapes = [Shape::Linear, Shape::Convex, Shape::Concave];
    let soft = reader.number() as u32 % 20;
    let pmin = reader.number();
    Deadline {
        class: class(reader),
        offer: any_offer(reader, ledger),
        tasks: 1,
        unit_slots: reader.number() % 30,
        soft,
        hard: soft + reader.number() as u32 % 20,
        pmax: credits(pmin.saturating_add(reader.number())),
        pmin: credits(pmin),
        shape: reader.pick(&shapes).unwrap_or(Shape::Linear),
        work: Hash32([5; 32]),
    }
}

pub(crate) fn buy(reader: &mut Reader<'_>, ledger: &Ledger) -> Buy {
    let mut offers: Vec<OfferId> = (0..reader.below(3))
        .map(|label| offer_id(&ledger.member(1 + label as u8), reader.below(2) as u32))
        .collect();
    offers.sort();
    let mut parts = vec![BuyPart {
        class: class(reader),
        units: reader.number() as u32,
        offers,
    }];
    // Now and then several, in any order.
    for _ in 0..reader.below(12).saturating_sub(8) {
        parts.push(BuyPart::anywhere(class(reader), reader.number() as u32));
    }
    if reader.below(4) > 0 {
        parts.sort_by_key(|part| part.class);
        parts.dedup_by_key(|part| part.class);
    }
    Buy {
        parts,
        slots: reader.number() as u32,
        limit: credits(reader.number().saturating_mul(10)),
        stands_until: reader.number(),
        surcharge: credits(reader.number()),
        work: Hash32([4; 32]),
    }
}

pub(crate) fn hire(reader: &mut Reader<'_>) -> Hire {
    Hire {
        class: class(reader),
        units: reader.number() as u32,
        slots: reader.number() as u32,
        limit: Price(reader.number()),
        work: Hash32([8; 32]),
    }
}

fn any_offer(reader: &mut Reader<'_>, ledger: &Ledger) -> OfferId {
    offer_id(
        &ledger.member(1 + reader.byte() % 4),
        reader.below(3) as u32,
    )
}

pub(crate) fn claim(reader: &mut Reader<'_>, ledger: &Ledger) -> Claim {
    let utility = [Utility::Linear, Utility::Log];
    let rate = reader.number();
    Claim {
        offer: any_offer(reader, ledger),
        rate: credits(rate),
        utility: reader.pick(&utility).unwrap_or(Utility::Log),
        // The class has three resources.
        weights: (0..2 + reader.below(3))
            .map(|_| reader.number() as u32)
            .collect(),
        tasks: reader.number() as u32,
        slots: reader.number() as u32,
        budget: credits(rate.saturating_mul(reader.number())),
        stands_until: ledger.state.height() + reader.number() % 1_000,
        work: Hash32([6; 32]),
    }
}

pub(crate) fn reservation(reader: &mut Reader<'_>, ledger: &Ledger) -> Reservation {
    let slot = ledger.state.calendar().slot(ledger.state.height());
    let earliest = (slot + reader.number() % 8).saturating_sub(2);
    let groups = (0..=reader.below(2)).map(|_| {
        let mut offers: Vec<OfferId> = (0..reader.below(3))
            .map(|_| any_offer(reader, ledger))
            .collect();
        offers.sort();
        Group {
            units: reader.number() as u32 % 4,
            offers,
        }
    });
    Reservation {
        class: class_key().id(),
        groups: groups.collect(),
        slots: reader.number() as u32 % 12,
        earliest,
        latest: earliest + reader.number() % 12,
        value: credits(reader.number().saturating_mul(100)),
        channels: reader.once_in(4).then(|| Channels {
            low: reader.below(4) as u32,
            high: reader.below(4) as u32,
        }),
        work: Hash32([7; 32]),
    }
}

pub(crate) fn contract(reader: &mut Reader<'_>, ledger: &Ledger) -> ContractEntry {
    let known: Vec<OrderId> = ledger.state.contracts().map(|(id, _)| *id).collect();
    let contract = reader.pick(&known).unwrap_or(OrderId([5; 32]));
    let jobs: Vec<OrderId> = ledger
        .state
        .contract_jobs(&contract)
        .map(|(id, _)| *id)
        .collect();
    let job = reader.pick(&jobs).unwrap_or(contract);
    let orders: Vec<OrderId> = ledger.state.orders().map(|(id, _)| *id).collect();
    match reader.below(8) {
        0 | 1 => ContractEntry::Propose(Box::new(proposal(reader, ledger))),
        2 => ContractEntry::Sign { contract },
        3 | 4 => ContractEntry::Request {
            contract,
            work: Hash32([reader.byte(); 32]),
        },
        5 => ContractEntry::Close { contract },
        6 => ContractEntry::Complete { contract, job },
        _ => ContractEntry::Serve {
            contract,
            job,
            order: reader.pick(&orders).unwrap_or(OrderId([5; 32])),
        },
    }
}

fn proposal(reader: &mut Reader<'_>, ledger: &Ledger) -> ContractTerms {
    let height = ledger.state.height();
    let first = ledger.state.calendar().slot(height) + reader.number() % 3;
    ContractTerms {
        provider: ledger.member(1 + reader.byte() % 4),
        class: class(reader),
        first,
        last: first + reader.number() % 6,
        jobs: reader.number() as u32 % 5,
        job: JobTerms {
            units: 1 + reader.below(2) as u32,
            slots: reader.number() as u32 % 4,
            value: credits(reader.number()),
            hold: reader.number() as u32,
            decay: reader.number() as u32,
            penalty: credits(reader.number()),
        },
        alpha_ppm: reader.number() as u32,
        beta16: reader.below(34) as u32,
        stands_until: height + reader.number() % 40,
    }
}
