//! Contracts between whole cores: a client proposes, a provider's node signs and rents, sellers run
//! the client's tasks.

use crate::genesis::credits;
use crate::world::World;
use crate::{equal_states, finish, has, market, order};
use gridbay_core::buy::{ContractWish, End, Terms};
use gridbay_core::buyer::Finish;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_core::provider::{ProviderPolicy, ProviderTerms};
use gridbay_core::reply::Reply;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::order::{ContractEntry, JobTerms};
use gridbay_protocol::units::{Credits, Price};

const CLIENT: usize = 4;
const PROVIDER: usize = 5;
const KEY: OrderKey = OrderKey(7);

fn account(world: &World, n: usize) -> AccountId {
    world.nodes[n].core.account().expect("a member")
}

fn free(world: &World, n: usize) -> i64 {
    world.nodes[1].core.state().balance(&account(world, n)).free
}

/// Jobs of three slots, worth 10,000 for six and gone in six more, at a penalty of 5,000.
fn wish(world: &World) -> ContractWish {
    let micros = |m| Credits::from_micros(m).expect("an amount");
    ContractWish {
        provider: account(world, PROVIDER),
        job: JobTerms {
            units: 1,
            slots: 3,
            value: micros(10_000),
            hold: 6,
            decay: 6,
            penalty: micros(5_000),
        },
        alpha_ppm: 1_000_000,
        beta16: 16,
        window: 20,
        patience: 100,
    }
}

fn terms(world: &World, policy: ProviderPolicy, most: u64) -> ProviderTerms {
    ProviderTerms {
        classes: vec![world.class()],
        policy,
        units: 4,
        cost: Price(250),
        most: Price(most),
    }
}

/// `jobs` tasks of so many seconds under a contract.
fn run(world: &mut World, jobs: u32, seconds: u64) {
    let wish = wish(world);
    let mut order = order(world, KEY.0, Terms::Contract(wish), jobs, seconds);
    order.slots = wish.job.slots;
    world.order(CLIENT, order);
    assert!(world.run_until(1_000, |w| !w.nodes[CLIENT].replies.is_empty()));
    assert_eq!(world.nodes[CLIENT].replies, [Reply::Ordered(KEY)]);
}

/// The client's agent of its order.
fn client(world: &World) -> &OrderAgent {
    let buyer = world.nodes[CLIENT].core.buyer();
    buyer.order(&KEY).expect("it was ordered")
}

fn settled(world: &World) -> bool {
    client(world).is_settled() && world.nodes[1].core.state().contracts().count() == 0
}

/// Nothing is rented any more.
fn idle(world: &World) -> bool {
    world.nodes[1].core.state().orders().count() == 0
}

#[test]
fn jobs_under_contract_run_and_are_paid() {
    let mut world = market();
    let terms = terms(&world, ProviderPolicy::Conservative, 1_000);
    world.provide(PROVIDER, terms);
    // Six jobs, four units: two have to wait.
    run(&mut world, 6, 3);
    assert!(world.run_until(60_000, |w| finish(w, CLIENT, KEY.0).is_some()));
    assert_eq!(finish(&world, CLIENT, KEY.0), Some(Finish::Done));
    for rank in 0..6u32 {
        let output = &world.nodes[CLIENT].output[&(KEY, rank)];
        assert_eq!(output, rank.to_string().as_bytes());
    }
    assert!(world.run_until(30_000, |w| settled(w) && idle(w)));
    let agent = client(&world);
    assert_eq!(agent.tasks.exit_code(), 0);
    // All done within the hold: the whole value.
    assert_eq!(agent.paid(), Credits::from_micros(60_000).unwrap());
    assert_eq!(free(&world, CLIENT), credits(100).micros() as i64 - 60_000);
    // The provider keeps what the sellers did not earn, of which the last may be held yet.
    let state = world.nodes[1].core.state();
    let earned: i64 = [0, 1]
        .map(|n| has(&world, state, n) - credits(100).micros() as i64)
        .iter()
        .sum();
    let kept = free(&world, PROVIDER) - credits(100).micros() as i64;
    assert!(earned > 0 && kept > 0);
    assert_eq!(kept + earned, 60_000);
    equal_states(&world);
}

#[test]
fn a_provider_killed_between_goes_on() {
    let mut world = market();
    let terms = terms(&world, ProviderPolicy::PreemptLeastLoss, 1_000);
    world.provide(PROVIDER, terms);
    run(&mut world, 6, 3);
    let runs = |w: &World| w.nodes[1].core.state().leases().count() >= 2;
    assert!(world.run_until(20_000, runs));
    world.kill(PROVIDER);
    world.run(1_500);
    world.restart(PROVIDER);
    assert!(world.run_until(90_000, |w| finish(w, CLIENT, KEY.0).is_some()));
    assert_eq!(finish(&world, CLIENT, KEY.0), Some(Finish::Done));
    assert!(world.run_until(30_000, |w| settled(w) && idle(w)));
    let agent = client(&world);
    assert_eq!(agent.tasks.exit_code(), 0);
    equal_states(&world);
}

