//! Every liar lies in a calm world: it acts, nothing breaks, trade goes on, and all honest nodes
//! end equal.

use gridbay_core::effect::Effect;
use gridbay_host::message::{HostMessage, SignedVote};
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect as LedgerEffect;
use gridbay_protocol::election;
use gridbay_protocol::ids::ValidatorId;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::validator::validator_id;
use gridbay_protocol::vote::VoteKind;
use gridbay_sim::check::{self, Check, Sight};
use gridbay_sim::liar::LIES;
use gridbay_sim::plan::{Lying, Plan};
use gridbay_sim::trace::Trace;
use gridbay_sim::world::World;

/// A calm plan in which these lies are told.
fn plan(seed: u64, validators: usize, lies: &[(usize, &str)]) -> Plan {
    let mut plan = Plan::calm(seed, validators);
    (plan.active_ms, plan.calm_ms) = (30_000, 5_000);
    for (node, lie) in lies {
        plan.liars.push(Lying {
            node: *node,
            lie: (*lie).to_owned(),
        });
    }
    plan
}

/// Heights of the honest nodes' books.
fn heights(world: &World) -> Vec<u64> {
    let cores = world.honest().filter_map(|n| world.core(n));
    cores.map(|core| core.state().height()).collect()
}

/// Runs until all honest nodes have the same book, for a few blocks at the most.
fn settle(world: &mut World, name: &str) {
    for _ in 0..2_000 {
        let all = heights(world);
        if all.iter().all(|height| *height == all[0]) {
            let tips = world.honest().filter_map(|n| world.core(n));
            let tips: Vec<_> = tips.map(|core| core.state().tip()).collect();
            assert!(tips.iter().all(|tip| *tip == tips[0]), "{name}: {tips:?}");
            return;
        }
        let next = world.now + 5;
        world
            .run_until(next)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    panic!("{name}: never equal: {:?}", heights(world));
}

/// Blocks, clearings, and payments to sellers, in the book of an honest node.
fn yields(world: &World) -> (u64, u64, u64) {
    let core = world.honest().find_map(|n| world.core(n)).expect("one");
    let (blocks, mut clearings, mut settled) = (core.state().height(), 0, 0);
    for bytes in (1..=blocks).flat_map(|height| core.host().effect_bytes(height)) {
        match codec::decode(&bytes, bytes.len()) {
            Ok(LedgerEffect::Clearing(_)) => clearings += 1,
            Ok(LedgerEffect::Posting(p)) if p.reason == Reason::Earning => settled += 1,
            _ => {}
        }
    }
    (blocks, clearings, settled)
}

fn deeds(world: &World, node: usize) -> u64 {
    let lie = world.machines[node].lie.as_ref();
    lie.map_or(0, |lie| lie.deeds())
}

/// The liars act, nothing breaks, the world counts, all honest nodes end equal.
fn lies_are_of_no_use(plan: Plan) {
    let name = format!("{:?}", plan.liars);
    let liars: Vec<usize> = plan.liars.iter().map(|l| l.node).collect();
    let mut world = World::new(plan, check::all(), Trace::default());
    world.run().unwrap_or_else(|e| panic!("{name}: {e}"));
    for node in liars {
        assert!(deeds(&world, node) >= 3, "{name}: node {node} did not lie");
    }
    let (blocks, clearings, settled) = yields(&world);
    assert!(
        blocks >= 50 && clearings >= 10 && settled >= 1,
        "{name}: {blocks} blocks, {clearings} clearings, {settled} earnings"
    );
    settle(&mut world, &name);
}

/// Looks for votes of honest validators against the first block of an honest one.
struct FirstBlocks;

impl Check for FirstBlocks {
    fn id(&self) -> &'static str {
        "first blocks"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Step { node, effects, .. } = sight else {
            return Ok(());
        };
        let (node, honest) = (*node, |n: usize| world.machines[n].is_honest());
        let Some(core) = world.core(node).filter(|_| honest(node)) else {
            return Ok(());
        };
        let (state, own) = (core.state(), id_of(node));
        let ranking = election::ranking(
            &state.election_seed(),
            state.height() + 1,
            state.validators(),
        );
        let first = (0..world.plan.validators).find(|n| id_of(*n) == ranking[0]);
        for effect in effects.iter() {
            let Effect::Broadcast { bytes } = effect else {
                continue;
            };
            if let Ok(HostMessage::Vote(SignedVote { vote, .. })) = HostMessage::decode(bytes)
                && vote.validator == own
                && (vote.height, vote.round) == (state.height() + 1, 0)
                && vote.kind == VoteKind::Prevote
                && vote.block.is_none()
                && first.is_some_and(honest)
            {
                return Err(format!("node {node} votes against {first:?}: {vote:?}"));
            }
        }
        Ok(())
    }
}

fn id_of(node: usize) -> ValidatorId {
    validator_id(&gridbay_sim::found::validator_key(node).public())
}

#[test]
fn who_withholds_or_contends_costs_no_honest_proposer_its_round() {
    for (seed, name) in [(6, "selective_sender"), (7, "account_conspirators")] {
        let mut checks = check::all();
        checks.push(Box::new(FirstBlocks));
        let plan = plan(seed, 4, &[(1, name)]);
        let mut world = World::new(plan, checks, Trace::default());
        world.run().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(deeds(&world, 1) >= 3, "{name} did not lie");
    }
}

