//! Ranks on loopback with real programs, commanded over connections that are cut.

use super::files::{get, put};
use super::program::{Event, Remote};
use super::*;
use crate::rank::files::{Receiver, list};
use crate::rank::hold::Hold;
use crate::rank::order::{Id, Program, Put, Start};
use crate::rank::signed::{Hello, Place, Signed};
use crate::rank::wire::write_line;
use crate::terminal::Size;
use gridbay_protocol::ids::{LeaseId, NetworkId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

/// A way to one rank, whose connections can be cut.
struct Loopback {
    at: SocketAddr,
    place: Place,
    key: SecretKey,
    open: Mutex<Vec<TcpStream>>,
}

fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

fn id() -> Id {
    static LAST: AtomicU8 = AtomicU8::new(0);
    Id([LAST.fetch_add(1, Ordering::Relaxed); 16])
}

/// A rank that belongs to key 1.
fn rank() -> Arc<Loopback> {
    let place = Place {
        network: NetworkId([1; 32]),
        lease: LeaseId([2; 32]),
        rank: 3,
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let hold = Hold::new(place, key(1).public()).unwrap();
    thread::spawn(move || hold.serve(&listener));
    by(at, place, 1)
}

fn by(at: SocketAddr, place: Place, seed: u8) -> Arc<Loopback> {
    Arc::new(Loopback {
        at,
        place,
        key: key(seed),
        open: Mutex::default(),
    })
}

impl Loopback {
    fn as_other(&self, seed: u8) -> Arc<Loopback> {
        by(self.at, self.place, seed)
    }

    /// Cuts all connections.
    fn cut(&self) {
        self.open.lock().unwrap().drain(..).for_each(|c| c.cut());
    }
}

impl Connector for Loopback {
    type Conn = TcpStream;
    fn give(&self, rank: u32, order: &Command) -> Result<TcpStream, ApiError> {
        let give = || {
            let mut connection = TcpStream::connect(self.at)?;
            let hello: Hello = read_line(&mut connection)?;
            let text = serde_json::to_string(order)?;
            let signed = Signed::new(&self.place, &hello, text, &self.key);
            write_line(&connection, &signed)?;
            self.open.lock().unwrap().push(connection.try_clone()?);
            Ok(connection)
        };
        give().map_err(|e: std::io::Error| unreachable(rank, &e.to_string()))
    }
}

fn started(to: &Arc<Loopback>, words: &[&str], terminal: Option<Size>) -> Remote {
    let order = Start {
        session: id(),
        argv: words.iter().map(|w| (*w).to_owned()).collect(),
        env: BTreeMap::from([("COLOUR".to_owned(), "red".to_owned())]),
        folder: String::new(),
        terminal,
    };
    Remote::start(Arc::clone(to), 3, order, |_| ()).unwrap()
}

/// All that a program puts out, and its code.
fn end_of(program: &Remote) -> (String, String, i32) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    loop {
        match program.next() {
            Event::Out(bytes) => out.extend(bytes),
            Event::Err(bytes) => err.extend(bytes),
            Event::Exit(code) => {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                return (text(out), text(err), code);
            }
            Event::Lost(error) => panic!("{error}"),
        }
    }
}

fn programs(of: &Loopback) -> Vec<Program> {
    match ask(of, 3, &Command::List).unwrap().1 {
        Answer::Programs(programs) => programs,
        other => panic!("{other:?}"),
    }
}

#[test]
fn streams_are_apart_and_the_code_is_the_programs() {
    let rank = rank();
    let script = "read line; echo \"got $line $COLOUR\"; echo bad >&2; exit 7";
    let program = started(&rank, &["sh", "-c", script], None);
    assert!(program.input(b"some words\n") && program.input(b""));
    let (out, err, code) = end_of(&program);
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("got some words red\n", "bad\n", 7)
    );
    let (_, err, code) = end_of(&started(&rank, &["no-such-program"], None));
    assert!(
        code == 127 && err.contains("cannot execute no-such-program"),
        "{err}"
    );
    let ended = started(&rank, &["sh", "-c", "kill -TERM $$"], None);
    assert_eq!(end_of(&ended).2, 128 + 15);
    let program = started(&rank, &["sleep", "600"], None);
    assert!(program.signal(2));
    assert_eq!(end_of(&program).2, 128 + 2);
}

