//! Two jobs under contract: one in time, one half a decay late.

use super::CONTRACT;
use crate::demo::evidence::{Account, Evidence, Record};
use crate::demo::sample::{done, id, micros, movement};
use gridbay_node::api::types::{ContractHow, How, RankExit, Signed};
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::contract::{ContractEvent, JobRecord, Settlement};

/// The contract, and an order of the provider.
const ORDER: u8 = 14;
const RENTED: u8 = 15;

pub(crate) fn add(evidence: &mut Evidence) {
    let mut order = done(CONTRACT, ORDER);
    order.wish.nodes = 2;
    order.wish.how = How::Contract(ContractHow {
        provider: "v1".into(),
        value: micros(100),
        penalty: micros(10),
        hold_seconds: 4,
        decay_seconds: 8,
        alpha_ppm: 1_500_000,
        beta16: 16,
        window_seconds: 10,
    });
    order.record.exits.push(RankExit {
        rank: 1,
        exit: JobExit::Code(0),
        dropped: 0,
    });
    let mut second = order.outputs[0].clone();
    second.stdout = "rank 1 slept 1\n".into();
    order.outputs.push(second);
    evidence.orders.push(order);

    let job = |number: u32, after, pays| {
        ContractEvent::Decided(JobRecord {
            contract: id(ORDER),
            job: id(20 + number as u8),
            number,
            arrival: 3,
            after,
            done: true,
            pays: micros(pays),
            owes: micros(0),
        })
    };
    let signed = ContractEvent::Signed {
        contract: id(ORDER),
        client: AccountId([2; 32]),
        provider: AccountId([3; 32]),
        bond: micros(20),
    };
    let settled = ContractEvent::Settled(Settlement {
        contract: id(ORDER),
        client: AccountId([2; 32]),
        provider: AccountId([3; 32]),
        alpha_ppm: 1_500_000,
        beta16: 16,
        requested: 2,
        completed: 2,
        earned: micros(150),
        pays: micros(225),
        owed: micros(0),
    });
    let events = [signed, job(0, 2, 100), job(1, 4, 50), settled];
    evidence.records.extend(events.map(|event| Record {
        height: 90,
        effect: Effect::Contract(event),
    }));
    money(evidence);
}

fn money(evidence: &mut Evidence) {
    let mut provider = Account {
        name: "b7".into(),
        id: AccountId([3; 32]),
        start: Signed(0),
        end: Signed(0),
        held: Signed(0),
        movements: vec![],
    };
    let [seller, client] = &mut evidence.accounts[..] else {
        panic!("two accounts")
    };
    movement(client, ORDER, Reason::Lock, -300, "contract");
    movement(client, ORDER, Reason::Release, 75, "contract");
    movement(&mut provider, ORDER, Reason::Earning, 225, "contract");
    movement(&mut provider, RENTED, Reason::Lock, -60, "escrow");
    movement(seller, RENTED, Reason::Earning, 60, "class small");
    evidence.accounts.push(provider);
}
