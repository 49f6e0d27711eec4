//! A job's process in namespaces of its own, commanded by lines over its standard input.
//!
//! 1. The test starts `unshare --user --map-root-user --net` with this binary and one test's name.
//! 2. Inside, [`inside`] makes and configures the device and sends its descriptor with the line
//!    `device`.
//! 3. Then it answers each command with one line, until its standard input ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gridbay_protocol::ids::{LeaseId, NetworkId};
use gridbay_vnet::address::{INTERFACE, Plan, RankAddress};
use gridbay_vnet::{fds, tun, veth};

use crate::commands;

/// How a rank is told who it is.
const VARIABLE: &str = "GRIDBAY_TEST_RANK";
/// Longer than any command takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Tries of an echo, five a second, that should come back, and of one that should not.
const TRIES: (usize, usize) = (200, 15);

/// Past what keeps the output of tests that pass.
fn not_checked(why: &str) {
    let _ = writeln!(std::io::stderr().lock(), "NOT CHECKED: {why}");
}

/// The network of all tests.
pub(crate) fn network() -> NetworkId {
    NetworkId([7; 32])
}

/// A lease by one byte.
pub(crate) fn lease(byte: u8) -> LeaseId {
    LeaseId([byte; 32])
}

/// What a rank's device is.
#[derive(Clone, Copy)]
pub(crate) enum Link {
    Tun,
    Veth,
}

/// A running rank.
pub(crate) struct Rank {
    child: Child,
    control: BufReader<UnixStream>,
    /// Its addresses.
    pub(crate) address: RankAddress,
    /// Its device, until a test takes it.
    pub(crate) device: Option<OwnedFd>,
}

impl Rank {
    /// Starts a rank of a lease; none, with a note, where this machine has no devices for users.
    pub(crate) fn start(lease_byte: u8, rank: u32) -> Option<Rank> {
        Rank::start_by(Link::Tun, lease_byte, rank)
    }

    /// The same with that kind of device.
    pub(crate) fn start_by(link: Link, lease_byte: u8, rank: u32) -> Option<Rank> {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        ours.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let child = Command::new("unshare")
            .args(["--user", "--map-root-user", "--net"])
            .arg(std::env::current_exe().expect("this binary"))
            .args(["--exact", "the_inside_of_a_rank", "--nocapture"])
            .env(VARIABLE, format!("{lease_byte} {rank} {}", link as u32))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn();
        let Ok(mut child) = child else {
            not_checked("there is no unshare");
            return None;
        };
        let mut line = [0; 256];
        let (bytes, mut fds) = fds::recv(&ours, &mut line).expect("the rank says something");
        if &line[..bytes] != b"device\n" {
            child.wait().ok();
            let why = String::from_utf8_lossy(&line[..bytes]);
            not_checked(&format!("no device in a namespace of one's own: {why}"));
            return None;
        }
        Some(Rank {
            child,
            control: BufReader::new(ours),
            address: Plan::new(&network(), &lease(lease_byte))
                .rank(rank)
                .expect("a rank"),
            device: fds.pop(),
        })
    }

    /// Executes a command, and returns its answer.
    pub(crate) fn ask(&mut self, command: &str) -> String {
        writeln!(self.control.get_ref(), "{command}").expect("the rank listens");
        let mut line = String::new();
        self.control.read_line(&mut line).expect("the rank answers");
        line.trim_end().to_owned()
    }

    /// Whether a datagram to an address comes back, of several that are sent.
    pub(crate) fn reaches(&mut self, address: impl std::fmt::Display) -> bool {
        self.ask(&format!("echo {address} {}", TRIES.0)) == "yes"
    }

    /// Whether none comes back, of some.
    pub(crate) fn misses(&mut self, address: impl std::fmt::Display) -> bool {
        self.ask(&format!("echo {address} {}", TRIES.1)) == "no"
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        self.control
            .get_ref()
            .shutdown(std::net::Shutdown::Both)
            .ok();
        self.child.wait().ok();
    }
}

/// Inside the namespaces.
pub(crate) fn inside() {
    let Ok(text) = std::env::var(VARIABLE) else {
        return;
    };
    let mut numbers = text
        .split(' ')
        .map(|word| word.parse::<u32>().expect("a number"));
    let byte = numbers.next().expect("a lease") as u8;
    let rank = numbers.next().expect("a rank");
    let stdin = std::io::stdin();
    let control = UnixStream::from(stdin.as_fd().try_clone_to_owned().expect("a copy"));
    let link = match numbers.next() {
        Some(1) => Link::Veth,
        _ => Link::Tun,
    };
    match device(link, byte, rank) {
        Ok(device) => fds::send(&control, b"device\n", &[device.as_fd()]).expect("hands it over"),
        Err(error) => {
            writeln!(&control, "{error}").expect("the test listens");
            return;
        }
    }
    commands::serve();
    let mut line = String::new();
    let mut commands = BufReader::new(control.try_clone().expect("a copy"));
    while commands.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        let answer = commands::execute(line.trim_end());
        writeln!(&control, "{answer}").expect("the test listens");
        line.clear();
    }
}

fn device(link: Link, byte: u8, rank: u32) -> std::io::Result<OwnedFd> {
    let plan = Plan::new(&network(), &lease(byte));
    let device = match link {
        Link::Tun => tun::open(INTERFACE)?,
        Link::Veth => veth::open(INTERFACE)?,
    };
    let interface = tun::Interface::of(INTERFACE, &plan, rank).expect("a rank");
    tun::configure(&interface)?;
    tun::loopback_up()?;
    Ok(device)
}
