//! What the machine does alone: the limits that no ledger on it passes.

use anyhow::Context as _;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::SecretKey;
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// For each measurement.
const TIME: Duration = Duration::from_secs(1);
/// Bytes of an appended record: about a block of a hundred payments.
const RECORD: usize = 32 * 1024;
/// Bytes of a write to a socket.
const WRITE: usize = 64 * 1024;

/// The limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Machine {
    /// Cores.
    pub(crate) cores: u64,
    /// Signatures that one core checks in a second, strictly, while all others do so as well.
    pub(crate) checks_per_core: u64,
    /// Appends of 32 KiB with `fdatasync` in a second.
    pub(crate) syncs: u64,
    /// MiB a second through a TCP connection on loopback.
    pub(crate) tcp_mib: u64,
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the machine alone: {} cores, {} signatures checked a second by each, {} appends with \
             fdatasync a second, {} MiB/s by TCP on loopback",
            self.cores, self.checks_per_core, self.syncs, self.tcp_mib
        )
    }
}

impl Machine {
    /// Measures, some three seconds, on the disk of a folder.
    pub(super) fn measure(folder: &Path) -> anyhow::Result<Machine> {
        let cores = std::thread::available_parallelism()?.get();
        Ok(Machine {
            cores: cores as u64,
            checks_per_core: checks(cores),
            syncs: syncs(folder)?,
            tcp_mib: tcp()?,
        })
    }

    /// The same with the mean of its checks and those of now: a machine is not equally fast at all
    /// times.
    pub(super) fn with_checks_of_now(self) -> Machine {
        let now = checks(self.cores as usize);
        Machine {
            checks_per_core: self.checks_per_core.midpoint(now),
            ..self
        }
    }
}

/// How often a deed is done in a second.
fn rate(mut deed: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<u64> {
    let (began, mut n) = (Instant::now(), 0u64);
    while began.elapsed() < TIME {
        deed()?;
        n += 1;
    }
    Ok((n as f64 / began.elapsed().as_secs_f64()) as u64)
}

/// Signatures that each of all cores checks in a second, mean.
fn checks(cores: usize) -> u64 {
    let all: u64 = std::thread::scope(|scope| {
        let each: Vec<_> = (0..cores).map(|_| scope.spawn(checks_of_one)).collect();
        each.into_iter().map(|one| one.join().unwrap_or(0)).sum()
    });
    all / cores.max(1) as u64
}

fn checks_of_one() -> u64 {
    let key = SecretKey::from_seed(&[7; 32]);
    let (network, body, public) = (NetworkId([1; 32]), [7; 180], key.public());
    let signature = key.sign(Domain::Entry, &network, &body);
    rate(|| {
        let right = black_box(&public).verify(Domain::Entry, &network, &body, &signature);
        Ok(right?)
    })
    .unwrap_or(0)
}

fn syncs(folder: &Path) -> anyhow::Result<u64> {
    let path = folder.join("appended");
    let mut file = File::create(&path)?;
    let record = vec![7; RECORD];
    let syncs = rate(|| {
        file.write_all(&record)?;
        Ok(file.sync_data()?)
    });
    std::fs::remove_file(&path)?;
    syncs
}

fn tcp() -> anyhow::Result<u64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let reader = std::thread::spawn(move || -> anyhow::Result<()> {
        let mut stream = listener.accept()?.0;
        let mut buffer = vec![0; WRITE];
        while stream.read(&mut buffer)? > 0 {}
        Ok(())
    });
    let mut stream = TcpStream::connect(address).context("loopback")?;
    let bytes = vec![7; WRITE];
    let writes = rate(|| Ok(stream.write_all(&bytes)?))?;
    drop(stream);
    let read = reader.join();
    read.map_err(|_| anyhow::anyhow!("the reader panicked"))??;
    Ok(writes * WRITE as u64 / (1 << 20))
}
