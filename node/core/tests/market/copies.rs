//! The second copy of a checkpoint: on another node of the lease, by its ledger; read by the
//! buyer's node alone; gone some time after the lease.

use crate::checkpoints::{BUYER, EVERY_MS, keeping, resumed, runs, task};
use crate::genesis::{key, node_key};
use crate::played::checkpointed;
use crate::world::{EPOCH_MS, World};
use crate::{finish, market, order, sealed};
use gridbay_core::agent::{AgentReply, AgentRequest, Copy, KeepRefusal, RunId};
use gridbay_core::buy::Terms;
use gridbay_core::buyer::Finish;
use gridbay_core::effect::Effect;
use gridbay_core::input::{Input, Now};
use gridbay_core::keeper::{Held, KEEP_HEIGHTS, ranked};
use gridbay_core::relay::Signed;
use gridbay_protocol::checkpoint::{CHECKPOINT_BYTES, Manifest, Snapshot};
use gridbay_protocol::ids::{ContentId, LeaseId};
use gridbay_protocol::keys::PublicKey;

impl World {
    fn wall_ms(&self) -> u64 {
        EPOCH_MS + 1_000 + self.now
    }

    /// The bodies of seller, keeper and buyer. A copy comes as a whole, at once.
    pub(crate) fn perform_copy(&mut self, n: usize, effect: Effect) {
        match effect {
            Effect::OfferCopy { job, to, .. } => {
                let manifest = self.shown(n, &job);
                self.offer_copy(n, job, &manifest, &to);
            }
            Effect::PullCopy { slot, .. } => self.input(n, 1, Input::Pulled { slot, whole: true }),
            Effect::FetchCopy {
                order,
                job,
                seller,
                keepers,
                newer_than,
            } => {
                let replies = { keepers.iter() }.map(|k| (*k, self.copy_at(n, k, (&job, &seller))));
                let bounds = (newer_than, CHECKPOINT_BYTES);
                let network = self.genesis.network();
                let found = ranked(&network, (&seller, &job), bounds, replies.collect());
                let age = |copy: &Copy| self.wall_ms() - copy.taken_ms;
                let kept = found.first().map(|(c, _)| (c.snapshot, age(c)));
                // A fetch of before fails only now: that says nothing of the copy.
                self.input(n, 1, checkpointed(order, job, None, false));
                self.input(n, 5, checkpointed(order, job, kept, true));
            }
            _ => {}
        }
    }

    pub(crate) fn offer_copy(&mut self, n: usize, job: RunId, what: &Manifest, to: &PublicKey) {
        let copy = Copy {
            job,
            snapshot: what.snapshot(),
            taken_ms: self.wall_ms(),
        };
        let signed = Signed::new(&self.genesis.network(), copy, &key(2, n as u8));
        // Nobody waits for the answer.
        self.ask(n, u64::MAX, to, AgentRequest::Keep(Box::new(signed)));
    }

    fn copy_at(
        &self,
        n: usize,
        keeper: &PublicKey,
        (job, seller): (&RunId, &PublicKey),
    ) -> Option<AgentReply> {
        let keeper = self.node_of(keeper.as_bytes())?;
        let node = Some(&self.nodes[keeper]).filter(|node| node.up)?;
        let held = node.core.keeper().held().into_iter();
        let mut held = held.filter(|h| h.seller == *seller);
        let copy = held.find(|h| h.copy.said.job == *job && h.buyer == node_key(n))?;
        Some(AgentReply::Copy(Box::new(copy.copy)))
    }
}

fn held(world: &World, n: usize) -> Vec<Held> {
    world.nodes[n].core.keeper().held()
}

/// The answer of a node to a question of another, and the effects beside it.
fn asked(world: &mut World, n: usize, from: usize, request: AgentRequest) -> Vec<Effect> {
    let now = Now {
        mono_ms: world.now,
        wall_ms: world.wall_ms(),
    };
    let asked = Input::Asked {
        token: u64::MAX,
        from: node_key(from),
        request,
    };
    let core = &mut world.nodes[n].core;
    core.step(now, asked).expect("no fault")
}

fn refusal(effects: &[Effect]) -> Option<KeepRefusal> {
    effects.iter().find_map(|effect| match effect {
        Effect::Answer {
            reply: AgentReply::NotKept(why),
            ..
        } => Some(*why),
        _ => None,
    })
}

/// A job of four ranks on both sellers' nodes, and the ranks at each.
fn two_sellers() -> (World, RunId, RunId) {
    let mut world = market();
    let mut terms = sealed(4, 300);
    if let Terms::Sealed(bid) = &mut terms {
        // It goes on with the units of one seller.
        bid.min = 1;
    }
    let want = keeping(order(&world, 1, terms, 4, 40));
    world.order(BUYER, want);
    assert!(world.run_until(10_000, |w| runs(w, BUYER, 1) == 4));
    let both = |w: &World| held(w, 0).len() == 2 && held(w, 1).len() == 2;
    assert!(world.run_until(8_000, both), "two units each");
    let theirs = |n: usize| held(&world, n)[0].copy.said.job;
    let (of_1, of_0) = (theirs(0), theirs(1));
    (world, of_0, of_1)
}

