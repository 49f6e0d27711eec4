//! A cluster that its owner holds, on real nodes without privilege, by the command line: programs,
//! a terminal, files, cuts, guests, jobs, its end.

mod cut;
mod lease;
mod terminal;

use crate::cluster::{no_device, skip};
use crate::{PATIENCE, program, turn};
use gridbay_node::api::types::ClusterRecord;
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Plan, RunFolder, cli};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use terminal::Terminal;

/// Bytes of the file that is put and fetched.
const BYTES: usize = 64 << 20;

/// The buyer's command line.
struct Owner {
    data: PathBuf,
}

impl Owner {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = cli::command(&program(), &self.data);
        command.args(words).stdin(Stdio::null());
        command
    }

    fn output(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// What a command prints, which must end well.
    fn said(&self, words: &[&str]) -> String {
        let done = self.output(words);
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{words:?}: {err}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn code(&self, words: &[&str]) -> Option<i32> {
        self.output(words).status.code()
    }
}

/// A cluster of four nodes that runs, won by a bid.
fn begun(owner: &Owner) -> ClusterRecord {
    let some = ["cluster", "new", "--array", "4", "--class", "small"];
    assert_eq!(owner.code(&some), Some(2), "all its nodes or none");
    let what = [
        "-n",
        "4",
        "--time",
        "10m",
        "--class",
        "small",
        "--max-price",
        "20",
    ];
    let begun = owner.output(&[&["-o", "json", "cluster", "new"], what.as_slice()].concat());
    let told = String::from_utf8_lossy(&begun.stderr);
    assert!(begun.status.success(), "{told}");
    assert!(told.contains("--buy holds what it has got"), "{told}");
    serde_json::from_slice(&begun.stdout).unwrap()
}

fn wait(mut child: Child) -> Option<i32> {
    child.wait().unwrap().code()
}

fn programs(owner: &Owner, id: &str) {
    let out = owner.output(&[
        "cluster",
        "exec",
        id,
        "--all",
        "--",
        "sh",
        "-c",
        "echo $GRIDBAY_RANK; exit $GRIDBAY_RANK",
    ]);
    let mut lines: Vec<String> = String::from_utf8(out.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    assert_eq!(lines, ["0: 0", "1: 1", "2: 2", "3: 3"]);
    assert_eq!(
        out.status.code(),
        Some(1),
        "of the first rank that did not end with 0"
    );
    let words = [
        "cluster",
        "exec",
        id,
        "--rank",
        "2",
        "--",
        "sh",
        "-c",
        "cat; echo bad >&2; exit 7",
    ];
    let mut cat = owner.command(&words);
    let pipes = cat
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut cat = pipes.spawn().unwrap();
    cat.stdin.take().unwrap().write_all(b"some input").unwrap();
    let done = cat.wait_with_output().unwrap();
    assert_eq!(
        (done.stdout.as_slice(), done.stderr.as_slice()),
        (&b"some input"[..], &b"bad\n"[..])
    );
    assert_eq!(done.status.code(), Some(7));
    assert_eq!(
        owner.code(&["cluster", "exec", id, "--", "no-such-program"]),
        Some(127)
    );
    assert_eq!(
        owner.code(&["cluster", "exec", id, "--rank", "4", "--", "true"]),
        Some(3)
    );
    let sleeper = owner
        .command(&["cluster", "exec", id, "--rank", "3", "--", "sleep", "600"])
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !owner.said(&["cluster", "ps", id]).contains("sleep 600") {
        assert!(begin.elapsed() < PATIENCE);
    }
    assert!(
        owner
            .said(&["cluster", "stop", id, "--rank", "3"])
            .contains("ended 1")
    );
    assert_eq!(wait(sleeper), Some(128 + 15));
}

fn shell(owner: &Owner, id: &str) {
    let (mut terminal, programs) = Terminal::new(33, 99);
    let mut command = owner.command(&["cluster", "shell", id, "--rank", "1", "sh"]);
    command.stdin(programs.try_clone().unwrap());
    command.stdout(programs.try_clone().unwrap());
    let child = command
        .stderr(programs.try_clone().unwrap())
        .spawn()
        .unwrap();
    terminal.keys("stty size\n");
    terminal.until("33 99");
    terminal.resize(44, 120);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGWINCH).unwrap();
    // The words are put together by the shell, so that the echo of the line does not have them.
    terminal.keys("sleep 0.5; stty size; echo sle''eps; sleep 600; echo en''ded $?\n");
    terminal.until("44 120");
    terminal.until("sleeps");
    terminal.keys("\x03");
    terminal.keys("echo af''ter; tty\n");
    terminal.until("after");
    terminal.until("/dev/pts/");
    terminal.keys("exit 7\n");
    assert_eq!(wait(child), Some(7));
    let settings = Command::new("stty")
        .args(["-F", terminal.name.to_str().unwrap(), "-a"])
        .output();
    let settings = String::from_utf8(settings.unwrap().stdout).unwrap();
    assert!(
        settings.contains(" icanon") && settings.contains(" echo "),
        "{settings}"
    );
}

fn files(owner: &Owner, id: &str, dir: &Path) {
    let (from, back) = (dir.join("from"), dir.join("back"));
    fs::create_dir(&from).unwrap();
    let bytes: Vec<u8> = (0..BYTES).map(|n| (n * n / 7) as u8).collect();
    fs::write(from.join("large"), &bytes).unwrap();
    fs::set_permissions(from.join("large"), fs::Permissions::from_mode(0o750)).unwrap();
    let sum = |path: &str, ranks: &[&str]| {
        let words = [
            &["cluster", "exec", id][..],
            ranks,
            &["--", "sha256sum", path],
        ]
        .concat();
        owner.said(&words)
    };
    let local = Command::new("sha256sum").arg(from.join("large")).output();
    let local = String::from_utf8(local.unwrap().stdout).unwrap()[..64].to_owned();
    owner.said(&["cluster", "put", id, from.to_str().unwrap(), "3:there"]);
    assert!(sum("there/large", &["--rank", "3"]).contains(&local));
    owner.said(&["cluster", "get", id, "rank3:there", back.to_str().unwrap()]);
    let small = from.join("small");
    fs::write(&small, "small").unwrap();
    owner.said(&["cluster", "put", id, small.to_str().unwrap(), "in/"]);
    assert_eq!(sum("in/small", &["--all"]).lines().count(), 4);
    let got = back.join("there/large");
    assert!(fs::read(&got).unwrap() == bytes);
    assert_eq!(
        fs::metadata(got).unwrap().permissions().mode() & 0o777,
        0o750
    );
    assert_eq!(
        owner.code(&["cluster", "get", id, "0:../x", back.to_str().unwrap()]),
        Some(2)
    );
}

/// Another user's node is admitted, comes into the network, runs programs, and is dismissed.
fn guests(owner: &Owner, other: &Owner, id: &str, lease: &str) {
    let key = other.said(&["cluster", "key"]);
    let key = key.trim();
    let stranger = ["cluster", "exec", lease, "--", "true"];
    assert_eq!(other.code(&stranger), Some(7), "it is no member");
    assert!(
        owner
            .said(&["cluster", "admit", id, key, "--name", "bea"])
            .contains("bea")
    );
    let show = owner.said(&["cluster", "show", id]);
    assert!(show.contains(key));
    let enter = show.lines().find(|line| line.contains("cluster enter"));
    let enter: Vec<&str> = enter.unwrap().split_whitespace().skip(2).collect();
    assert!(other.said(&enter).contains(lease));
    let hello = [
        "cluster", "exec", lease, "--rank", "1", "--", "echo", "hello",
    ];
    assert_eq!(other.said(&hello), "hello\n");
    let all = other.said(&["cluster", "exec", lease, "--all", "--", "echo", "x"]);
    assert_eq!(all.lines().count(), 4, "{all}");
    other.said(&["cluster", "ps", lease]);
    let nameless = ["cluster", "admit", id, key, "--name", ""];
    assert_ne!(owner.code(&nameless), Some(0), "ranks would refuse it");
    let begin = Instant::now();
    // Members tell every ten seconds how they reach the others.
    loop {
        let net = owner.said(&["lease", "net", id]);
        if net.contains("guest1") {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "no guest in {net}");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(!owner.said(&["cluster", "dismiss", id, key]).contains("bea"));
    // Its node hears of it when it asks for its place again; until then no rank answers it.
    let begin = Instant::now();
    while other.code(&hello) != Some(9) {
        assert!(
            begin.elapsed() < PATIENCE,
            "it is not told that it was dismissed"
        );
    }
    assert_ne!(other.code(&enter), Some(0), "nor does it become one again");
}

/// A job goes to the cluster instead of the market.
fn jobs(owner: &Owner, id: &str, dir: &Path) {
    let (input, dest) = (dir.join("words"), dir.join("dest"));
    fs::write(&input, "some words\n").unwrap();
    let input = format!("{}:in/words", input.display());
    let script = "wc -w < in/words > out.txt; echo $GRIDBAY_RANK";
    let to = dest.to_str().unwrap();
    let words = [
        "run",
        "--cluster",
        id,
        "--input",
        &input,
        "--output",
        "out.txt",
        "--dest",
        to,
        "--",
        "sh",
        "-c",
        script,
    ];
    let text = owner.said(&words);
    assert_eq!(text.lines().count(), 4);
    for rank in 0..4 {
        let out = fs::read_to_string(dest.join(format!("rank{rank}/out.txt"))).unwrap();
        assert_eq!(out.trim(), "2");
    }
    let script = "for r in 0 1 2 3; do $GRIDBAY_EXEC rank$r 'echo $(uname -n)'; done; exit 4";
    let done = owner.output(&["run", "--cluster", id, "--hosts", "--", "sh", "-c", script]);
    let err = String::from_utf8_lossy(&done.stderr);
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        "rank0\nrank1\nrank2\nrank3\n",
        "{err}"
    );
    assert_eq!(done.status.code(), Some(4), "{err}");
    let left = owner.said(&["cluster", "exec", id, "--", "ls"]);
    assert!(!left.contains("run-"), "{left}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_held_by_its_owner() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    if let Some(why) = no_device(dir.path()) {
        return skip(&format!("jobs have no device here: {why}"));
    }
    let folder = RunFolder::create_in(dir.path(), "held").unwrap();
    let data = |node: &str| Owner {
        data: folder.data(node),
    };
    let owner = data("b1");
    let others = ["v1", "v2", "v3", "v4"].map(|name| (name, data(name)));
    let quiet = Progress::silent();
    let plan = Plan::local("held", 4, 1);
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    let mut network = started.await.unwrap();

    let cluster = begun(&owner);
    assert!(cluster.ranks.iter().all(|rank| rank.running) && cluster.size == 4);
    let serves = |name: &str| {
        let mut sellers = cluster.ranks.iter().flat_map(|r| r.seller.as_deref());
        sellers.any(|seller| seller == name)
    };
    let other = others.into_iter().find(|(name, _)| !serves(name));
    let (_, other) = other.expect("a node that serves no rank");
    let id = cluster.id.to_string();
    assert!(owner.said(&["cluster", "list"]).contains(&id));
    lease::told(&owner, &cluster);
    programs(&owner, &id);
    shell(&owner, &id);
    files(&owner, &id, dir.path());
    jobs(&owner, &id, dir.path());
    guests(&owner, &other, &id, &cluster.lease.unwrap().to_hex());
    cut::cut(&mut network, &owner, &id, dir.path());
    let mut members: Vec<&str> = cluster
        .ranks
        .iter()
        .filter_map(|r| r.seller.as_deref())
        .collect();
    members.push("b1");
    lease::in_networks(&network, &members, 1).await;
    owner.said(&["cluster", "end", &id]);
    let begin = Instant::now();
    while owner.said(&["cluster", "list"]).contains(&id) {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(owner.code(&["cluster", "exec", &id, "--", "true"]), Some(3));
    lease::in_networks(&network, &members, 0).await;
    let show = owner.said(&["job", "show", &id]);
    assert!(show.contains("members reached one another"), "{show}");
    network.stop().unwrap();
}