#[test]
fn no_byte_is_lost_or_doubled_when_connections_are_cut() {
    const BYTES: usize = 12_000_000;
    let rank = rank();
    let program = started(&rank, &["cat"], None);
    let sent: Vec<u8> = (0..BYTES).map(|n| (n * n % 253) as u8).collect();
    let (input, all) = (program.clone(), sent.clone());
    let feeder = thread::spawn(move || {
        assert!(all.chunks(40_000).all(|piece| input.input(piece)) && input.input(b""));
    });
    let (mut got, mut cuts) = (Vec::with_capacity(BYTES), 0);
    let code = loop {
        match program.next() {
            Event::Out(bytes) => got.extend(bytes),
            Event::Exit(code) => break code,
            other => panic!("{other:?}"),
        }
        if got.len() / 2_000_000 > cuts {
            cuts += 1;
            rank.cut();
        }
    };
    feeder.join().unwrap();
    let same = got.iter().zip(&sent).take_while(|(a, b)| a == b).count();
    assert_eq!((got.len(), same), (BYTES, BYTES), "bytes, and those alike");
    assert_eq!(code, 0);
    assert!(cuts >= 5, "{cuts} cuts");
}

#[test]
fn the_rest_of_a_program_that_has_ended_waits_for_its_asker() {
    // More than one side may have sent beyond what the other one dealt with: the rest lies in the
    // pipe when the program ends.
    const BYTES: usize = (1 << 20) + 170_000;
    let rank = rank();
    let script = format!("head -c {BYTES} /dev/zero");
    let program = started(&rank, &["sh", "-c", &script], None);
    thread::sleep(Duration::from_secs(4));
    let (out, _, code) = end_of(&program);
    assert_eq!((out.len(), code), (BYTES, 0));
}

#[test]
fn a_terminal_has_its_size_and_its_keys() {
    let rank = rank();
    let size = |rows, columns| Size { rows, columns };
    let program = started(&rank, &["sh"], Some(size(31, 97)));
    let mut seen = String::new();
    let mut until = |program: &Remote, word: &str| {
        while !seen.contains(word) {
            match program.next() {
                Event::Out(bytes) => seen += &String::from_utf8_lossy(&bytes),
                other => panic!("{other:?} after {seen}"),
            }
        }
        seen.clear();
    };
    assert!(program.input(b"stty size\n"));
    until(&program, "31 97");
    assert!(program.resize(size(40, 120)) && program.input(b"stty size\n"));
    until(&program, "40 120");
    assert!(program.input(b"PS1=re''ady\n"));
    until(&program, "ready");
    rank.cut();
    // The words are put together by the shell, so that the echo of the line does not have them.
    let sleeps = b"sh -c \"echo u''p; exec sleep 600\"; echo a''wake $?\n";
    assert!(program.input(sleeps) && program.input(b"echo\n"));
    until(&program, "up");
    let listed = || programs(&rank).first().is_some_and(|p| p.processes == 2);
    while !listed() {
        thread::sleep(Duration::from_millis(10));
    }
    assert!(program.input(b"\x03"));
    // A shell forgets what it has read until then.
    until(&program, "ready");
    assert!(program.input(b"echo he''re\n"));
    until(&program, "here");
    assert!(program.input(b"exit 7\n"));
    assert_eq!(end_of(&program).2, 7);
}

#[test]
fn strangers_are_refused_and_admitted_keys_have_their_own_programs() {
    let owner = rank();
    let (bea, eve) = (owner.as_other(2), owner.as_other(9));
    let refused = |by: &Loopback, order: Command| ask(by, 3, &order).map(|a| a.1).unwrap_err();
    let list = || Command::List;
    assert_eq!(refused(&bea, list()).code, ErrorCode::Refused);
    let admit = |key: PublicKey| Command::Admit {
        key,
        name: "bea".to_owned(),
    };
    assert_eq!(
        refused(&eve, admit(key(9).public())).code,
        ErrorCode::Refused
    );
    ask(&*owner, 3, &admit(key(2).public())).unwrap();
    let (his, hers) = (
        started(&owner, &["sleep", "600"], None),
        started(&bea, &["cat"], None),
    );
    let shown = programs(&bea);
    let by: Vec<&str> = shown.iter().map(|p| p.by.as_str()).collect();
    assert_eq!(by, ["owner", "bea"]);
    let stop = |program| Command::Stop { program, grace: 5 };
    let error = refused(&bea, stop(Some(shown[0].program)));
    assert_eq!(error.code, ErrorCode::Refused, "{error}");
    assert_eq!(
        refused(&bea, admit(key(9).public())).code,
        ErrorCode::Refused
    );
    let dismiss = Command::Dismiss {
        key: key(2).public(),
    };
    ask(&*owner, 3, &dismiss).unwrap();
    assert_eq!(refused(&bea, list()).code, ErrorCode::Refused);
    assert!(matches!(hers.next(), Event::Lost(_)), "its program ended");
    assert_eq!(ask(&*owner, 3, &stop(None)).unwrap().1, Answer::Stopped(1));
    assert_eq!(end_of(&his).2, 128 + 15);
}

