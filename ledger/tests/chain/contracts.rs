//! Contracts for batches of jobs: money to the last micro-credit, late and failed jobs, bad words.
//!
//! Member 1 sells two units at a buy price of 30, member 2 is the client, member 3 the provider.
//! Slots have eight heights: 9 to 16 is slot 1. Before the first entry the height is 9.

use crate::trade::{START, bid, money, order, two_units};
use crate::world::{World, credits};
use gridbay_ledger::ContractRefusal;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{Hash32, LeaseId, OrderId};
use gridbay_protocol::order::{ContractEntry, ContractTerms, JobTerms};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::contract::{ContractEvent, JobRecord, Settlement};
use gridbay_protocol::stage::Authentic;
use std::sync::Arc;

/// Two jobs of one unit for two slots, worth 100 for three slots and falling by 25 in each after
/// it, at a penalty of 40; paid by the part that is done. They may end up to eight slots after that
/// of their request.
pub(crate) fn terms(world: &World) -> ContractTerms {
    ContractTerms {
        provider: world.member(3),
        class: world.class,
        first: 1,
        last: 3,
        jobs: 2,
        job: JobTerms {
            units: 1,
            slots: 2,
            value: credits(100),
            hold: 3,
            decay: 4,
            penalty: credits(40),
        },
        alpha_ppm: 1_000_000,
        beta16: 16,
        stands_until: 20,
    }
}

impl World {
    pub(crate) fn says(&self, n: u8, entry: ContractEntry) -> Arc<Authentic> {
        self.by(n, EntryBody::Contract(entry))
    }

    /// The client proposes and the provider signs, in the next two blocks.
    pub(crate) fn contract(&mut self, terms: ContractTerms) -> OrderId {
        let proposal = self.says(2, ContractEntry::Propose(Box::new(terms)));
        let contract = order(&proposal.id());
        self.all(vec![proposal]);
        self.all(vec![self.says(3, ContractEntry::Sign { contract })]);
        contract
    }

    /// The client requests a job in the next block.
    pub(crate) fn request(&mut self, contract: OrderId, n: u8) -> OrderId {
        let work = Hash32([n; 32]);
        let request = self.says(2, ContractEntry::Request { contract, work });
        let job = order(&request.id());
        self.all(vec![request]);
        job
    }

    /// The provider buys a unit for so many slots, and says in the same block what for.
    pub(crate) fn serve(
        &mut self,
        contract: OrderId,
        job: OrderId,
        slots: u32,
    ) -> (OrderId, LeaseId) {
        let buy = self.buy(3, 1, slots, 1_000);
        let order = order(&buy.id());
        let serve = ContractEntry::Serve {
            contract,
            job,
            order,
        };
        self.all(vec![buy, self.says(3, serve)]);
        (order, self.lease_of(&order))
    }
}

pub(crate) fn events(effects: &[Effect]) -> Vec<ContractEvent> {
    let event = |effect: &Effect| match effect {
        Effect::Contract(event) => Some(*event),
        _ => None,
    };
    effects.iter().filter_map(event).collect()
}

/// The model's name for an event.
pub(crate) fn kind(event: &ContractEvent) -> &'static str {
    match event {
        ContractEvent::Signed { .. } => "signed",
        ContractEvent::Decided(job) if !job.done => "failed",
        ContractEvent::Decided(job) if job.after > 1 => "done",
        ContractEvent::Decided(_) => "completed",
        ContractEvent::Settled(_) => "settled",
        ContractEvent::Lapsed { .. } => "lapsed",
    }
}

/// (after, done, pays, owes) of the jobs decided, and (requested, completed, earned, pays, owed) of
/// contracts settled.
pub(crate) type Decided = (u64, bool, u64, u64);
pub(crate) type Settled = (u32, u32, u64, u64, u64);

pub(crate) fn outcome(effects: &[Effect]) -> (Vec<Decided>, Vec<Settled>) {
    let (mut decided, mut settled) = (vec![], vec![]);
    for event in events(effects) {
        match event {
            ContractEvent::Decided(JobRecord {
                after,
                done,
                pays,
                owes,
                ..
            }) => decided.push((after, done, pays.micros(), owes.micros())),
            ContractEvent::Settled(Settlement {
                requested,
                completed,
                earned,
                pays,
                owed,
                ..
            }) => settled.push((
                requested,
                completed,
                earned.micros(),
                pays.micros(),
                owed.micros(),
            )),
            ContractEvent::Signed { .. } | ContractEvent::Lapsed { .. } => {}
        }
    }
    (decided, settled)
}

pub(crate) fn is_over(world: &World, contract: OrderId) {
    assert!(world.state.contract(&contract).is_none());
    assert!(!world.state.work_is_due());
    assert_eq!(world.state.contracts_of(&world.member(2)).count(), 0);
    for purse in [Purse::Escrow(contract), Purse::Bond(contract)] {
        assert_eq!(world.balance(purse), 0, "{purse:?}");
    }
}

