//! Who am I.

use std::net::UdpSocket;

use gridbay_vnet::drops::Drop as Why;
use gridbay_vnet::mirror::{Outside, outside};

use crate::nodes::{Node, until};

#[test]
fn others_tell_a_node_its_address() {
    let nodes = [Node::new(130), Node::new(131), Node::new(132)];
    for other in &nodes[1..] {
        nodes[0].engine.mirror(other.at()).expect("asks");
    }
    until("both have answered", || nodes[0].engine.seen().len() == 2);
    let seen = nodes[0].engine.seen();
    assert_eq!(outside(&seen, true), Outside::Same(nodes[0].at()));
    assert_eq!(outside(&seen, false), Outside::Unknown);
    assert!(nodes[1].engine.seen().is_empty(), "answering is not asking");
    // What nobody asked for is counted, and changes nothing.
    let forger = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let mut answer = [0; 39];
    answer[0] = 0x31;
    answer[20] = 4;
    forger.send_to(&answer, nodes[0].at()).expect("sends");
    forger.send_to(&[0x30; 38], nodes[0].at()).expect("sends");
    until("it is counted", || {
        let drops = nodes[0].engine.drops();
        drops.of(Why::Outsider) == 1 && drops.of(Why::Flood) == 1
    });
    assert_eq!(nodes[0].engine.seen(), seen);
}
