//! Nodes' statements about themselves reach others, by gossip and by asking, and their offers are
//! found.

use crate::genesis::{account_key, node_key};
use crate::world::{EPOCH_MS, World};
use crate::{market, order, sealed};
use gridbay_core::adverts::{ADVERTS_PER_ACCOUNT, About, Heard, OF_ACCOUNT, OF_NODE, Verdict};
use gridbay_core::agent::{AgentReply, AgentRequest};
use gridbay_core::effect::Effect;
use gridbay_core::input::{Input, Now};
use gridbay_core::key::OrderKey;
use gridbay_core::query::{Query, find};
use gridbay_protocol::advert::{Advert, RoundTrip, SignedAdvert};
use gridbay_protocol::codec;
use gridbay_protocol::ids::{AccountId, NetworkId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use std::collections::BTreeMap;

/// The node that only looks on.
const GUEST: usize = 5;
/// The one that orders.
const BUYER: usize = 4;

fn step(world: &mut World, n: usize, input: Input) -> Vec<Effect> {
    let now = Now {
        mono_ms: world.now,
        wall_ms: EPOCH_MS + 1_000 + world.now,
    };
    world.nodes[n].core.step(now, input).expect("no fault")
}

/// The adverts that a node answers with.
pub(crate) fn ask(world: &mut World, n: usize, request: AgentRequest) -> Vec<SignedAdvert> {
    let asked = Input::Asked {
        token: u64::MAX,
        from: node_key(GUEST),
        request,
    };
    let reply = step(world, n, asked).into_iter().find_map(|e| match e {
        Effect::Answer { token, reply } if token == u64::MAX => Some(reply),
        _ => None,
    });
    match reply {
        Some(AgentReply::Adverts(adverts)) => adverts,
        other => panic!("no adverts: {other:?}"),
    }
}

pub(crate) fn hear(world: &mut World, n: usize, heard: Heard, advert: &SignedAdvert) -> Verdict {
    let bytes = codec::encode(advert);
    let input = Input::Advert {
        token: 9,
        heard,
        bytes,
    };
    let judged = step(world, n, input);
    let verdict = judged.into_iter().find_map(|e| match e {
        Effect::Judge { token: 9, verdict } => Some(verdict),
        _ => None,
    });
    verdict.expect("a verdict")
}

fn found(world: &World, n: usize, query: &str) -> Vec<PublicKey> {
    let query: Query = query.parse().expect("a good query");
    let shelf = world.nodes[n].core.shelf();
    let measured = BTreeMap::from([(node_key(1), 7_000)]);
    let subjects = shelf.subjects(&measured);
    let answer = find(&query, &subjects);
    answer.found.iter().map(|f| f.subject.node).collect()
}

fn about(site: &str, landmark_ms: u16) -> About {
    let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    About {
        attributes: [("site", site), ("arch", "amd64")].map(text).into(),
        round_trips: vec![RoundTrip {
            to: node_key(3),
            ms: landmark_ms,
        }],
    }
}

#[test]
fn what_nodes_say_of_themselves_is_found_by_queries() {
    let mut world = market();
    step(&mut world, 0, Input::About(about("cs.a.edu", 3)));
    step(&mut world, 1, Input::About(about("b.org", 5)));
    step(&mut world, GUEST, Input::About(about("c.org", 20)));
    let heard = |w: &World| found(w, GUEST, "site in [\"*\"]").len() == 2;
    // An idle ledger makes a block every ten seconds, and such a change waits for thirty of them.
    assert!(
        world.run_until(400_000, heard),
        "gossiped with the next adverts"
    );
    for (query, nodes) in [
        ("cpu >= 1 && mem >= 512MiB && site in [\"*.edu\"]", vec![0]),
        ("cpu >= 2", vec![]),
        ("arch == \"amd64\" sort by price desc", vec![1, 0]),
        ("free >= 2 && firm && mechanism == \"ausubel\"", vec![0, 1]),
        // One is measured; the other is 3 + 20 ms away by the landmark.
        ("rtt(me) <= 7ms", vec![1]),
        ("rtt(me) <= 23ms", vec![0, 1]),
        (
            "choose 2 nodes from 2 sites with rtt_between <= 8ms",
            vec![0, 1],
        ),
        ("choose 2 nodes with rtt_between < 8ms", vec![]),
    ] {
        let nodes: Vec<PublicKey> = nodes.into_iter().map(node_key).collect();
        assert_eq!(found(&world, GUEST, query), nodes, "{query}");
    }
}

/// A market of which the guest has found both sellers.
fn both_found() -> World {
    let mut world = market();
    let heard = |w: &World| found(w, GUEST, "").len() == 2;
    assert!(world.run_until(20_000, heard));
    world
}

#[test]
fn a_price_is_the_one_on_the_ledger_and_a_withdrawn_offer_is_not_found() {
    let mut world = both_found();
    let withdraw = gridbay_core::input::Command::WithdrawOffer(0);
    world.command(1, withdraw);
    let gone = |w: &World| found(w, GUEST, "") == [node_key(0)];
    assert!(
        world.run_until(20_000, gone),
        "at once, whatever its advert says"
    );
}

#[test]
fn what_is_free_is_known_at_once_and_told_in_turns() {
    let mut world = both_found();
    let bought = order(&world, 11, sealed(1, 100), 1, 500);
    world.order(4, bought);
    let free = |w: &World, n: usize| {
        let state = w.nodes[GUEST].core.state();
        let (id, _) = { state.offers() }
            .find(|(_, o)| o.terms.node == node_key(n))
            .expect("an offer");
        state.occupancy(id).free()
    };
    let all = [free(&world, 0), free(&world, 1)];
    let taken = |w: &World| (0..2).find(|n| free(w, *n) < all[*n]);
    assert!(world.run_until(20_000, |w| taken(w).is_some()));
    let seller = taken(&world).expect("one of them");
    let query = format!("free >= {}", all[seller]);
    assert!(!found(&world, GUEST, &query).contains(&node_key(seller)));
    let said = |w: &World| {
        let adverts = w.nodes[GUEST].core.adverts();
        let all = adverts.live(w.nodes[GUEST].core.state());
        let theirs = { all }.find(|advert| advert.node == node_key(seller));
        theirs.expect("an advert").lines[0].free
    };
    let height = |w: &World| w.nodes[GUEST].core.state().height();
    let begin = height(&world);
    assert!(world.run_until(400_000, |w| said(w) == free(w, seller)));
    assert!(height(&world) <= begin + 33, "within 32 blocks");
}

#[test]
fn adverts_are_answered_in_pages_and_judged_like_gossip() {
    let mut world = both_found();
    let own = ask(&mut world, 0, AgentRequest::Advert);
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].advert.node, node_key(0));
    assert!(
        ask(&mut world, 4, AgentRequest::Advert).is_empty(),
        "sells nothing"
    );
    let all = ask(&mut world, GUEST, AgentRequest::Adverts(None));
    assert_eq!(all.len(), 2);
    let place = |n: usize| (all[n].advert.account, all[n].advert.node);
    let after = ask(&mut world, GUEST, AgentRequest::Adverts(Some(place(0))));
    assert_eq!(after, all[1..]);
    assert!(ask(&mut world, GUEST, AgentRequest::Adverts(Some(place(1)))).is_empty());
    // A node that lost its adverts learns them from these answers, and nothing from forged ones.
    world.kill(GUEST);
    world.restart(GUEST);
    world.run(2_000);
    let mut forged = all[0].clone();
    forged.advert.sequence += 1;
    let verdict = hear(&mut world, GUEST, Heard::Asked, &forged);
    assert_eq!(verdict, Verdict::Reject);
    let known = found(&world, GUEST, "");
    for advert in &all {
        let new = !known.contains(&advert.advert.node);
        let verdict = hear(&mut world, GUEST, Heard::Asked, advert);
        assert_eq!(verdict == Verdict::Accept, new, "{verdict:?}");
    }
    assert_eq!(found(&world, GUEST, "").len(), 2);
}

