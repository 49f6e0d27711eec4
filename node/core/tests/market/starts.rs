//! A seller starts the job that was ordered, for the buyer that ordered it, and nothing else.

use crate::genesis::{account_key, node_key};
use crate::world::{EPOCH_MS, World};
use crate::{market, order, sealed};
use gridbay_core::agent::{AgentReply, AgentRequest, Phase, SignedStart, Start, StartRefusal};
use gridbay_core::buyer::Share;
use gridbay_core::effect::Effect;
use gridbay_core::input::{Command, Input, Now};
use gridbay_core::key::OrderKey;
use gridbay_core::seller::{BUYER_JOBS, JOBS, JobMemo, Seller};
use gridbay_protocol::ids::{ContentId, LeaseId};
use gridbay_protocol::job::{InputFile, JobExit};
use gridbay_protocol::keys::{PublicKey, SecretKey, Signature};

/// The buyer's node.
const BUYER: usize = 4;

/// The seller's answer to a start that the buyer's node brings.
fn ask(world: &mut World, seller: usize, signed: SignedStart) -> AgentReply {
    let now = Now {
        mono_ms: world.now,
        wall_ms: EPOCH_MS + 1_000 + world.now,
    };
    let asked = Input::Asked {
        token: u64::MAX,
        from: node_key(BUYER),
        request: AgentRequest::Start(Box::new(signed)),
    };
    let core = &mut world.nodes[seller].core;
    let effects = core.step(now, asked).expect("no fault");
    let reply = effects.into_iter().find_map(|effect| match effect {
        Effect::Answer { token, reply } if token == u64::MAX => Some(reply),
        _ => None,
    });
    reply.expect("an answer")
}

#[test]
fn a_seller_starts_what_was_ordered_and_signed_and_nothing_else() {
    let mut world = market();
    let want = order(&world, 7, sealed(3, 400), 3, 30);
    world.order(BUYER, want);
    assert!(world.run_until(10_000, |w| !w.starts.is_empty()));
    let (seller, right) = world.starts[0].clone();
    let network = world.genesis.network();
    let again = |change: fn(&mut Start), key: &SecretKey| {
        let mut start = right.start.clone();
        // Another run than the one under way, or asking again would be harmless.
        start.job.attempt += 1;
        change(&mut start);
        SignedStart::new(&network, start, key)
    };
    let own = account_key(BUYER);
    let refused = AgentReply::Refused;
    let other_text = again(|start| start.spec.argv.push("more".into()), &own);
    assert_eq!(
        ask(&mut world, seller, other_text),
        refused(StartRefusal::OtherWork)
    );
    let other_salt = again(|start| start.salt[0] ^= 1, &own);
    assert_eq!(
        ask(&mut world, seller, other_salt),
        refused(StartRefusal::OtherWork)
    );
    let stranger = again(|_| (), &account_key(5));
    assert_eq!(
        ask(&mut world, seller, stranger),
        refused(StartRefusal::NotBuyer)
    );
    let mut unsigned = again(|_| (), &own);
    unsigned.signature = Signature([0; 64]);
    assert_eq!(
        ask(&mut world, seller, unsigned),
        refused(StartRefusal::NotBuyer)
    );
    let too_many = again(|start| start.tasks = 4, &own);
    assert_eq!(
        ask(&mut world, seller, too_many),
        refused(StartRefusal::Invalid)
    );
    assert_eq!(ask(&mut world, seller, again(|_| (), &own)), AgentReply::Ok);

    // The run that is under way: a node that may not start it learns nothing of it.
    let stranger = again(|_| (), &account_key(5));
    assert_eq!(
        ask(&mut world, seller, stranger),
        refused(StartRefusal::NotBuyer)
    );
    assert_eq!(ask(&mut world, seller, again(|_| (), &own)), AgentReply::Ok);
}

/// A lease under way: the world, the seller, and the start that the buyer sent.
fn leased(inputs: Vec<InputFile>) -> (World, usize, SignedStart) {
    let mut world = market();
    let mut want = order(&world, 7, sealed(3, 400), 3, 30);
    want.spec.inputs = inputs;
    world.order(BUYER, want);
    assert!(world.run_until(10_000, |w| !w.starts.is_empty()));
    let (seller, right) = world.starts[0].clone();
    (world, seller, right)
}

#[test]
fn contents_are_for_those_who_run_a_task_of_their_order() {
    let content = ContentId([7; 32]);
    let input = InputFile {
        path: "data".into(),
        content,
        bytes: 3,
        executable: false,
    };
    let (mut world, seller, _) = leased(vec![input]);
    let stranger = node_key(2);
    let share = |w: &World, node: &PublicKey, content: &ContentId| {
        let buyer = w.nodes[BUYER].core.buyer();
        buyer.share_of(node, content)
    };
    let own = share(&world, &node_key(seller), &content);
    assert!(own.input && !own.progress, "it keeps no progress");
    let other = share(&world, &node_key(seller), &ContentId([8; 32]));
    assert_eq!(other, Share::default(), "of no order");
    assert_eq!(share(&world, &stranger, &content), Share::default());
    world.command(BUYER, Command::Cancel(OrderKey(7)));
    let over = |w: &World| share(w, &node_key(seller), &content) == Share::default();
    assert!(world.run_until(60_000, over), "the order is over");
}

