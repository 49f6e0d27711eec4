//! Laboratories of network namespaces: every kind of network behaves as its name says, cables are
//! impaired as told, addresses change, two programs meet, and nothing is left behind.
//!
//! All of it needs root, iproute2 and nftables. Without them each test says that it was left out;
//! the operations of a lab are tested beside the code, without root.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail like the test")]

use gridbay_testnet::Progress;
use gridbay_testnet::lab::matrix::programs::Programs;
use gridbay_testnet::lab::matrix::{self, Pair, Path};
use gridbay_testnet::lab::{self, Impairment, Kind, Lab, Topology, exec, probe};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Write as _;
use std::iter;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Bound on each wait; none of them is a measurement.
const PATIENCE: Duration = Duration::from_secs(20);
/// Waited for what should not come.
const SILENCE: Duration = Duration::from_millis(400);

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_gridbay-testnet"))
}

/// A name that no other test, and no other run of this one, has.
fn name(letter: char) -> String {
    format!("{letter}{}", std::process::id() % 1_000_000_000)
}

/// Past what keeps the output of tests that pass.
fn not_checked(why: &str) {
    let _ = writeln!(std::io::stderr().lock(), "NOT CHECKED: {why}");
}

/// A lab, or none where it cannot be had, which is said.
fn lab(letter: char, topology: &str) -> Option<Lab> {
    if let Err(error) = lab::check() {
        not_checked(&format!("{error:#}"));
        return None;
    }
    let topology = Topology::parse(topology).unwrap();
    let quiet = Progress::silent();
    Some(Lab::up(&name(letter), topology, program(), &quiet).unwrap())
}

/// Namespaces of a lab that exist.
fn namespaces(lab: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/run/netns")
        .into_iter()
        .flatten()
        .flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.starts_with(&format!("{lab}-")))
        .collect()
}

const STREET: &str = "[networks.street]\nkind = \"open\"\nhosts = [\"a\", \"b\", \"c\"]\n";

