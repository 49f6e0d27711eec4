//! Two sides over connections that are cut.

use super::*;
use std::os::unix::net::UnixStream;
use std::thread;

/// Joins two sides by a connection; whoever holds its end can cut it.
fn join(one: &Arc<Link>, two: &Arc<Link>) -> UnixStream {
    let (a, b) = UnixStream::pair().unwrap();
    let end = a.try_clone().unwrap();
    let (at_one, at_two) = (one.offer(), two.offer());
    let (has_one, has_two) = (at_one.received, at_two.received);
    let (one, two) = (Arc::clone(one), Arc::clone(two));
    thread::spawn(move || one.carry(a, &at_one, has_two, |_| ()));
    thread::spawn(move || two.carry(b, &at_two, has_one, |_| ()));
    end
}

fn numbers(link: &Link, count: u64) {
    for number in 0..count {
        assert!(link.send(Kind::Stdout, &number.to_be_bytes()));
    }
}

fn taken(link: &Link, count: u64) {
    for number in 0..count {
        let (kind, bytes) = link.take().unwrap();
        assert_eq!((kind, bytes), (Kind::Stdout, number.to_be_bytes().to_vec()));
    }
}

#[test]
fn no_frame_is_lost_or_doubled_by_cuts() {
    const COUNT: u64 = 60_000;
    let (one, two) = (Link::new(), Link::new());
    let (first, second) = (Arc::clone(&one), Arc::clone(&two));
    let there = thread::spawn(move || numbers(&first, COUNT));
    let back = thread::spawn(move || numbers(&second, COUNT));
    let (first, second) = (Arc::clone(&one), Arc::clone(&two));
    let at_one = thread::spawn(move || taken(&first, COUNT));
    let at_two = thread::spawn(move || taken(&second, COUNT));
    while !(at_one.is_finished() && at_two.is_finished()) {
        let end = join(&one, &two);
        thread::sleep(Duration::from_millis(2));
        end.cut();
    }
    for side in [there, back, at_one, at_two] {
        side.join().unwrap();
    }
}

#[test]
fn a_side_that_takes_nothing_holds_the_other_one_up() {
    let (one, two) = (Link::new(), Link::new());
    let _end = join(&one, &two);
    let sender = Arc::clone(&one);
    let sent = thread::spawn(move || {
        let piece = vec![0; FRAME];
        (0..)
            .take_while(|_| sender.send(Kind::Stdin, &piece))
            .count()
    });
    while one.lock().out_bytes < WINDOW {
        thread::sleep(Duration::from_millis(1));
    }
    one.close();
    assert!(sent.join().unwrap() <= WINDOW / FRAME + 1);
}

#[test]
fn frames_that_nobody_sent_end_a_connection() {
    let (link, (a, mut b)) = (Link::new(), UnixStream::pair().unwrap());
    assert!(
        link.carry(a, &link.offer(), 1, |_| ()).is_err(),
        "more than was sent"
    );
    let (a, c) = UnixStream::pair().unwrap();
    write_frame(&c, Kind::Ack, &7_u64.to_be_bytes()).unwrap();
    assert!(link.carry(a, &link.offer(), 0, |_| ()).is_err());
    assert!(b.write_all(b"x").is_err() || link.alone().is_some());
}