/// The seed of a world in which a node has occasion to lie.
fn seed(lie: &str, node: usize) -> u64 {
    match (lie, node) {
        // It serves leases with networks, of several members.
        ("copied_card", VALIDATOR) => 3,
        ("copied_card", _) => 4,
        (_, VALIDATOR) => 1,
        _ => 2,
    }
}

/// The liars of these tests: of four validators one, and the first commoner.
const VALIDATOR: usize = 1;
const COMMONER: usize = 4;

/// A test for each lie: told by a validator, and by a commoner if it needs no vote.
macro_rules! each {
    ($($lie:ident),+ $(,)?) => {
        const TESTED: &[&str] = &[$(stringify!($lie)),+];
        $(#[test]
        fn $lie() {
            let name = stringify!($lie);
            let kind = LIES.iter().find(|kind| kind.name == name).expect("a lie");
            lies_are_of_no_use(plan(seed(name, VALIDATOR), 4, &[(VALIDATOR, name)]));
            if !kind.votes {
                lies_are_of_no_use(plan(seed(name, COMMONER), 4, &[(COMMONER, name)]));
            }
        })+
    };
}

each!(
    account_conspirators,
    beacon_grinder,
    censor,
    clock_liar,
    complaining_buyer,
    copied_card,
    deliverer_of_nothing,
    double_spender,
    early_starter,
    equivocator_proposals,
    equivocator_votes,
    false_relay,
    flooder,
    forger,
    front_runner,
    intruding_buyer,
    late_opener,
    phantom_seller,
    replayer,
    selective_sender,
    silent_proposer,
    spammer,
    sync_poisoner,
    wrong_clearing,
);

#[test]
fn every_lie_is_tested_and_has_a_name_of_its_own() {
    let names: Vec<&str> = LIES.iter().map(|kind| kind.name).collect();
    assert_eq!(names, TESTED);
    assert!(names.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn an_early_starter_does_not_wake_a_chain_without_work() {
    let mut plan = plan(4, 4, &[(1, "early_starter")]);
    // Nobody does anything.
    (plan.active_ms, plan.deed_ms) = (90_000, 1_000_000);
    let mut world = World::new(plan, check::all(), Trace::default());
    world.run_until(90_000).unwrap_or_else(|e| panic!("{e}"));
    let beats = 90_000 / world.genesis.policy.heartbeat_ms;
    let tip = world.core(0).expect("it runs").state().height();
    assert!((beats / 2..=2 * beats).contains(&tip), "{tip} blocks");
    assert!(deeds(&world, 1) >= 3);
}

#[test]
fn a_spammer_gets_its_budget_and_no_more() {
    let plan = plan(5, 4, &[(4, "spammer")]);
    let mut world = World::new(plan, check::all(), Trace::default());
    world.run().expect("nothing breaks");
    let state = world.core(0).expect("it runs").state();
    let key = gridbay_sim::found::account_key(4).public();
    let mut accounts = state.accounts();
    let spammer = *accounts
        .find(|(_, a)| a.roles(&key).is_some())
        .expect("it has an account")
        .0;
    let (spent, budget) = (state.spent(&spammer), state.entry_budget(&spammer));
    assert_eq!(spent.entries, budget.entries, "it tried for more");
    let others = state.accounts().filter(|(id, _)| **id != spammer);
    let most = others.map(|(id, _)| state.spent(id).entries).max();
    assert!(
        most > Some(0) && most < Some(budget.entries / 2),
        "{most:?}"
    );
}

#[test]
fn two_of_seven_may_lie_together() {
    let pairs = [
        ("equivocator_votes", "equivocator_proposals"),
        ("censor", "wrong_clearing"),
        ("sync_poisoner", "clock_liar"),
        ("deliverer_of_nothing", "censor"),
        ("deliverer_of_nothing", "complaining_buyer"),
    ];
    for (seed, (one, two)) in pairs.into_iter().enumerate() {
        lies_are_of_no_use(plan(seed as u64, 7, &[(2, one), (5, two)]));
    }
}

#[test]
fn two_votes_for_one_step_become_evidence_against_their_signer() {
    let plan = plan(3, 4, &[(2, "equivocator_votes")]);
    let signer =
        gridbay_protocol::validator::validator_id(&gridbay_sim::found::validator_key(2).public());
    let mut world = World::new(plan, check::all(), Trace::default());
    world.run().expect("nothing breaks");
    let core = world.core(0).expect("it runs");
    let mut found = 0;
    for height in 1..=core.state().height() {
        let decided = core.host().block(height).expect("a disk").expect("a block");
        for evidence in &decided.block.evidence {
            assert_eq!(evidence.first.validator, signer);
            found += 1;
        }
    }
    assert!(found >= 1, "no evidence in the book");
}

#[test]
fn who_lies_about_its_tip_does_not_hold_up_those_who_follow() {
    for seed in [12, 14] {
        let plan = plan(seed, 4, &[(1, "sync_poisoner")]);
        let followers = plan.validators..plan.nodes();
        let mut caught_up = vec![0; plan.nodes()];
        let mut world = World::new(plan, check::all(), Trace::default());
        // Once it must be waited for in vain.
        for at in (5_000..20_000).step_by(50) {
            world.run_until(at).expect("nothing breaks");
            let height = |n: usize| world.core(n).map_or(0, |core| core.state().height());
            let best = (0..4).map(height).max().unwrap_or(0);
            for n in followers.clone() {
                if height(n) == best || at < 6_500 {
                    caught_up[n] = at;
                }
                let behind = at - caught_up[n];
                assert!(behind <= 250, "node {n} is behind for {behind} ms at {at}");
            }
        }
    }
}