fn socket(lab: &Lab, host: &str, family: usize) -> UdpSocket {
    let address = lab.addresses(host).unwrap()[family];
    let socket = lab
        .inside(host, || UdpSocket::bind((address, 0)))
        .unwrap()
        .unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// A packet there and one back, both of which arrive: how long it took.
fn round(from: &UdpSocket, to: &UdpSocket) -> Duration {
    let began = Instant::now();
    let mut buffer = [0; 16];
    from.send_to(b"there", to.local_addr().unwrap()).unwrap();
    let (_, seen) = to.recv_from(&mut buffer).expect("there");
    to.send_to(b"back", seen).unwrap();
    from.recv_from(&mut buffer).expect("back");
    began.elapsed()
}

/// The quickest of a few, which is the network's own time: any of them may wait for a processor.
fn quickest(from: &UdpSocket, to: &UdpSocket) -> Duration {
    (0..5).map(|_| round(from, to)).min().unwrap()
}

/// Packets that arrive until nothing does for so long.
fn heard(at: &UdpSocket, silence: Duration) -> usize {
    at.set_read_timeout(Some(silence)).unwrap();
    let heard = iter::from_fn(|| at.recv_from(&mut [0; 16]).ok()).count();
    at.set_read_timeout(Some(PATIENCE)).unwrap();
    heard
}

/// A packet does not arrive.
fn silent(from: &UdpSocket, to: &UdpSocket) -> bool {
    from.send_to(b"there", to.local_addr().unwrap()).unwrap();
    heard(to, SILENCE) == 0
}

#[test]
fn every_kind_does_what_its_name_says() {
    let Some(lab) = lab('p', Topology::every_kind().source()) else {
        return;
    };
    let report = probe::run(&lab).unwrap();
    assert!(report.ok(), "\n{}", report.lines());
    assert_eq!(report.hosts.len(), lab.topology().hosts().count());
}

fn arrived_of_a_thousand(from: &UdpSocket, to: &UdpSocket) -> usize {
    let mut arrived = 0;
    for _ in 0..20 {
        // Fewer at once than a socket holds.
        for _ in 0..50 {
            from.send_to(b"x", to.local_addr().unwrap()).unwrap();
        }
        arrived += heard(to, Duration::from_millis(10));
    }
    // The last ones may come late, and must not be taken for what is sent next.
    arrived + heard(to, SILENCE)
}

#[test]
fn cables_are_slow_lossy_and_cut_as_told() {
    let Some(lab) = lab('i', STREET) else { return };
    let (a, b, c) = (
        socket(&lab, "a", 0),
        socket(&lab, "b", 0),
        socket(&lab, "c", 0),
    );
    let (a6, b6) = (socket(&lab, "a", 1), socket(&lab, "b", 1));
    let suffer = |host: &str, now: Impairment| lab.impair(&[(host.to_owned(), now)]).unwrap();
    let delay = |ms| Impairment {
        delay: Duration::from_millis(ms),
        ..Impairment::default()
    };
    assert!(quickest(&a, &b) < Duration::from_millis(50));

    suffer("a", delay(40));
    suffer("b", delay(20));
    for (one, other, ms) in [(&a, &b, 120), (&a6, &b6, 120), (&c, &b, 40)] {
        let took = quickest(one, other);
        assert!(took >= Duration::from_millis(ms), "{took:?}");
        assert!(took < Duration::from_millis(ms + 150), "{took:?}");
    }
    assert!(lab.delayed().unwrap().unwrap().0 > 0);
    suffer("a", Impairment::default());
    suffer("b", Impairment::default());
    assert!(quickest(&a, &b) < Duration::from_millis(50));

    let lossy = Impairment {
        loss_ppm: 500_000,
        ..Impairment::default()
    };
    suffer("a", lossy);
    let arrived = arrived_of_a_thousand(&a, &b);
    assert!((400..=600).contains(&arrived), "{arrived} of 1000 at 50 %");

    suffer(
        "a",
        Impairment {
            cut: true,
            ..Impairment::default()
        },
    );
    assert!(silent(&a, &b) && silent(&b6, &a6));
    suffer("a", Impairment::default());
    round(&a, &b);
    round(&b6, &a6);
}

#[test]
fn a_rate_is_kept() {
    let Some(lab) = lab('r', STREET) else { return };
    let slow = Impairment {
        rate_kbit: Some(8_000),
        ..Impairment::default()
    };
    lab.impair(&[("a".to_owned(), slow)]).unwrap();
    let (a, b) = (socket(&lab, "a", 0), socket(&lab, "b", 0));
    b.set_read_timeout(Some(SILENCE)).unwrap();
    let to = b.local_addr().unwrap();
    let began = Instant::now();
    let sender = thread::spawn(move || {
        while began.elapsed() < Duration::from_secs(1) {
            // A full queue is what this is about.
            let _ = a.send_to(&[0; 1_000], to);
        }
    });
    let (mut tenths, mut buffer) = ([0; 10], [0; 2_000]);
    while !sender.is_finished() {
        let Ok((bytes, _)) = b.recv_from(&mut buffer) else {
            continue;
        };
        if let Some(tenth) = tenths.get_mut(began.elapsed().as_millis() as usize / 100) {
            *tenth += bytes;
        }
    }
    sender.join().unwrap();
    // 8 Mbit/s for a second is 1,000 kB, of which some 43 bytes a packet are headers. Both sides
    // may wait for a processor now and then, but not most of the time.
    assert!(tenths.iter().sum::<usize>() < 1_100_000, "{tenths:?}");
    tenths.sort_unstable();
    assert!(tenths[5] > 80_000, "{tenths:?}");
}

#[test]
fn addresses_change_and_routers_forget() {
    let topology = format!(
        "{STREET}[networks.home]\nkind = \"cone\"\nhosts = [\"h\"]\n\
         [networks.office]\nkind = \"firewall\"\nhosts = [\"o\"]\n"
    );
    let Some(lab) = lab('m', &topology) else {
        return;
    };
    let a = socket(&lab, "a", 0);
    let seen = |from: &UdpSocket| -> SocketAddr {
        from.send_to(b"out", a.local_addr().unwrap()).unwrap();
        a.recv_from(&mut [0; 16]).unwrap().1
    };
    let home = lab
        .inside("h", || UdpSocket::bind("0.0.0.0:0"))
        .unwrap()
        .unwrap();
    let first = seen(&home);
    assert_eq!(seen(&home), first);

    lab.forget("home").unwrap();
    let second = seen(&home);
    assert_eq!(
        (second.ip(), second.port() == first.port()),
        (first.ip(), false)
    );

    let new: IpAddr = lab.readdress("home").unwrap();
    assert_ne!(new, first.ip());
    assert_eq!(seen(&home).ip(), new);
    assert_eq!(lab.public_addresses("h").unwrap(), [new]);

    let old = lab.addresses("o").unwrap();
    let new = lab.readdress("o").unwrap();
    assert!(!old.contains(&new));
    lab.readdress("office").unwrap();
    for family in 0..2 {
        let (o, b) = (socket(&lab, "o", family), socket(&lab, "b", family));
        round(&o, &b);
        assert!(
            silent(&b, &socket(&lab, "o", family)),
            "it is still a firewall"
        );
    }

    let gone = a.local_addr().unwrap().ip();
    let new = lab.readdress("a").unwrap();
    assert_ne!(new, gone);
    for family in 0..2 {
        round(&socket(&lab, "a", family), &socket(&lab, "c", family));
    }
}

/// A peer in a few lines of shell: it finds nobody by itself, it plays what a real one would tell.
fn actor(relayed_only: bool) -> Programs {
    let upgrade = if relayed_only {
        ""
    } else {
        "sleep 0.1; say connected $other false;"
    };
    let script = format!(
        r#"say() {{ echo "{{\"event\":\"$1\",\"peer\":\"$2\",\"relayed\":$3,\"ms\":1}}"; }}
        ready() {{ echo "{{\"event\":\"ready\",\"peer\":\"$1\",\"addrs\":[\"somewhere\"]}}"; }}
        echo "not an event"
        case $1 in
          relay) ready relay ;;
          wait) [ "$3" = somewhere ] || exit 1; other=dialing; ready waiting
                say connected $other true; {upgrade} ;;
          dial) [ "$5" = waiting ] || exit 1; other=waiting; ready dialing
                say connected $other true; {upgrade} ;;
        esac
        exec sleep 600"#
    );
    Programs {
        program: "/bin/sh".into(),
        words: ["-c", &script, "peer"].map(Into::into).to_vec(),
        patience: PATIENCE,
        settle: Duration::from_secs(2),
        logs: None,
    }
}