#[test]
fn ten_thousand_adverts_for_invented_nodes_take_the_place_of_a_few() {
    let mut world = both_found();
    let state = world.nodes[GUEST].core.state().clone();
    let own = ask(&mut world, 0, AgentRequest::Advert);
    let real = &own[0].advert;
    for n in 0..10_000_u64 {
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&n.to_be_bytes());
        let advert = Advert {
            node: SecretKey::from_seed(&seed).public(),
            ..real.clone()
        };
        let signed = SignedAdvert::new(&state.network(), advert, &account_key(0));
        hear(&mut world, GUEST, Heard::Asked, &signed);
    }
    let kept = world.nodes[GUEST].core.adverts().live(&state).count();
    assert!(kept <= ADVERTS_PER_ACCOUNT + 1, "{kept} adverts");
    assert_eq!(found(&world, GUEST, "").len(), 2, "what sells is found");
}

/// The advert of node 0, changed and signed by a key.
pub(crate) fn changed(
    real: &Advert,
    key: &SecretKey,
    network: NetworkId,
    sequence: u64,
) -> SignedAdvert {
    let advert = Advert {
        key: key.public(),
        sequence,
        ..real.clone()
    };
    SignedAdvert::new(&network, advert, key)
}

/// The same once everybody may be heard again: the network, and the advert of node 0.
fn settled() -> (World, NetworkId, SignedAdvert) {
    let mut world = both_found();
    world.run(20_000);
    let network = world.nodes[GUEST].core.state().network();
    let mut own = ask(&mut world, 0, AgentRequest::Advert);
    (world, network, own.remove(0))
}

