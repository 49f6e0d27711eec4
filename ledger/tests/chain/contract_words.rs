//! Contracts: proposals, signatures and words that are refused, quotas, a snapshot, and a crowd of
//! jobs.

use crate::contracts::{events, is_over, outcome, terms};
use crate::trade::{START, bid, money, order, two_units};
use crate::world::{World, credits, genesis, policy};
use gridbay_ledger::{ContractRefusal, Refusal, State};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32};
use gridbay_protocol::limits;
use gridbay_protocol::order::{ContractEntry, ContractTerms};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::contract::ContractEvent;

#[test]
fn proposals_that_nobody_signs() {
    let mut world = two_units();
    let propose = |world: &World| ContractEntry::Propose(Box::new(terms(world)));
    let proposal = world.says(2, propose(&world));
    let contract = order(&proposal.id());
    world.all(vec![proposal]);
    let close = ContractEntry::Close { contract };
    let refusal = world.refused(world.says(3, close.clone()));
    assert_eq!(refusal, ContractRefusal::NoContract(contract).into());
    let effects = world.all(vec![world.says(2, close)]);
    assert_eq!(money(&effects), [(Reason::Release, 200)]);
    let withdrawn = true;
    assert_eq!(
        events(&effects),
        [ContractEvent::Lapsed {
            contract,
            withdrawn
        }]
    );
    // Another one stands until 20, where a round closes.
    let mut terms = terms(&world);
    terms.beta16 = 0;
    let proposal = world.says(2, ContractEntry::Propose(Box::new(terms)));
    let contract = order(&proposal.id());
    world.all(vec![proposal]);
    world.until(19);
    assert!(world.state.contract(&contract).is_some());
    let effects = world.until(20);
    let withdrawn = false;
    assert_eq!(
        events(&effects),
        [ContractEvent::Lapsed {
            contract,
            withdrawn
        }]
    );
    is_over(&world, contract);
    assert_eq!(world.account(2), START);
    let refusal = world.refused(world.says(3, ContractEntry::Sign { contract }));
    assert_eq!(refusal, ContractRefusal::NoContract(contract).into());
}

#[test]
fn one_order_a_job_and_one_job_an_order() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let (job, other) = (world.request(contract, 1), world.request(contract, 2));
    let (serving, _) = world.serve(contract, job, 2);
    let serve = |job, order| ContractEntry::Serve {
        contract,
        job,
        order,
    };
    let refusal = world.refused(world.says(3, serve(other, serving)));
    let order = serving;
    assert_eq!(refusal, ContractRefusal::Serves { order, job }.into());
    let another = world.buy(3, 1, 1, 1_000);
    let another_id = crate::trade::order(&another.id());
    world.all(vec![another]);
    let refusal = world.refused(world.says(3, serve(job, another_id)));
    assert_eq!(refusal, ContractRefusal::Served { job, order }.into());
    world.all(vec![world.says(3, serve(other, another_id))]);
    // Nobody else's order, and nobody else's contract.
    let theirs = world.commit(4, &bid(&world, &[(1, 50)], 1), 0);
    let theirs_id = crate::trade::order(&theirs.id());
    world.all(vec![theirs]);
    let mut longer = terms(&world);
    longer.stands_until = 40;
    let third = world.contract(longer);
    let job = world.request(third, 3);
    let serve = |order| ContractEntry::Serve {
        contract: third,
        job,
        order,
    };
    let refusal = world.refused(world.says(3, serve(theirs_id)));
    assert_eq!(refusal, Refusal::NoOrder(theirs_id));
    let refusal = world.refused(world.says(4, serve(theirs_id)));
    assert_eq!(refusal, ContractRefusal::NoContract(third).into());
}

#[test]
fn bad_proposals() {
    let mut world = two_units();
    let good = terms(&world);
    let mut refused = |n: u8, change: &dyn Fn(&mut ContractTerms)| {
        let mut terms = good.clone();
        change(&mut terms);
        world.refused(world.says(n, ContractEntry::Propose(Box::new(terms))))
    };
    let nobody = AccountId([9; 32]);
    let found = refused(2, &|t| t.provider = nobody);
    assert_eq!(found, ContractRefusal::NoProvider(nobody).into());
    let found = refused(3, &|_| ());
    assert_eq!(found, ContractRefusal::WithOneself(good.provider).into());
    let unknown = ClassId([9; 32]);
    let found = refused(2, &|t| t.class = unknown);
    assert_eq!(found, Refusal::NoClass(unknown));
    let latest = 1 + u64::from(limits::ORDER_SLOTS);
    for (window, last, later) in [(0, 0, false), (latest + 1, latest + 1, true)] {
        let found = refused(2, &|t| (t.first, t.last) = (window, last));
        let horizon = ContractRefusal::Horizon {
            last,
            slot: 1,
            latest,
        };
        assert_eq!(found, horizon.into());
        assert_eq!(horizon.may_pass_later(), later);
    }
    let stands_until = 9;
    let found = refused(2, &|t| t.stands_until = stands_until);
    assert_eq!(found, Refusal::Standing { stands_until });
    // One micro-credit a job more than the client has.
    let found = refused(2, &|t| t.job.value = credits(500_001));
    assert!(matches!(found, Refusal::Funds { needed, .. } if needed == credits(1_000_002)));
    // The provider cannot stake it.
    let mut dear = good.clone();
    dear.job.penalty = credits(500_001);
    let proposal = world.says(2, ContractEntry::Propose(Box::new(dear)));
    let contract = order(&proposal.id());
    world.all(vec![proposal]);
    let found = world.refused(world.says(3, ContractEntry::Sign { contract }));
    assert!(matches!(found, Refusal::Funds { needed, .. } if needed == credits(1_000_002)));
}

