//! One-way messages between two nodes.

use super::net::{eventually, start_mesh};
use gridbay_node::overlay::{Count, Line};

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_line_arrive_in_their_order_and_are_answered() {
    let nodes = start_mesh(2, 9).await;
    let (from, to) = (&nodes[0], nodes[1].peer());
    let lines = [Line::Votes, Line::Bodies, Line::Entries, Line::Words];
    let message = |line: Line, n: u8| [&[line as u8, n][..], &vec![n; 9_000]].concat();
    for n in 0..20 {
        for line in lines {
            from.handle.send(to, line, message(line, n)).unwrap();
        }
    }
    let mut come = [0; 4];
    for _ in 0..80 {
        let (_, bytes) = nodes[1].direct().await;
        let line = lines[usize::from(bytes[0])];
        assert_eq!(bytes, message(line, come[line as usize]));
        come[line as usize] += 1;
    }
    assert_eq!(come, [20; 4]);
    eventually(|| from.handle.whereabouts().queues.unconfirmed == 0).await;
    assert_eq!(from.handle.stats().get(Count::DirectFailed), 0);
}