#[test]
fn a_client_killed_between_goes_on() {
    let mut world = market();
    let terms = terms(&world, ProviderPolicy::Average, 1_000);
    world.provide(PROVIDER, terms);
    run(&mut world, 4, 4);
    let runs = |w: &World| {
        let agent = client(w);
        agent.tasks.runs.values().filter(|r| r.accepted).count() == 4
    };
    assert!(world.run_until(20_000, runs));
    world.kill(CLIENT);
    world.run(500);
    world.restart(CLIENT);
    assert!(world.run_until(60_000, |w| finish(w, CLIENT, KEY.0).is_some()));
    let agent = client(&world);
    assert_eq!(agent.tasks.exit_code(), 0);
    assert!(
        agent.tasks.records.iter().all(|t| t.attempt == 1),
        "each ran once"
    );
    assert!(world.run_until(30_000, |w| settled(w) && idle(w)));
    equal_states(&world);
}

#[test]
fn a_provider_that_cannot_rent_owes_its_penalties() {
    let mut world = market();
    // Nobody sells at 100.
    let terms = terms(&world, ProviderPolicy::Oblivious, 100);
    world.provide(PROVIDER, terms);
    run(&mut world, 3, 1);
    assert!(world.run_until(120_000, |w| finish(w, CLIENT, KEY.0).is_some()));
    assert!(world.run_until(10_000, settled));
    let agent = client(&world);
    assert_eq!(agent.tasks.exit_code(), 125);
    assert_eq!(free(&world, CLIENT), credits(100).micros() as i64 + 15_000);
    assert_eq!(
        free(&world, PROVIDER),
        credits(100).micros() as i64 - 15_000
    );
}

#[test]
fn a_contract_that_nobody_signs_ends() {
    let mut world = market();
    // A provider that wants more per slot than all jobs are worth.
    let threshold = 1_000_000;
    let policy = ProviderPolicy::HighValueOnly { threshold };
    let terms = terms(&world, policy, 1_000);
    world.provide(PROVIDER, terms);
    run(&mut world, 3, 1);
    assert!(world.run_until(60_000, |w| finish(w, CLIENT, KEY.0).is_some()));
    assert_eq!(
        finish(&world, CLIENT, KEY.0),
        Some(Finish::Ended(End::NotSigned))
    );
    assert_eq!(free(&world, CLIENT), credits(100).micros() as i64);
}

#[test]
fn a_client_cancels_and_a_bad_wish_is_refused() {
    let mut world = market();
    run(&mut world, 3, 1);
    let contracts = |w: &World| w.nodes[1].core.state().contracts().count();
    assert!(world.run_until(10_000, |w| contracts(w) == 1));
    world.command(CLIENT, Command::Cancel(KEY));
    assert!(world.run_until(10_000, |w| contracts(w) == 0));
    assert!(world.run_until(10_000, |w| finish(w, CLIENT, KEY.0)
        == Some(Finish::Cancelled)));
    assert_eq!(free(&world, CLIENT), credits(100).micros() as i64);

    world.nodes[CLIENT].replies.clear();
    let good = wish(&world);
    let with_oneself = ContractWish {
        provider: account(&world, CLIENT),
        ..good
    };
    let mut hopeless = good;
    hopeless.job.hold = 0;
    hopeless.job.decay = 1;
    let mut dear = good;
    dear.job.value = credits(1_000);
    for (n, (wish, part)) in (0u64..).zip([
        (with_oneself, "to itself"),
        (hopeless, "timed out"),
        (dear, "must be locked"),
    ]) {
        let mut order = order(&world, 20 + n, Terms::Contract(wish), 3, 1);
        order.slots = wish.job.slots;
        world.order(CLIENT, order);
        world.run(100);
        let reply = world.nodes[CLIENT].replies.pop();
        assert!(
            matches!(&reply, Some(Reply::Refused(r)) if r.reason.contains(part)),
            "{reply:?}"
        );
    }
}

#[test]
fn owners_say_things_about_contracts_too() {
    let mut world = market();
    run(&mut world, 2, 1);
    let contracts = |w: &World| w.nodes[1].core.state().contracts().count();
    assert!(world.run_until(10_000, |w| contracts(w) == 1));
    let contract = *world.nodes[1].core.state().contracts().next().unwrap().0;
    // Not the provider.
    let sign = Command::Contract(ContractEntry::Sign { contract });
    world.command(0, sign.clone());
    world.run(50);
    world.command(PROVIDER, sign);
    let signed = |w: &World| {
        let found = w.nodes[1].core.state().contract(&contract);
        found.is_some_and(|c| c.progress.is_some())
    };
    assert!(world.run_until(10_000, signed));
    // Without an agent nobody serves the jobs: after six and nine slots they have failed.
    assert!(world.run_until(60_000, |w| finish(w, CLIENT, KEY.0).is_some()));
    assert_eq!(free(&world, CLIENT), credits(100).micros() as i64 + 10_000);
}