/// A seller that remembers runs, all of them over, `whose` buyer's: the first ended first.
fn remembering(world: &World, n: usize, like: &SignedStart, whose: &[PublicKey]) -> Seller {
    let over = |(i, buyer): (usize, &PublicKey)| {
        let mut job = like.start.job;
        (job.lease, job.task) = (LeaseId([0xee; 32]), i as u32);
        let memo = JobMemo {
            job,
            offer: like.start.offer,
            buyer: *buyer,
            spec: like.start.spec.clone(),
        };
        let phase = Phase::Ended {
            exit: JobExit::Code(0),
            started_ms: 1,
            ended_ms: 2 + i as u64,
            cpu_ms: 0,
            rss_kib: 0,
        };
        (memo, phase)
    };
    let runs = whose.iter().enumerate().map(over).collect();
    let mut seller = Seller::new(node_key(n), runs);
    let account = world.nodes[n].core.seller().account();
    seller.set_account(account.expect("it sells"));
    seller
}

/// The runs that a start makes a seller forget, by task.
fn forgotten(world: &World, n: usize, right: &SignedStart, seller: &mut Seller) -> Vec<u32> {
    let state = world.nodes[n].core.state();
    let mut effects = Vec::new();
    let started = seller.start(state, node_key(BUYER), right.clone(), &mut effects);
    assert_eq!(started, Ok(()));
    let gone = effects.iter().filter_map(|effect| match effect {
        Effect::RemoveJob(job) => Some(job.task),
        _ => None,
    });
    gone.collect()
}

#[test]
fn runs_that_are_over_never_keep_a_seller_from_starting_one() {
    let (world, n, right) = leased(vec![]);
    let (own, trivial) = (node_key(BUYER), node_key(5));
    let full = vec![trivial; JOBS];
    let mut seller = remembering(&world, n, &right, &full);
    assert_eq!(forgotten(&world, n, &right, &mut seller), [0]);

    // The runs of the buyer that has most go first.
    let mut mixed = vec![own; BUYER_JOBS - 1];
    mixed.resize(JOBS, trivial);
    let mut seller = remembering(&world, n, &right, &mixed);
    let first = BUYER_JOBS as u32 - 1;
    assert_eq!(forgotten(&world, n, &right, &mut seller), [first]);

    // Beyond its share a buyer loses its own, although there is room.
    let mut mixed = vec![trivial; 10];
    mixed.resize(BUYER_JOBS + 10, own);
    let mut seller = remembering(&world, n, &right, &mixed);
    assert_eq!(forgotten(&world, n, &right, &mut seller), [10]);
    mixed.pop();
    let mut seller = remembering(&world, n, &right, &mixed);
    assert!(forgotten(&world, n, &right, &mut seller).is_empty());
}

#[test]
fn inputs_that_the_unit_cannot_hold_are_refused() {
    let file = |bytes| InputFile {
        path: "input".into(),
        content: ContentId([7; 32]),
        bytes,
        executable: false,
    };
    let room = |world: &World| {
        let class = world.nodes[0].core.state().class(&world.class());
        class.expect("the market's").key.disk_bytes()
    };
    let (mut world, n, right) = leased(vec![file(1 << 30)]);
    assert!(room(&world) < 1 << 30);
    let reply = ask(&mut world, n, right);
    assert_eq!(reply, AgentReply::Refused(StartRefusal::Invalid));
    let most = room(&world);
    let (mut world, n, right) = leased(vec![file(most)]);
    assert_eq!(ask(&mut world, n, right), AgentReply::Ok);
}

#[test]
fn a_run_has_time_until_the_end_of_its_slot() {
    let (world, n, right) = leased(vec![]);
    let core = &world.nodes[n].core;
    let left = core.seller().time_left(core.state(), &right.start.job);
    let left = left.expect("its lease lives");
    let state = core.state();
    let heights = state.calendar().slot_heights();
    assert!(left <= heights * state.policy().block_interval_ms);
    assert!(left.is_multiple_of(state.policy().block_interval_ms));
    let mut gone = right.start.job;
    gone.lease = LeaseId([0xee; 32]);
    assert_eq!(core.seller().time_left(state, &gone), None);
}

#[test]
fn a_run_has_its_first_start_also_after_its_buyers_node_was_started_anew() {
    let mut world = market();
    let want = order(&world, 7, sealed(3, 400), 3, 500);
    world.order(BUYER, want);
    let started = |w: &World| {
        let agent = w.nodes[BUYER].core.buyer().order(&OrderKey(7))?;
        let run = agent.tasks.runs.get(&0)?;
        let runs = matches!(run.phase, Phase::Running { .. });
        let attempt = agent.tasks.records[0].history.attempts.last()?;
        runs.then_some((attempt.number, attempt.started_ms))
    };
    assert!(world.run_until(20_000, |w| started(w).is_some()));
    let before = started(&world);
    world.kill(BUYER);
    world.run(3_000);
    world.restart(BUYER);
    assert!(world.run_until(60_000, |w| started(w).is_some()));
    assert_eq!(started(&world), before);
}
