//! A job with a deadline, and the planning that takes it.

use super::{entry, micros};
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::order::Deadline;
use gridbay_protocol::record::deadline::{Finished, Place, PlannedJob, Planning, Request};

/// The order of one job.
pub(crate) fn order(shape: Shape) -> Deadline {
    Deadline {
        class: ClassId([0xc1; 32]),
        offer: OfferId([0x0f; 32]),
        tasks: 40,
        unit_slots: 60,
        soft: 30,
        hard: 120,
        pmax: micros(2_000_000),
        pmin: micros(500_000),
        shape,
        work: Hash32([0xec; 32]),
    }
}

/// A planning in which everything happens once.
pub(crate) fn planning() -> Planning {
    let job = |n, left| PlannedJob {
        order: OrderId([n; 32]),
        left,
        elapsed: 2,
        soft: 30,
        hard: 120,
        pmax: micros(2_000_000),
        pmin: micros(500_000),
        shape: Shape::Convex,
    };
    let request = |n, refused| Request {
        job: job(n, 60),
        bond: micros(500_000),
        refused,
    };
    let finished = |n, end, pay| Finished {
        order: OrderId([n; 32]),
        end,
        age: 31,
        pay: micros(pay),
        bond: micros(500_000),
    };
    let place = |n, units, done| Place {
        order: OrderId([n; 32]),
        units,
        done,
        pay: micros(1_999_000),
    };
    Planning {
        offer: OfferId([0x0f; 32]),
        class: entry::bid().class,
        height: 24,
        slot: 4,
        capacity: 32,
        suspended: false,
        min_gain_ppm: 800_000,
        finished: vec![
            finished(1, OrderEnd::Served, 1_990_000),
            finished(2, OrderEnd::Missed, 0),
        ],
        jobs: vec![job(3, 40)],
        requests: vec![request(5, None), request(4, Some(OrderEnd::NoGain))],
        plan: vec![place(3, 32, 5), place(5, 0, 7)],
    }
}