#[test]
fn what_others_say_of_a_sellers_node_does_not_count() {
    let (mut world, network, own) = settled();
    let other = ask(&mut world, 1, AgentRequest::Advert).remove(0);
    let (own, other) = (own.advert, other.advert);
    for (of, by, author) in [(&own, &other, 1), (&other, &own, 0)] {
        let slander = Advert {
            node: of.node,
            attributes: [("x.lacks".to_owned(), "all".to_owned())].into(),
            ..by.clone()
        };
        let signed = changed(&slander, &account_key(author), network, 1);
        let heard = hear(&mut world, BUYER, Heard::Asked, &signed);
        assert_eq!(heard, Verdict::Accept);
    }
    let mut want = order(&world, 7, sealed(3, 400), 3, 500);
    want.spec.network = true;
    world.order(BUYER, want);
    world.run(1_000);
    let placed = world.nodes[BUYER].core.buyer().order(&OrderKey(7));
    assert!(placed.is_some(), "their sellers say nothing of networks");
}

#[test]
fn an_author_is_heard_no_faster_than_its_rates_and_others_beside_it() {
    let (mut world, network, own) = settled();
    let real = &own.advert;
    let mut accepted = 0;
    for n in 1..=1_000 {
        let next = changed(real, &account_key(0), network, real.sequence + n);
        match hear(&mut world, GUEST, Heard::Told, &next) {
            Verdict::Accept => accepted += 1,
            other => assert_eq!(other, Verdict::Ignore, "nobody is to blame"),
        }
    }
    assert_eq!(accepted, OF_NODE.burst);
    // Nor do invented nodes give the account more.
    for n in 0..1_000_u64 {
        let mut seed = [9; 32];
        seed[..8].copy_from_slice(&n.to_be_bytes());
        let invented = Advert {
            node: SecretKey::from_seed(&seed).public(),
            ..real.clone()
        };
        let next = changed(&invented, &account_key(0), network, 1);
        accepted += u64::from(hear(&mut world, GUEST, Heard::Told, &next) == Verdict::Accept);
    }
    assert!(accepted <= OF_ACCOUNT.burst, "{accepted}");
    // The questions bound what was asked for, and another account has rates of its own.
    let asked = changed(real, &account_key(0), network, real.sequence + 2_000);
    assert_eq!(
        hear(&mut world, GUEST, Heard::Asked, &asked),
        Verdict::Accept
    );
    let other = ask(&mut world, 1, AgentRequest::Advert);
    let other = &other[0].advert;
    let next = changed(other, &account_key(1), network, other.sequence + 1);
    assert_eq!(hear(&mut world, GUEST, Heard::Told, &next), Verdict::Accept);
}

#[test]
fn only_what_no_state_can_make_good_is_rejected() {
    let (mut world, network, own) = settled();
    let real = &own.advert;
    let sequence = real.sequence + 1;
    // The next block may give the account this key; this one may have taken it.
    let unknown_key = changed(real, &SecretKey::from_seed(&[77; 32]), network, sequence);
    let unknown_account = Advert {
        account: AccountId([77; 32]),
        ..real.clone()
    };
    let far = Advert {
        valid_until: u64::MAX / 2,
        ..real.clone()
    };
    let over = Advert {
        valid_until: 0,
        ..real.clone()
    };
    let of_account = |advert: &Advert| changed(advert, &account_key(0), network, sequence);
    for (what, advert) in [
        ("an unknown key", unknown_key),
        ("an unknown account", of_account(&unknown_account)),
        ("one that counts for too long", of_account(&far)),
        ("one that counts no more", of_account(&over)),
        ("a known one", own.clone()),
    ] {
        for heard in [Heard::Told, Heard::Asked] {
            let verdict = hear(&mut world, GUEST, heard, &advert);
            assert_eq!(verdict, Verdict::Ignore, "{what}");
        }
    }
    let good = of_account(real);
    let mut forged = good.clone();
    forged.advert.sequence += 1;
    let elsewhere = NetworkId([3; 32]);
    let foreign = changed(real, &account_key(0), elsewhere, sequence);
    for bad in [forged, foreign] {
        let verdict = hear(&mut world, GUEST, Heard::Told, &bad);
        assert_eq!(verdict, Verdict::Reject);
    }
    assert_eq!(hear(&mut world, GUEST, Heard::Told, &good), Verdict::Accept);
}
