//! Only the owner's orders are obeyed, each once.

use super::*;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::SecretKey;

const SECOND: Duration = Duration::from_secs(1);

fn key(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}

fn place() -> Place {
    Place {
        network: NetworkId([7; 32]),
        node: key(8).public(),
    }
}

/// A node whose owner has key 1, and the peer that asks has key 2.
fn node() -> (Judge, PublicKey) {
    let judge = Judge::new(Some(key(1).public()), place(), [9; 32]);
    (judge, key(2).public())
}

fn challenge(judge: &mut Judge, from: &PublicKey, now: Duration) -> Challenge {
    match judge.judge(from, &Question::Challenge.encode(), now) {
        Verdict::Challenge(challenge) => challenge,
        other => panic!("{other:?}"),
    }
}

fn order() -> String {
    serde_json::to_string(&Order::Drain).unwrap()
}

fn sent(signed: Signed) -> Vec<u8> {
    Question::Order(Box::new(signed)).encode()
}

#[test]
fn the_owners_order_is_obeyed_once() {
    let (mut judge, from) = node();
    let first = challenge(&mut judge, &from, SECOND);
    let bytes = sent(Signed::new(&place(), first, order(), &key(1)));
    let verdict = judge.judge(&from, &bytes, 2 * SECOND);
    assert_eq!(verdict, Verdict::Obey(Order::Drain));
    let again = judge.judge(&from, &bytes, 3 * SECOND);
    assert_eq!(again, Verdict::Refuse(Kind::Used), "said again");
    let late = judge.judge(&from, &bytes, 200 * SECOND);
    assert_eq!(late, Verdict::Refuse(Kind::Stale), "long after");
    let second = challenge(&mut judge, &from, 201 * SECOND);
    assert_ne!(first, second);
    let bytes = sent(Signed::new(
        &place(),
        second,
        "\"dance\"".to_owned(),
        &key(1),
    ));
    assert_eq!(judge.judge(&from, &bytes, 201 * SECOND), Verdict::Odd);
}

#[test]
fn a_signature_is_good_for_one_key_network_node_order_and_asker() {
    let (mut judge, from) = node();
    let given = challenge(&mut judge, &from, SECOND);
    let good = Signed::new(&place(), given, order(), &key(1));
    let network = Place {
        network: NetworkId([6; 32]),
        ..place()
    };
    let node = Place {
        node: key(3).public(),
        ..place()
    };
    let changed = Signed {
        order: "\"resume\"".to_owned(),
        ..good.clone()
    };
    let renamed = Signed {
        key: key(4).public(),
        ..good.clone()
    };
    let other = challenge(&mut judge, &from, SECOND);
    let moved = Signed {
        challenge: other,
        ..good.clone()
    };
    for (signed, kind) in [
        (
            Signed::new(&network, given, order(), &key(1)),
            Kind::Signature,
        ),
        (Signed::new(&node, given, order(), &key(1)), Kind::Signature),
        (changed, Kind::Signature),
        (renamed, Kind::Signature),
        (moved, Kind::Signature),
        (
            Signed::new(&place(), given, order(), &key(5)),
            Kind::Stranger,
        ),
    ] {
        let verdict = judge.judge(&from, &sent(signed), SECOND);
        assert_eq!(verdict, Verdict::Refuse(kind));
    }
    let elsewhere = judge.judge(&key(6).public(), &sent(good.clone()), SECOND);
    assert_eq!(
        elsewhere,
        Verdict::Refuse(Kind::Stale),
        "from another asker"
    );
    let made = Challenge::new(&[0; 32], &from, SECOND, 9);
    let made = Signed::new(&place(), made, order(), &key(1));
    let verdict = judge.judge(&from, &sent(made), SECOND);
    assert_eq!(verdict, Verdict::Refuse(Kind::Stale), "of another run");
    let verdict = judge.judge(&from, &sent(good), SECOND);
    assert_eq!(
        verdict,
        Verdict::Obey(Order::Drain),
        "none of that used it up"
    );
}

#[test]
fn a_challenge_is_good_for_a_minute() {
    let (mut judge, from) = node();
    let given = challenge(&mut judge, &from, SECOND);
    let bytes = sent(Signed::new(&place(), given, order(), &key(1)));
    let late = judge.judge(&from, &bytes, SECOND + FRESH + Duration::from_millis(1));
    assert_eq!(late, Verdict::Refuse(Kind::Stale));
    let in_time = judge.judge(&from, &bytes, SECOND + FRESH);
    assert_eq!(in_time, Verdict::Obey(Order::Drain));
}

#[test]
fn a_node_without_an_owner_obeys_nobody_and_says_so_to_nobody() {
    let mut judge = Judge::new(None, place(), [9; 32]);
    let from = key(2).public();
    let given = challenge(&mut judge, &from, SECOND);
    let signed = Signed::new(&place(), given, order(), &key(1));
    let verdict = judge.judge(&from, &sent(signed), SECOND);
    assert_eq!(verdict, Verdict::Refuse(Kind::Stranger));
}

#[test]
fn nobody_asks_too_often_and_nobody_pays_for_another() {
    let (mut judge, from) = node();
    let noise = [0xff, 1, 2, 3];
    for _ in 0..BURST {
        let verdict = judge.judge(&from, &noise, SECOND);
        assert_eq!(verdict, Verdict::Refuse(Kind::Malformed));
    }
    let verdict = judge.judge(&from, &noise, SECOND);
    assert_eq!(verdict, Verdict::Refuse(Kind::Often));
    challenge(&mut judge, &key(3).public(), SECOND);
    challenge(&mut judge, &from, 3 * SECOND);
}

#[test]
fn the_owner_has_so_many_orders_a_minute() {
    let (mut judge, _) = node();
    for n in 0..=USED {
        // Each by another node of the owner's, so that no rate of a peer is in the way.
        let from = SecretKey::from_seed(&[(n % 250) as u8; 32]).public();
        let given = challenge(&mut judge, &from, SECOND);
        let bytes = sent(Signed::new(&place(), given, order(), &key(1)));
        let verdict = judge.judge(&from, &bytes, SECOND);
        match n < USED {
            true => assert_eq!(verdict, Verdict::Obey(Order::Drain), "{n}"),
            false => assert_eq!(verdict, Verdict::Refuse(Kind::Often)),
        }
    }
    assert!(judge.used.len() <= USED);
}
