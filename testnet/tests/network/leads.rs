//! Ports of the buyer's machine that lead to a job's tasks: `run --forward`, `lease connect`.

use crate::{PATIENCE, program};
use gridbay_testnet::network::cli;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Answers each connection to port 7000 with its rank.
const ANSWER: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(7000) };
    int all = socket(AF_INET, SOCK_STREAM, 0), one;
    if (bind(all, (struct sockaddr *)&at, sizeof at) || listen(all, 8)) return 1;
    while ((one = accept(all, 0, 0)) >= 0) {
        dprintf(one, "rank %s\n", getenv("GRIDBAY_RANK"));
        close(one);
    }
    return 2;
}
"#;

/// A command of the buyer, with the lines that it says beside its output.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(data: &Path, words: &[&str]) -> Running {
        let mut command = cli::command(&program(), data);
        command.args(words).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                let _gone = tell.send(line);
            }
        });
        Running { child, lines }
    }

    /// The rest of the next line that begins so.
    fn said(&self, begins: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect(begins);
            if let Some(rest) = line.strip_prefix(begins) {
                return rest.to_owned();
            }
        }
    }

    /// The port that leads to where it is asked to.
    fn port(&self, to: &str) -> u16 {
        let rest = self.said("127.0.0.1:");
        let (port, leads) = rest.split_once(' ').unwrap();
        assert_eq!(leads, format!("leads to {to}"));
        port.parse().unwrap()
    }

    fn ended_by(mut self, signal: Signal) -> Option<i32> {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

/// What comes from a port, once its program listens; `ask` is sent first.
fn heard(port: u16, ask: &[u8]) -> String {
    let begun = Instant::now();
    loop {
        let mut text = String::new();
        if let Ok(mut connection) = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            && connection.write_all(ask).is_ok()
        {
            let mut all = Vec::new();
            let _cut = connection.read_to_end(&mut all);
            text = String::from_utf8_lossy(&all).into_owned();
        }
        if text.contains("rank") {
            return text;
        }
        assert!(begun.elapsed() < PATIENCE, "nothing comes from {port}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Both commands, beside each other.
pub(crate) fn connections_lead_to_tasks(data: &Path, dir: &Path) {
    let source = dir.join("answer.c");
    std::fs::write(&source, ANSWER).unwrap();
    let answer = dir.join("answer");
    let mut build = Command::new("cc");
    build.arg("-o").arg(&answer).arg(&source);
    assert!(build.status().unwrap().success());

    let order = ["run", "-n", "2", "--max-price", "20", "--time", "200s"];
    let leads = ["--forward", "0:rank0:7000", "--forward", "0:rank1:7000"];
    let job = ["--input", answer.to_str().unwrap(), "--", "./answer"];
    let words: Vec<&str> = order.iter().chain(&leads).chain(&job).copied().collect();
    let run = Running::start(data, &words);
    let id = run.said("job ");
    let ports = [run.port("rank0:7000"), run.port("rank1:7000")];
    assert_eq!(heard(ports[0], b""), "rank 0\n");
    assert_eq!(heard(ports[1], b""), "rank 1\n");

    let words = [
        "lease",
        "connect",
        &id,
        "--forward",
        "0:rank1:7000",
        "--socks",
        "0",
    ];
    let connected = Running::start(data, &words);
    assert_eq!(heard(connected.port("rank1:7000"), b""), "rank 1\n");
    let socks = connected.port("all members, by SOCKS 5");
    // No password; connect to a name of five letters, port 7000 (RFC 1928).
    let ask = b"\x05\x01\x00\x05\x01\x00\x03\x05rank0\x1b\x58";
    assert!(heard(socks, ask).ends_with("rank 0\n"));
    // Nothing is to be ended, so the signal alone ends it. It is not SIGINT: a shell's script has
    // what it starts in the background ignore that.
    assert_eq!(connected.ended_by(Signal::SIGTERM), None);

    assert_eq!(run.ended_by(Signal::SIGINT), Some(130));
    let gone = TcpStream::connect((Ipv4Addr::LOCALHOST, ports[0]));
    assert!(gone.is_err(), "its ports go with the command");
}