#[test]
fn a_kept_order_is_of_no_use_a_second_time() {
    let rank = rank();
    let mut first = TcpStream::connect(rank.at).unwrap();
    let hello: Hello = read_line(&mut first).unwrap();
    let signed = Signed::new(&rank.place, &hello, "\"list\"".to_owned(), &rank.key);
    write_line(&first, &signed).unwrap();
    let answer: Answer = read_line(&mut first).unwrap();
    assert_eq!(answer, Answer::Programs(vec![]));
    let mut second = TcpStream::connect(rank.at).unwrap();
    let _: Hello = read_line(&mut second).unwrap();
    write_line(&second, &signed).unwrap();
    let answer: Answer = read_line(&mut second).unwrap();
    assert!(matches!(answer, Answer::Refused(r) if r.kind == Why::Forbidden));
}

#[test]
fn a_program_takes_all_that_it_started_with_it_and_ends_when_it_is_told() {
    let rank = rank();
    let script = "trap '' TERM; sleep 600 & echo up; wait; wait; sleep 600";
    let program = started(&rank, &["sh", "-c", script], None);
    assert_eq!(program.next(), Event::Out(b"up\n".to_vec()));
    let number = Some(programs(&rank)[0].program);
    let stop = Command::Stop {
        program: number,
        grace: 1,
    };
    assert_eq!(ask(&*rank, 3, &stop).unwrap().1, Answer::Stopped(1));
    assert_eq!(end_of(&program).2, 128 + 9, "it does not listen");
    let program = started(&rank, &["sh", "-c", "sleep 600 & echo left"], None);
    let (out, _, code) = end_of(&program);
    assert_eq!((out.as_str(), code), ("left\n", 0));
    while !programs(&rank).is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    let error = ask(
        &*rank,
        3,
        &Command::Stop {
            program: Some(99),
            grace: 0,
        },
    )
    .map(|a| a.1);
    assert_eq!(error.unwrap_err().code, ErrorCode::NotFound);
}

#[test]
fn files_go_there_and_back_over_cuts() {
    let rank = rank();
    let dir = tempfile::tempdir().unwrap();
    let from = dir.path().join("from");
    fs::create_dir_all(from.join("deep")).unwrap();
    let bytes: Vec<u8> = (0..40_000_000_u32).map(|n| (n % 249) as u8).collect();
    fs::write(from.join("deep/large"), &bytes).unwrap();
    fs::write(from.join("small"), "small").unwrap();
    let (there, back) = (dir.path().join("there"), dir.path().join("back"));
    let order = Put {
        transfer: id(),
        to: there.to_str().unwrap().to_owned(),
        into: false,
    };
    let (entries, _) = list(&from, "from").unwrap();
    let cutter = Arc::clone(&rank);
    let cuts = thread::spawn(move || {
        for _ in 0..6 {
            thread::sleep(Duration::from_millis(15));
            cutter.cut();
        }
    });
    put(&*rank, 3, &order, &entries, &|_: &str| ()).unwrap();
    assert!(fs::read(there.join("deep/large")).unwrap() == bytes);
    let paths = std::slice::from_ref(&order.to);
    let into = Receiver::asked(&back, paths, id(), u64::MAX).unwrap();
    get(&*rank, 3, paths, into, &|_: &str| ()).unwrap();
    let other = Receiver::asked(&back, &["other".to_owned()], id(), u64::MAX).unwrap();
    let unasked = get(&*rank, 3, paths, other, &|_: &str| ()).unwrap_err();
    assert!(unasked.message.contains("not asked for"), "{unasked:?}");
    cuts.join().unwrap();
    assert!(fs::read(back.join("there/deep/large")).unwrap() == bytes);
    assert_eq!(
        fs::read_to_string(back.join("there/small")).unwrap(),
        "small"
    );
    let failure = |to: &str, into| {
        let order = Put {
            transfer: id(),
            to: to.to_owned(),
            into,
        };
        put(&*rank, 3, &order, &entries, &|_: &str| ()).unwrap_err()
    };
    assert_eq!(failure("../up", false).code, ErrorCode::Usage);
    assert_eq!(failure("/proc/nothing/here", true).code, ErrorCode::Refused);
    let none = ["no-such-file".to_owned()];
    let into = Receiver::new(&back, None, id()).unwrap();
    let missing = get(&*rank, 3, &none, into, &|_: &str| ()).unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound);
}

#[test]
fn a_connection_without_an_order_is_hung_up_on() {
    let rank = rank();
    let mut connection = TcpStream::connect(rank.at).unwrap();
    let _: Hello = read_line(&mut connection).unwrap();
    write_line(&connection, &"no order").unwrap();
    assert_eq!(connection.read(&mut [0; 16]).unwrap(), 0);
}
