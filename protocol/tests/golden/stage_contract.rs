//! A proposal of a contract is refused where it arrives, each fault by its name.

use crate::samples::entry::{self, SIGNER};
use crate::samples::{NETWORK, micros};
use gridbay_protocol::codec;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::limits;
use gridbay_protocol::order::{ContractEntry, ContractFault, ContractTerms};
use gridbay_protocol::stage::{Malformed, WellFormed};

fn receive(change: impl FnOnce(&mut ContractTerms)) -> Result<(), Malformed> {
    let mut terms = entry::contract();
    change(&mut terms);
    let body = EntryBody::Contract(ContractEntry::Propose(Box::new(terms)));
    let signed = entry::signed(body, SIGNER);
    WellFormed::receive(&NETWORK, &codec::encode(&signed)).map(|_| ())
}

type Case = (ContractFault, fn(&mut ContractTerms));

#[test]
fn each_fault_of_a_proposal_has_its_name() {
    const MOST: u64 = 1 << 50;
    let cases: [Case; 17] = [
        (ContractFault::Jobs(0), |t| t.jobs = 0),
        (ContractFault::Jobs(4_097), |t| t.jobs = 4_097),
        (ContractFault::Inverted { first: 9, last: 8 }, |t| {
            (t.first, t.last) = (9, 8);
        }),
        (ContractFault::Units(0), |t| t.job.units = 0),
        (ContractFault::Units(4_097), |t| t.job.units = 4_097),
        (ContractFault::Slots(0), |t| t.job.slots = 0),
        (ContractFault::Slots(u32::MAX), |t| t.job.slots = u32::MAX),
        (ContractFault::Value(micros(0)), |t| t.job.value = micros(0)),
        (ContractFault::Value(micros(MOST + 1)), |t| {
            t.job.value = micros(MOST + 1);
        }),
        (ContractFault::Penalty(micros(MOST + 1)), |t| {
            t.job.penalty = micros(MOST + 1);
        }),
        (ContractFault::Decay, |t| t.job.decay = 0),
        (ContractFault::Alpha(0), |t| t.alpha_ppm = 0),
        (ContractFault::Alpha(10_000_001), |t| {
            t.alpha_ppm = 10_000_001;
        }),
        (ContractFault::Beta(257), |t| t.beta16 = 257),
        // 1,796 slots of window; 150 slots for value and penalty to be lost, and 60 before it
        // begins.
        (ContractFault::Length(525_601), |t| {
            t.last = 4 + 525_601 - 209;
        }),
        (
            ContractFault::Hopeless {
                slots: 210,
                patience: 209,
            },
            |t| t.job.slots = 210,
        ),
        (ContractFault::Overflow, |t| {
            (t.jobs, t.job.value) = (4_096, micros(MOST));
            t.alpha_ppm = 3_000_000;
        }),
    ];
    for (fault, change) in cases {
        assert_eq!(receive(change), Err(Malformed::Contract(fault)), "{fault}");
    }
}

#[test]
fn the_edges_of_a_proposal_are_inside() {
    let edges: [fn(&mut ContractTerms); 5] = [
        |t| (t.jobs, t.job.units) = (limits::CONTRACT_JOBS, limits::ORDER_UNITS),
        |t| (t.jobs, t.first, t.last) = (1, u64::MAX, u64::MAX),
        |t| t.job.slots = 209,
        |t| (t.alpha_ppm, t.beta16) = (1, 256),
        |t| t.last = 4 + u64::from(limits::ORDER_SLOTS) - 209,
    ];
    for (at, edge) in edges.into_iter().enumerate() {
        assert_eq!(receive(edge), Ok(()), "{at}");
    }
}

#[test]
fn what_terms_cost_and_pay() {
    let terms = entry::contract();
    // A thousand jobs at two credits and a quarter more; stakes of half a credit.
    assert_eq!(terms.lock(), Some(micros(2_500_000_000)));
    assert_eq!(terms.bond(), Some(micros(500_000_000)));
    // Half of the jobs done, all in time: a quarter.
    let earned = micros(1_000_000_000);
    assert_eq!(terms.pays(earned, 500, 1_000), micros(312_500_000));
    assert_eq!(terms.pays(micros(0), 0, 0), micros(0));
    // Whole for 60 slots, gone 120 later, and all of the penalty owed 30 after that.
    assert_eq!(terms.job.utility(60), (micros(2_000_000), micros(0)));
    assert_eq!(terms.job.utility(180), (micros(0), micros(0)));
    assert_eq!(terms.job.utility(195), (micros(0), micros(250_000)));
    assert_eq!(terms.job.patience(), 209);
    assert!(!terms.job.timed_out(209) && terms.job.timed_out(210));
    assert_eq!(terms.job.utility(210), (micros(0), micros(500_000)));
}
