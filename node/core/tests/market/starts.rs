//! What a seller starts: the job that was ordered, for who ordered it, and nothing else.

use crate::genesis::{account_key, node_key};
use crate::world::{EPOCH_MS, World};
use crate::{market, order, sealed};
use gridbay_core::agent::{AgentReply, AgentRequest, SignedStart, Start, StartRefusal};
use gridbay_core::effect::Effect;
use gridbay_core::input::{Input, Now};
use gridbay_protocol::keys::{SecretKey, Signature};

/// The buyer's node.
const BUYER: usize = 4;

/// What the seller answers to a start that the buyer's node brings.
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
}