#[test]
fn one_job_in_time_and_a_window_that_closes() {
    let mut world = two_units();
    let proposal = world.says(2, ContractEntry::Propose(Box::new(terms(&world))));
    let contract = order(&proposal.id());
    assert_eq!(money(&world.all(vec![proposal])), [(Reason::Lock, 200)]);
    let effects = world.all(vec![world.says(3, ContractEntry::Sign { contract })]);
    assert_eq!(money(&effects), [(Reason::Bond, 80)]);
    assert_eq!(
        events(&effects),
        [ContractEvent::Signed {
            contract,
            client: world.member(2),
            provider: world.member(3),
            bond: credits(80),
        }]
    );
    assert!(world.state.work_is_due(), "slots must pass");
    assert_eq!(world.state.balance(&world.member(2)).escrow, credits(200));
    let provider = world.state.balance(&world.member(3));
    assert_eq!((provider.escrow, provider.bonds), (credits(0), credits(80)));
    let job = world.request(contract, 1);
    // Height 13: three of eight heights of slot 1 are left, for ceil(30 * 3 / 8).
    let (serving, lease) = world.serve(contract, job, 2);
    world.deliver(1, lease);
    let user = world.state.user(&serving).unwrap();
    assert_eq!(user.account, world.member(2));
    assert_eq!((user.work, user.tasks), (Hash32([1; 32]), 2));
    // Slots 2 and 3 count; the rest of slot 1 does not.
    world.until(24);
    let found = world.state.contract_job(&contract, &job).unwrap();
    assert_eq!((found.served, found.order), (1, Some(serving)));
    // At 32 the job is done two slots after its own, and no more can come.
    let effects = world.until(32);
    let expected = (vec![(2, true, 100, 0)], vec![(1, 1, 100, 100, 0)]);
    assert_eq!(outcome(&effects), expected);
    is_over(&world, contract);
    assert_eq!(world.account(2), START - 100);
    assert_eq!(world.account(3), START + 100 - 12 - 30 - 30);
    assert_eq!(world.account(1), START + 72);
}

#[test]
fn one_job_late_and_one_that_fails() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let late = world.request(contract, 1);
    let failing = world.request(contract, 2);
    // Two slots from slot 5 on: done at 56, five slots after slot 1. 100 - 100 * 2 / 4.
    world.until(40);
    let (_, lease) = world.serve(contract, late, 2);
    world.deliver(1, lease);
    let effects = world.until(64);
    assert_eq!(outcome(&effects), (vec![(6, true, 25, 0)], vec![]));
    assert!(world.state.contract_job(&contract, &failing).is_some());
    // The other could have been done in slot 9. Half of the jobs are done: floor(25 / 2), and the
    // whole penalty.
    let effects = world.until(80);
    let expected = (vec![(9, false, 0, 40)], vec![(2, 1, 25, 12, 40)]);
    assert_eq!(outcome(&effects), expected);
    let paid = [
        (Reason::Earning, 12),
        (Reason::Damages, 40),
        (Reason::Release, 188),
        (Reason::Release, 40),
    ];
    assert_eq!(money(&effects), paid);
    is_over(&world, contract);
    // Bought at 41: the rest of slot 5 for ceil(30 * 7 / 8), then slots 6 and 7.
    assert_eq!(world.account(3), START + 12 - 40 - 27 - 60);
    assert_eq!(world.account(2), START - 12 + 40);
}

#[test]
fn a_job_so_late_that_it_costs() {
    let mut world = two_units();
    let mut terms = terms(&world);
    terms.jobs = 1;
    let contract = world.contract(terms);
    let job = world.request(contract, 1);
    world.until(56);
    let (_, lease) = world.serve(contract, job, 2);
    world.deliver(1, lease);
    // Done eight slots after slot 1: 100 - 125. All are done, but it earned nothing.
    let effects = world.until(80);
    let expected = (vec![(8, true, 0, 25)], vec![(1, 1, 0, 0, 25)]);
    assert_eq!(outcome(&effects), expected);
    is_over(&world, contract);
    assert_eq!(world.account(2), START + 25);
}

#[test]
fn the_client_has_what_it_wanted() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let job = world.request(contract, 1);
    let complete = ContractEntry::Complete { contract, job };
    // Only the client may say so.
    let refusal = world.refused(world.says(3, complete.clone()));
    assert_eq!(refusal, ContractRefusal::NoContract(contract).into());
    let effects = world.all(vec![world.says(2, complete.clone())]);
    assert_eq!(outcome(&effects), (vec![(0, true, 100, 0)], vec![]));
    let refusal = world.refused(world.says(2, complete));
    assert_eq!(refusal, ContractRefusal::NoJob(job).into());
    // No more jobs: settled at once.
    let close = ContractEntry::Close { contract };
    let effects = world.all(vec![world.says(2, close)]);
    assert_eq!(outcome(&effects), (vec![], vec![(1, 1, 100, 100, 0)]));
    is_over(&world, contract);
    assert_eq!(
        (world.account(2), world.account(3)),
        (START - 100, START + 100)
    );
}

