//! A long and lossy way: a round trip of 20 ms, 1 % of the packets of each direction lost, and
//! 200 Mbit/s.
//!
//! 1. Two public hosts of a lab ([`crate::lab`]), whose cables delay, lose and are slow.
//! 2. In each round one flow with BBR over the link itself, and one through our data plane.

use super::figures::median_of;
use super::part::{Report, WORD, inner};
use super::stage::{Process, start_inside};
use crate::lab::{Impairment, Lab, Topology, exec};
use crate::say::Progress;
use anyhow::Context as _;
use serde::Serialize;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The hosts, each with a cable of its own.
const HOSTS: [&str; 2] = ["left", "right"];
const TOPOLOGY: &str = "[networks.street]\nkind = \"open\"\nhosts = [\"left\", \"right\"]\n";
/// Of each of the two cables: half the delay of a direction, and half of its loss.
const CABLE: (Duration, u32, u32) = (Duration::from_millis(5), 5_000, 200_000);
const CONGESTION: &str = "bbr";
const KNOWN: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Medians of the flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Lossy {
    /// Over the link itself.
    pub(crate) link_mbit: f64,
    /// Through our data plane.
    pub(crate) ours_mbit: f64,
}

impl Lossy {
    /// Ours by the link's.
    pub(crate) fn share(&self) -> f64 {
        self.ours_mbit / self.link_mbit
    }
}

impl fmt::Display for Lossy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.share() * 100.0;
        write!(
            f,
            "20 ms and 1 % loss, BBR: {:.0} of the link's {:.0} Mbit/s, {share:.0} %",
            self.ours_mbit, self.link_mbit
        )
    }
}

/// Why it cannot be measured here.
pub(super) fn missing() -> Option<&'static str> {
    let known = std::fs::read_to_string(KNOWN).unwrap_or_default();
    if !known.split_whitespace().any(|name| name == CONGESTION) {
        return Some("BBR");
    }
    crate::lab::check().err().map(|_| "a lab")
}

/// Measures.
pub(super) fn run(
    program: &Path,
    rounds: usize,
    flow: Duration,
    progress: &Progress,
) -> anyhow::Result<Lossy> {
    let name = format!("gbl{}", std::process::id() % 1_000_000);
    let topology = Topology::parse(TOPOLOGY)?;
    let lab = Lab::up(&name, topology, program.to_owned(), &Progress::silent())?;
    let (delay, loss_ppm, rate) = CABLE;
    let cable = Impairment {
        delay,
        loss_ppm,
        rate_kbit: Some(rate),
        ..Impairment::default()
    };
    lab.impair(&HOSTS.map(|host| (host.to_owned(), cable)))?;
    let (mut link, mut ours) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        link.push(one(&lab, program, false, flow)?);
        ours.push(one(&lab, program, true, flow)?);
        let (link, ours) = (link[round - 1], ours[round - 1]);
        progress.tell(&format!(
            "round {round}: lossy, link {link:.0}, gridbay {ours:.0} Mbit/s"
        ));
    }
    Ok(Lossy {
        link_mbit: median_of(link),
        ours_mbit: median_of(ours),
    })
}

/// One flow.
fn one(lab: &Lab, program: &Path, tunnel: bool, flow: Duration) -> anyhow::Result<f64> {
    let address = |host| -> anyhow::Result<IpAddr> {
        let all = lab.addresses(host)?;
        all.into_iter().find(IpAddr::is_ipv4).context("an address")
    };
    let outer = [address(HOSTS[0])?, address(HOSTS[1])?];
    let part = |words: &[&str]| {
        let mut command = Command::new(program);
        command.arg(WORD).args(words);
        command
    };
    let mut running: Vec<Process> = Vec::new();
    let mut to = outer[1];
    if tunnel {
        for end in 0..2 {
            let [own, other] = [outer[end].to_string(), outer[1 - end].to_string()];
            let mut plane = part(&["plane", &end.to_string(), &own, &other]);
            running.push(start_inside(lab, HOSTS[end], &mut plane)?);
        }
        to = inner(1).v4.into();
    }
    running.push(start_inside(lab, HOSTS[1], &mut part(&["sink"]))?);
    let seconds = flow.as_secs().to_string();
    let mut source = part(&["flow", &to.to_string(), CONGESTION, &seconds]);
    source.stdin(Stdio::null()).stdout(Stdio::piped());
    let source = exec::spawn(lab, HOSTS[0], &mut source)?;
    let output = source.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let report = text.lines().find_map(|line| line.strip_prefix("report "));
    let report: Report =
        serde_json::from_str(report.context("the source ended without a report")?)?;
    drop(running);
    Ok(report.mbit())
}
