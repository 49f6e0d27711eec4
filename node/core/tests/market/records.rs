//! Records of orders on disk: a node reads those that an earlier version of it has written.

use gridbay_core::buy::{
    BidTerms, BuyTerms, ContractWish, DeadlineWish, End, NewOrder, PostedTerms, Relaying,
    ReserveTerms, ShareTerms, Terms, Worth,
};
use gridbay_core::buyer::{Finish, Record, TaskRecord};
use gridbay_core::key::OrderKey;
use gridbay_protocol::codec;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, OfferId};
use gridbay_protocol::job::{JobExit, JobSpec};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::order::{
    Bid, BuyPart, ContractTerms, Group, JobTerms, Reservation, Step, Wish,
};
use gridbay_protocol::units::{Credits, Price};

/// One record of each way of buying: a name and the bytes in hex.
const PINNED: &str = include_str!("records.txt");

const CLASS: ClassId = ClassId([0xc1; 32]);
const OFFER: OfferId = OfferId([0x0f; 32]);
const WORK: Hash32 = Hash32([0x33; 32]);

fn credits(micros: u64) -> Credits {
    Credits::from_micros(micros).expect("an amount")
}

fn record(terms: Terms) -> Record {
    let mut record = Record::new(NewOrder {
        key: OrderKey(0xab),
        entropy: [7; 32],
        name: "pinned".into(),
        accepted_ms: 1_700_000_000_000,
        class: CLASS,
        terms,
        slots: 6,
        tasks: 2,
        spec: JobSpec {
            argv: vec!["./solve".into()],
            env: vec![],
            inputs: vec![],
            outputs: vec![],
            wall_seconds: 60,
            network: false,
            internet: false,
            checkpoint: None,
        },
        worth: None,
        relay: Relaying::Free,
        request: None,
    });
    record.attempt = 1;
    record.valid_until = 1_040;
    record.included = true;
    record.paid = credits(77);
    record
}

fn sealed() -> Record {
    let steps = vec![Step {
        units: 2,
        price: Price(300),
    }];
    let mut record = record(Terms::Sealed(BidTerms {
        steps: steps.clone(),
        min: 1,
        budget: credits(9_000),
        patience: 240,
    }));
    record.wish = Some(Wish::Bid(Bid {
        class: CLASS,
        steps,
        min: 1,
        slots: 6,
        budget: credits(9_000),
        stands_until: 1_240,
        work: WORK,
    }));
    record.order.worth = Some(Worth {
        worth: credits(8_000),
        length: 3,
    });
    record.finish = Some(Finish::Ended(End::TooDear));
    record
}

fn reserved() -> Record {
    let groups = vec![Group {
        units: 2,
        offers: vec![OFFER],
    }];
    let channels = Some(Channels { low: 1, high: 4 });
    let mut record = record(Terms::Reserve(ReserveTerms {
        groups: groups.clone(),
        earliest: 10,
        latest: 14,
        value: credits(5_000),
        channels,
    }));
    record.wish = Some(Wish::Reservation(Reservation {
        class: CLASS,
        groups,
        slots: 6,
        earliest: 10,
        latest: 14,
        value: credits(5_000),
        channels,
        work: WORK,
    }));
    record.finish = Some(Finish::Done);
    record
}

fn bought() -> Record {
    let mut record = record(Terms::Buy(BuyTerms {
        parts: vec![BuyPart::anywhere(CLASS, 2)],
        limit: credits(800),
        patience: 120,
        surcharge: credits(50),
    }));
    record.finish = Some(Finish::Refused("funds".into()));
    record
}

fn claimed() -> Record {
    let mut record = record(Terms::Share(ShareTerms {
        offer: OFFER,
        rate: credits(400),
        utility: Utility::Log,
        weights: vec![3, 1],
        budget: credits(2_400),
        patience: 90,
    }));
    record.tasks[1] = TaskRecord {
        attempt: 2,
        done: Some(JobExit::Code(3)),
        ..TaskRecord::default()
    };
    record.cancelling = true;
    record.finish = Some(Finish::Cancelled);
    record
}

fn promised() -> Record {
    let mut record = record(Terms::Deadline(DeadlineWish {
        offer: OFFER,
        unit_slots: 12,
        soft: 8,
        hard: 16,
        pmax: credits(6_000),
        pmin: credits(1_000),
        shape: Shape::Convex,
    }));
    record.finish = Some(Finish::Ended(End::Missed));
    record
}

fn contracted() -> Record {
    let job = JobTerms {
        units: 1,
        slots: 6,
        value: credits(900),
        hold: 8,
        decay: 4,
        penalty: credits(100),
    };
    let provider = AccountId([0xa1; 32]);
    let mut record = record(Terms::Contract(ContractWish {
        provider,
        job,
        alpha_ppm: 500_000,
        beta16: 16,
        window: 20,
        patience: 100,
    }));
    record.proposal = Some(ContractTerms {
        provider,
        class: CLASS,
        first: 40,
        last: 60,
        jobs: 2,
        job,
        alpha_ppm: 500_000,
        beta16: 16,
        stands_until: 1_100,
    });
    record.finish = Some(Finish::Ended(End::NotSigned));
    record
}

fn hired() -> Record {
    let mut record = record(Terms::Posted(PostedTerms {
        units: 2,
        limit: Price(300),
    }));
    record.finish = Some(Finish::Ended(End::NoUnits));
    record
}

#[test]
fn a_record_of_each_way_of_buying_keeps_its_bytes() {
    let records = [
        ("sealed", sealed()),
        ("reserve", reserved()),
        ("buy", bought()),
        ("share", claimed()),
        ("deadline", promised()),
        ("contract", contracted()),
        ("posted", hired()),
    ];
    let mut text = String::new();
    for (name, record) in &records {
        let bytes = codec::encode(record);
        let hex = gridbay_protocol::ids::to_hex(&bytes);
        text += &format!("{name} {hex}\n");
        assert_eq!(Record::decode(&bytes).as_ref(), Ok(record), "{name}");
    }
    assert_eq!(text, PINNED);
}
