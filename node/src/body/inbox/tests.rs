use super::*;
use gridbay_host::message::BodyRequest;
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::keys::{PublicKey, SecretKey};

const VALIDATOR: u8 = 1;

fn key(n: u8) -> PublicKey {
    SecretKey::from_seed(&[n; 32]).public()
}

fn of(n: u8) -> Message {
    Message::Input(Input::Host {
        from: key(n),
        bytes: vec![n; 10],
    })
}

fn made() -> (Sender, Receiver) {
    inbox(BTreeSet::from([*key(VALIDATOR).as_bytes()]))
}

/// The senders of what is taken, in order; 0 for the node itself.
fn taken(receiver: &Receiver) -> Vec<u8> {
    let next = || receiver.try_recv();
    let from = |message: Message| match message {
        Message::Input(Input::Host { bytes, .. }) => bytes[0],
        _ => 0,
    };
    std::iter::from_fn(next).map(from).collect()
}

fn sends(sender: &Sender, n: u8, messages: usize, size: usize) -> usize {
    let from = key(n);
    let message = || {
        let bytes = vec![n; size];
        Message::Input(Input::Host { from, bytes })
    };
    let sent = (0..messages).filter(|_| matches!(sender.try_send(message()), Sent::Kept));
    sent.count()
}

fn is_of(message: &Message, n: u8) -> bool {
    matches!(message, Message::Input(Input::Host { from, .. }) if *from == key(n))
}

/// Messages of others than validators that wait, and their bytes.
fn held(sender: &Sender) -> (usize, usize) {
    let places = sender.0.places();
    let waiting = places.others.peers.values();
    let messages = waiting.flat_map(|waiting| &waiting.messages);
    let bytes = messages.map(|message| match message {
        Message::Input(Input::Host { bytes, .. }) => bytes.len(),
        _ => 0,
    });
    bytes.fold((0, 0), |(n, sum), bytes| (n + 1, sum + bytes))
}

#[test]
fn the_nodes_own_come_first_then_validators_and_others_are_not_forgotten() {
    let (sender, receiver) = made();
    sends(&sender, 9, 3, 10);
    sends(&sender, VALIDATOR, 20, 10);
    assert!(matches!(sender.try_send(Message::Troubles), Sent::Kept));
    let order = taken(&receiver);
    assert_eq!(order[0], 0);
    let v = VALIDATOR;
    assert_eq!(order[1..9], [v, v, v, v, v, v, v, 9]);
    assert_eq!(order.iter().filter(|from| **from == 9).count(), 3);
    assert_eq!(order.len(), 24);
}

#[test]
fn a_flood_of_own_questions_delays_a_peers_message_by_one() {
    let (sender, receiver) = made();
    for _ in 0..10 {
        assert!(matches!(sender.try_send(Message::Troubles), Sent::Kept));
    }
    sends(&sender, VALIDATOR, 3, 10);
    let v = VALIDATOR;
    assert_eq!(taken(&receiver), [0, v, 0, v, 0, v, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn what_decides_the_height_goes_first_and_the_rest_is_not_forgotten() {
    let (sender, receiver) = made();
    let (from, height, block) = (key(VALIDATOR), 1, BlockId([1; 32]));
    sends(&sender, VALIDATOR, 3, 10);
    sends(&sender, 9, 2, 10);
    let bytes = HostMessage::BodyRequest(BodyRequest { height, block }).encode();
    let urgent = bytes[0];
    for _ in 0..20 {
        let bytes = bytes.clone();
        let message = Message::Input(Input::Host { from, bytes });
        assert!(matches!(sender.try_send(message), Sent::Kept));
    }
    // The same of anybody else is nothing to hurry for.
    let message = Message::Input(Input::Host {
        from: key(8),
        bytes,
    });
    assert!(matches!(sender.try_send(message), Sent::Kept));
    let order = taken(&receiver);
    let u = urgent;
    assert_eq!(order[..8], [VALIDATOR, u, u, u, u, u, u, 9]);
    let at = |wanted| order.iter().filter(|from| **from == wanted).count();
    assert_eq!((at(VALIDATOR), at(9), at(urgent)), (3, 2, 21));
    assert!(order[..20].iter().filter(|from| **from == u).count() >= 15);
}

#[test]
fn a_peer_that_floods_delays_another_by_a_message() {
    let (sender, receiver) = made();
    assert_eq!(sends(&sender, 9, 1_000, 10), PER_PEER);
    assert_eq!(sends(&sender, 8, 2, 10), 2);
    assert_eq!(taken(&receiver)[..5], [9, 8, 9, 8, 9]);
}

#[test]
fn a_crowd_that_fills_all_places_keeps_no_peer_out() {
    let (sender, receiver) = made();
    let crowd = (PEERS / PER_PEER) as u8;
    for n in 100..100 + crowd {
        assert_eq!(sends(&sender, n, PER_PEER, 10), PER_PEER);
    }
    let sent = sender.try_send(of(9));
    let one = |dropped: &[Message]| matches!(dropped, [of_crowd] if !is_of(of_crowd, 9));
    assert!(matches!(sent, Sent::Dropped(dropped) if one(&dropped)));
    assert_eq!(sends(&sender, VALIDATOR, 1, 10), 1);
    let order = taken(&receiver);
    assert_eq!(order.len(), PEERS + 1);
    assert_eq!(order[0], VALIDATOR);
    let at = order.iter().position(|from| *from == 9);
    assert!(at.is_some_and(|at| at <= usize::from(crowd) + 1), "{at:?}");
}

#[test]
fn bytes_are_bounded_for_a_peer_and_for_all() {
    let (sender, receiver) = made();
    assert_eq!(sends(&sender, 9, 1, PER_PEER_WEIGHT + 1), 1, "a large one");
    assert_eq!(sends(&sender, 9, 1, 1), 0);
    let most = PEERS_WEIGHT / PER_PEER_WEIGHT;
    for n in 10..20 {
        sends(&sender, n, 8, PER_PEER_WEIGHT / 8);
    }
    let (messages, bytes) = held(&sender);
    assert!(bytes <= PEERS_WEIGHT);
    assert!(messages >= (most - 2) * 8);
    taken(&receiver);
    assert_eq!(held(&sender), (0, 0));
    let places = sender.0.places();
    assert_eq!(places.others.weight, 0);
    assert!(places.others.peers.is_empty() && places.others.order.is_empty());
}

#[test]
fn large_messages_do_not_take_the_places_of_small_ones() {
    let (sender, _receiver) = made();
    for n in 100..100 + (PEERS / PER_PEER) as u8 {
        assert_eq!(sends(&sender, n, PER_PEER, 10), PER_PEER);
    }
    for n in 10..40 {
        sends(&sender, n, 1, PER_PEER_WEIGHT / 8);
    }
    let (messages, bytes) = held(&sender);
    assert!(bytes <= PEERS_WEIGHT, "{bytes} bytes");
    assert!(messages > 30, "{messages} messages");
}

#[test]
fn who_waits_is_woken_and_a_receiver_that_is_gone_is_noticed() {
    let (sender, receiver) = made();
    let waits = std::thread::spawn(move || {
        let message = receiver.recv_timeout(Duration::from_secs(60));
        (message.is_ok(), receiver)
    });
    sends(&sender, 9, 1, 10);
    let (came, receiver) = waits.join().expect("it does not panic");
    assert!(came);
    let none = receiver.recv_timeout(Duration::from_millis(1));
    assert!(matches!(none, Err(RecvTimeoutError::Timeout)));
    drop(receiver);
    assert!(matches!(sender.try_send(of(9)), Sent::Closed(_)));
}