#[test]
fn words_at_the_wrong_time() {
    let mut world = two_units();
    let mut late = terms(&world);
    (late.first, late.last) = (3, 4);
    let proposal = world.says(2, ContractEntry::Propose(Box::new(late)));
    let contract = order(&proposal.id());
    world.all(vec![proposal]);
    let request = |n: u8| ContractEntry::Request {
        contract,
        work: Hash32([n; 32]),
    };
    let sign = ContractEntry::Sign { contract };
    let refusal = world.refused(world.says(2, request(1)));
    assert_eq!(refusal, ContractRefusal::Unsigned(contract).into());
    let refusal = world.refused(world.says(4, sign.clone()));
    assert_eq!(refusal, ContractRefusal::NoContract(contract).into());
    world.all(vec![world.says(3, sign)]);
    let again = world.sign_until(
        world.member(3),
        &crate::world::key(3),
        EntryBody::Contract(ContractEntry::Sign { contract }),
        40,
    );
    let refusal = world.refused(again);
    assert_eq!(refusal, ContractRefusal::Signed(contract).into());
    let refusal = world.refused(world.says(2, request(1)));
    assert!(refusal.may_pass_later(), "{refusal}");
    world.until(24);
    let refusal = world.refused(world.says(3, request(1)));
    assert_eq!(refusal, ContractRefusal::NoContract(contract).into());
    world.all(vec![world.says(2, request(1)), world.says(2, request(2))]);
    let (jobs, refusal) = (2, world.refused(world.says(2, request(3))));
    let exhausted = ContractRefusal::Exhausted { contract, jobs };
    assert_eq!(refusal, exhausted.into());
    assert!(!exhausted.may_pass_later());
    // Requested in slot 3, timed out in slot 12: no word helps any more.
    let job = *world.state.contract_jobs(&contract).next().unwrap().0;
    world.until(96);
    let complete = ContractEntry::Complete { contract, job };
    let refusal = world.refused(world.says(2, complete));
    assert_eq!(refusal, ContractRefusal::NoContract(contract).into());
    is_over(&world, contract);
    // Both failed: nothing is earned, both penalties are owed.
    assert_eq!(world.account(2), START + 80);
    assert_eq!(world.account(3), START - 80);
}

#[test]
fn no_client_has_more_than_its_share_of_contracts() {
    let mut world = two_units();
    let propose = |world: &World, n: u64| {
        let mut terms = terms(world);
        (terms.last, terms.stands_until) = (10, 30 + n);
        world.says(2, ContractEntry::Propose(Box::new(terms)))
    };
    let most = u64::from(limits::CONTRACTS_PER_CLIENT);
    let proposals = (0..most).map(|n| propose(&world, n)).collect();
    world.all(proposals);
    let refusal = world.refused(propose(&world, most));
    let (client, limit) = (world.member(2), limits::CONTRACTS_PER_CLIENT);
    let quota = ContractRefusal::ClientQuota { client, limit };
    assert_eq!(refusal, quota.into());
    // At 32, where a round closes, those lapse that stood until 30, 31 or 32.
    world.until(32);
    assert_eq!(world.state.contracts().count() as u64, most - 3);
    world.until(48);
    assert_eq!(world.state.contracts().count(), 0);
    assert_eq!(world.account(2), START);
}

#[test]
fn contracts_survive_a_snapshot() {
    let mut world = two_units();
    let contract = world.contract(terms(&world));
    let job = world.request(contract, 1);
    world.serve(contract, job, 2);
    let bytes = world.state.snapshot();
    let restored = State::restore(&genesis(policy()), &bytes, bytes.len()).unwrap();
    assert_eq!(restored.root(), world.state.root());
    assert_eq!(
        restored.contract(&contract),
        world.state.contract(&contract)
    );
    assert_eq!(
        restored.contract_job(&contract, &job),
        world.state.contract_job(&contract, &job)
    );
    let (mut twin, mut original) = (world.twin.clone(), world);
    assert_eq!(twin.root(), original.state.root());
    twin = restored;
    original.twin = twin;
    original.until(80);
    is_over(&original, contract);
}

#[test]
fn a_crowd_of_jobs_fails_block_by_block() {
    let mut world = two_units();
    let mut many = terms(&world);
    many.jobs = 1_500;
    (many.job.value, many.job.penalty) = (credits(1), credits(1));
    let contract = world.contract(many);
    let request = |world: &World, n: u32| {
        let mut work = Hash32([0; 32]);
        work.0[..4].copy_from_slice(&n.to_be_bytes());
        world.says(2, ContractEntry::Request { contract, work })
    };
    let requests = (0..1_500).map(|n| request(&world, n)).collect();
    world.all(requests);
    assert_eq!(world.state.contract_jobs(&contract).count(), 1_500);
    // Requested in slot 1, whole for three slots and gone eight later: they could be done until
    // slot 11.
    let boundary = 96;
    world.until(boundary - 1);
    let (first, rest) = (world.until(boundary), world.until(boundary + 1));
    assert_eq!(outcome(&first).0.len(), limits::CONTRACT_JOBS_PER_BLOCK);
    let (decided, settled) = outcome(&rest);
    assert_eq!(decided, vec![(11, false, 0, 1); 500]);
    assert_eq!(settled, [(1_500, 0, 0, 0, 1_500)]);
    is_over(&world, contract);
    assert_eq!(world.account(2), START + 1_500);
}