#[test]
fn a_task_goes_on_from_a_copy_that_is_newer_than_what_its_buyer_had() {
    let (mut world, of_0, _) = two_sellers();
    world.kill(BUYER);
    let before = task(&world, 1, of_0.task as usize).history.checkpoint;
    let before = world.snapshots[&before.expect("it came").snapshot.manifest];
    world.run(4 * EVERY_MS);
    world.kill(0);
    let copied = held(&world, 1).into_iter();
    let copied = { copied }.find(|h| h.copy.said.job == of_0).expect("kept");
    let copied = world.snapshots[&copied.copy.said.snapshot.manifest];
    assert!(copied >= before + EVERY_MS, "{copied} after {before}");
    world.restart(BUYER);
    let second = |w: &World| {
        let starts = resumed(w, 1, of_0.task).into_iter();
        { starts }.find(|(attempt, _)| *attempt > 0)
    };
    assert!(world.run_until(200_000, |w| second(w).is_some()));
    let (_, given) = second(&world).expect("just seen");
    let given = given.expect("it goes on");
    assert_eq!(world.snapshots[&given.manifest], copied);
    world.restart(0);
    assert!(world.run_until(300_000, |w| finish(w, BUYER, 1) == Some(Finish::Done)));
}

#[test]
fn a_keeper_refuses_strangers_forgers_and_floods() {
    let (mut world, of_0, of_1) = two_sellers();
    let network = world.genesis.network();
    let copy = |job: RunId, bytes: u64, by: usize| {
        let snapshot = Snapshot {
            manifest: ContentId([9; 32]),
            manifest_bytes: 9,
            files: 1,
            bytes,
        };
        let said = Copy {
            job,
            snapshot,
            taken_ms: 1,
        };
        let signed = Signed::new(&network, said, &key(2, by as u8));
        AgentRequest::Keep(Box::new(signed))
    };
    let foreign = RunId {
        lease: LeaseId([3; 32]),
        ..of_0
    };
    world.run(EVERY_MS / 2);
    for (keeper, from, what, why) in [
        (1, 5, copy(of_0, 1, 5), KeepRefusal::NoLease),
        (1, 0, copy(foreign, 1, 0), KeepRefusal::NoLease),
        (2, 0, copy(of_0, 1, 0), KeepRefusal::NoLease),
        (1, 1, copy(of_1, 1, 1), KeepRefusal::NoLease),
        (1, 0, copy(of_0, 1, 1), KeepRefusal::NotSigned),
        (
            1,
            0,
            copy(of_0, CHECKPOINT_BYTES + 1, 0),
            KeepRefusal::TooLarge,
        ),
    ] {
        let before = world.nodes[keeper].core.keeper().refused();
        let effects = asked(&mut world, keeper, from, what);
        assert_eq!(refusal(&effects), Some(why), "of {from}");
        let pulls = |e: &Effect| matches!(e, Effect::PullCopy { .. });
        assert!(!effects.iter().any(pulls), "{effects:?}");
        let counted = world.nodes[keeper].core.keeper().refused();
        assert_eq!(counted, before + 1);
    }
    // Whichever tasks it names: two units hold two copies, and each has its time.
    let mut taken = 0;
    for task in 0..20 {
        let job = RunId { task, ..of_0 };
        let effects = asked(&mut world, 1, 0, copy(job, 1, 0));
        match refusal(&effects) {
            Some(why) => assert_eq!(why, KeepRefusal::TooSoon),
            None => taken += 1,
        }
    }
    assert!(taken <= 2, "{taken} of 20");
}

#[test]
fn a_copy_is_read_by_the_buyers_node_alone() {
    let (mut world, of_0, _) = two_sellers();
    let kept = held(&world, 1)[0].copy.said;
    assert_eq!(kept.job, of_0);
    for (from, may) in [(BUYER, true), (0, false), (5, false)] {
        let (job, seller) = (of_0, node_key(0));
        let told = asked(&mut world, 1, from, AgentRequest::CopyOf { job, seller });
        let shows = |e: &Effect| matches!(e, Effect::Answer { reply: AgentReply::Copy(copy), .. } if copy.said == kept);
        assert_eq!(told.iter().any(shows), may, "{from}");
        let content = kept.snapshot.manifest;
        let request = |seller| AgentRequest::Kept {
            job,
            content,
            from: 0,
            seller,
        };
        let read = asked(&mut world, 1, from, request(Some(seller)));
        let reads = |e: &Effect| matches!(e, Effect::ReadCopy { .. });
        assert_eq!(read.iter().any(reads), may, "{from}");
        // Of another seller it has none.
        let read = asked(&mut world, 1, from, request(Some(node_key(1))));
        assert!(!read.iter().any(reads), "{from}");
        let read = asked(&mut world, 0, from, request(None));
        let reads = |e: &Effect| matches!(e, Effect::ReadKept { .. });
        assert_eq!(read.iter().any(reads), may, "{from} at the seller's");
    }
    // At its seller's, the keeper reads as well.
    let request = AgentRequest::Kept {
        job: of_0,
        content: kept.snapshot.manifest,
        from: 0,
        seller: None,
    };
    let read = asked(&mut world, 0, 1, request);
    assert!(read.iter().any(|e| matches!(e, Effect::ReadKept { .. })));
}

#[test]
fn a_copy_outlasts_its_lease_and_goes_after_a_bounded_time() {
    let (mut world, of_0, _) = two_sellers();
    let cancel = gridbay_core::input::Command::Cancel(gridbay_core::key::OrderKey(1));
    world.command(BUYER, cancel);
    let over = |w: &World| w.nodes[1].core.state().lease(&of_0.lease).is_none();
    assert!(world.run_until(60_000, over));
    world.run(2_000);
    let copies = held(&world, 1);
    assert_eq!(copies.len(), 2, "it is still there");
    let since = copies[0].gone.expect("it counts");
    // Nothing is due, so blocks are far apart. A restart does not begin the time anew.
    world.kill(1);
    world.restart(1);
    world.nodes[1].core.keep_copies(copies);
    let late = |w: &World| held(w, 1).is_empty();
    assert!(world.run_until(100_000_000, late), "it goes");
    let height = world.nodes[1].core.state().height();
    let most = since + KEEP_HEIGHTS;
    assert!(
        (most..most + 20).contains(&height),
        "{height} since {since}"
    );
}