#[test]
fn all_jobs_decided_settle_at_once_by_the_aggregate() {
    let mut world = two_units();
    let mut terms = terms(&world);
    // A bonus of half for all, a fourth of it for half.
    (terms.alpha_ppm, terms.beta16) = (1_500_000, 32);
    let contract = world.contract(terms);
    assert_eq!(world.balance(Purse::Escrow(contract)), 300);
    let jobs = [world.request(contract, 1), world.request(contract, 2)];
    let complete = |job| ContractEntry::Complete { contract, job };
    world.all(vec![world.says(2, complete(jobs[0]))]);
    let effects = world.all(vec![world.says(2, complete(jobs[1]))]);
    assert_eq!(outcome(&effects).1, [(2, 2, 200, 300, 0)]);
    is_over(&world, contract);
}

#[test]
fn a_contract_without_jobs_returns_everything() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let effects = world.until(32);
    assert_eq!(outcome(&effects), (vec![], vec![(0, 0, 0, 0, 0)]));
    is_over(&world, contract);
    assert_eq!((world.account(2), world.account(3)), (START, START));
}

#[test]
fn a_seller_fails_and_the_slots_before_still_count() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let job = world.request(contract, 1);
    let (first, lease) = world.serve(contract, job, 2);
    world.deliver(1, lease);
    world.until(25);
    world.all(vec![world.by(1, EntryBody::Fail { lease })]);
    let found = world.state.contract_job(&contract, &job).unwrap();
    assert_eq!((found.served, found.order), (1, None), "slot 2 counts");
    assert!(world.state.order(&first).is_none());
    // The offer is suspended for a while; another one serves the last slot.
    let offer = world.offer(4, 1, 1, 10, Some(20));
    world.all(vec![offer]);
    world.until(29);
    let (_, lease) = world.serve(contract, job, 1);
    world.deliver(4, lease);
    let effects = world.until(40);
    assert_eq!(outcome(&effects).0, [(3, true, 100, 0)]);
}

#[test]
fn slots_that_do_not_count() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let served = |world: &World, job: &OrderId| {
        world
            .state
            .contract_job(&contract, job)
            .map_or(2, |j| j.served)
    };
    // Said too late: the slot had begun. Height 17 is the first of slot 2.
    let (late, unacknowledged) = (world.request(contract, 1), world.request(contract, 2));
    let buy = world.buy(3, 1, 3, 1_000);
    let serving = order(&buy.id());
    world.all(vec![buy]);
    let lease = world.lease_of(&serving);
    world.deliver(1, lease);
    world.until(16);
    let serve = ContractEntry::Serve {
        contract,
        job: late,
        order: serving,
    };
    world.all(vec![world.says(3, serve)]);
    // Never acknowledged: the lease ends after six heights.
    world.serve(contract, unacknowledged, 2);
    world.until(24);
    assert_eq!(
        (served(&world, &late), served(&world, &unacknowledged)),
        (0, 0)
    );
    world.until(32);
    assert_eq!(served(&world, &late), 1);
    let open = world
        .state
        .contract_job(&contract, &unacknowledged)
        .unwrap();
    assert_eq!(open.order, None);
}

#[test]
fn units_of_the_provider_itself_prove_nothing() {
    let mut world = World::new();
    world.all(vec![world.offer(3, 1, 1, 10, Some(10))]);
    world.until(9);
    let contract = world.contract(terms(&world));
    let job = world.request(contract, 1);
    let (_, lease) = world.serve(contract, job, 4);
    world.deliver(3, lease);
    world.until(40);
    let found = world.state.contract_job(&contract, &job).unwrap();
    assert_eq!(found.served, 0);
    // The client's word does.
    let complete = ContractEntry::Complete { contract, job };
    let effects = world.all(vec![world.says(2, complete)]);
    assert_eq!(outcome(&effects).0, [(4, true, 75, 0)]);
}

#[test]
fn a_bid_can_serve_too() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let job = world.request(contract, 1);
    let one = bid(&world, &[(1, 50)], 2);
    // Committed at 13, opened at 17, wins at 20 and runs whole slots from 25 on.
    let commit = world.commit(3, &one, 0);
    let serving = order(&commit.id());
    world.all(vec![commit.clone()]);
    let serve = ContractEntry::Serve {
        contract,
        job,
        order: serving,
    };
    let refusal = world.refused(world.says(3, serve.clone()));
    assert_eq!(refusal, ContractRefusal::Unsuitable(serving).into());
    world.until(16);
    let open = world.open(3, &commit, &one);
    world.all(vec![open]);
    world.all(vec![world.says(3, serve)]);
    world.until(20);
    let lease = world.lease_of(&serving);
    world.deliver(1, lease);
    let effects = world.until(40);
    assert_eq!(outcome(&effects).0, [(3, true, 100, 0)]);
}