#[test]
fn two_programs_meet_and_are_ended() {
    let topology = format!(
        "{STREET}[networks.home]\nkind = \"symmetric\"\nhosts = [\"h\"]\n\
         [networks.flat]\nkind = \"cone\"\nhosts = [\"f\"]\n"
    );
    let Some(lab) = lab('x', &topology) else {
        return;
    };
    let pair = Pair {
        waiting: ("h".into(), Kind::Symmetric),
        dialing: ("f".into(), Kind::Cone),
        neighbours: false,
    };
    for (relayed_only, path) in [(false, Path::Direct), (true, Path::Relayed)] {
        let quiet = Progress::silent();
        let report = matrix::run(
            &lab,
            std::slice::from_ref(&pair),
            &actor(relayed_only),
            &quiet,
        );
        let report = report.unwrap();
        assert_eq!(report.met[0].outcome.path, path, "{}", report.lines());
        assert!(report.ok() && report.met[0].outcome.connected_ms.is_some());
    }
    let left = lab.machines().unwrap();
    assert!(
        left.iter().all(|machine| machine.processes == Some(0)),
        "{left:?}"
    );
}

#[test]
fn two_labs_live_side_by_side_and_each_removes_its_own() {
    let (Some(one), Some(other)) = (lab('y', STREET), lab('z', STREET)) else {
        return;
    };
    let (first, second) = (one.name().to_owned(), other.name().to_owned());
    assert!(
        Lab::up(
            &first,
            Topology::every_kind(),
            program(),
            &Progress::silent()
        )
        .is_err()
    );
    assert_eq!(
        namespaces(&first).len(),
        4,
        "a name that is taken changes nothing"
    );
    let mut sleeper = exec::spawn(&one, "a", Command::new("sleep").arg("600")).unwrap();
    drop(one);
    assert!(
        !sleeper.wait().unwrap().success(),
        "it was ended with its lab"
    );
    assert_eq!(namespaces(&first), Vec::<String>::new());
    assert_eq!(namespaces(&second).len(), 4);
    round(&socket(&other, "a", 0), &socket(&other, "b", 0));
    assert_eq!(
        lab::down(&first)
            .unwrap_err()
            .to_string()
            .find("there is no lab"),
        Some(0)
    );
    let panicked = thread::spawn(move || {
        assert!(other.name().is_empty(), "a panic on purpose");
    });
    assert!(panicked.join().is_err());
    assert_eq!(
        namespaces(&second),
        Vec::<String>::new(),
        "also after a panic"
    );
}

/// The laboratory, in a process of its own, with a lab up.
fn laboratory(name: &str) -> Child {
    let mut child = Command::new(program())
        .args(["lab", "up", "--name", name])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + PATIENCE;
    while Lab::open(name, program()).is_err() {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        assert!(Instant::now() < until, "lab {name} is not up");
        thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn an_interrupt_cleans_up_and_down_cleans_up_after_a_kill() {
    if let Err(error) = lab::check() {
        not_checked(&format!("{error:#}"));
        return;
    }
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let name = name('s');
        let mut child = laboratory(&name);
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(namespaces(&name), Vec::<String>::new(), "{signal}");
        assert!(!lab::names().contains(&name));
    }
    let name = name('k');
    let mut child = laboratory(&name);
    let slow = Impairment {
        delay: Duration::from_millis(1),
        ..Impairment::default()
    };
    let lab = Lab::open(&name, program()).unwrap();
    lab.impair(&[("cone".to_owned(), slow)]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let there = namespaces(&name).len();
    assert!(there > 10, "a killed laboratory cleans nothing up");
    let down = Command::new(program())
        .args(["lab", "down", "--name", &name])
        .output()
        .unwrap();
    let said = String::from_utf8(down.stdout).unwrap();
    assert!(
        said.starts_with(&format!("{name}: {there} machines removed")),
        "{said}"
    );
    assert_eq!(namespaces(&name), Vec::<String>::new());
    assert!(!lab::names().contains(&name));
}

#[test]
fn whoever_is_not_root_is_told_so() {
    if !lab::is_root() {
        let error = lab::check().unwrap_err().to_string();
        assert!(error.contains("root") && error.contains("sudo"), "{error}");
        return;
    }
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(program());
    command
        .args(["lab", "up", "--name", "nobody"])
        .uid(65_534)
        .gid(65_534);
    // The program may lie where nobody else may look.
    let Ok(output) = command.output() else {
        not_checked("the program cannot be run as another user");
        return;
    };
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("sudo"), "{said}");
}
