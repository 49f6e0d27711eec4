//! The way of jobs to the web: a proxy for HTTP at the node, for jobs that asked for it at a seller
//! whose owner allows it.
//!
//! 1. A job has no route out of its network namespace. Its supervisor hands the node a socket that
//!    listens on the job's loopback; variables tell the job's programs of it.
//! 2. The node takes connections there, so many at a time (`limits`), and reads one request of
//!    each (`request`).
//! 3. The node looks the name up itself, and keeps of its addresses those that a job may reach
//!    (`rule`). It connects to one of these, and looks nothing up again.
//! 4. Bytes are carried both ways (`carry`). What is refused is answered and counted.
//! 5. All of it ends with the job.

mod carry;
mod counts;
mod limits;
mod refusal;
mod request;
mod rule;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::executor::Outbound;
pub(crate) use counts::Counts;
use limits::{
    ANSWER_TIME, CONNECT_TIME, COUNTS_FOR, HEAD, HEAD_TIME, LOOKUP_TIME, LOOKUPS, LOOKUPS_PER_JOB,
    PAUSE, PER_JOB, PER_NODE, TRIES,
};
use refusal::Refusal;
use request::{Host, Request};
use rule::Near;

/// The outside, as the node sees it; tests have one of their own.
trait Outside: Send + Sync {
    /// The addresses of a name. Blocks.
    fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>>;
    /// Whether a port may be reached.
    fn has_port(&self, port: u16) -> bool;
    /// Those of the addresses that may be reached, in their order.
    fn reachable(&self, all: Vec<IpAddr>) -> Vec<IpAddr>;
}

/// The internet beyond a machine with these addresses.
struct Internet<F>(F);

impl<F: Fn() -> Vec<IpAddr> + Send + Sync> Outside for Internet<F> {
    fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // With the point, no name of this site is tried.
        let found = (format!("{name}.").as_str(), 0).to_socket_addrs()?;
        Ok(found.map(|at| at.ip()).collect())
    }

    fn has_port(&self, port: u16) -> bool {
        matches!(port, 80 | 443)
    }

    fn reachable(&self, all: Vec<IpAddr>) -> Vec<IpAddr> {
        // Asked each time: a machine moves.
        match Near::now(&self.0()) {
            Ok(near) => all.into_iter().filter(|ip| near.allows(*ip)).collect(),
            Err(error) => {
                tracing::warn!(%error, "this machine's networks are unknown, so no job gets out");
                Vec::new()
            }
        }
    }
}

/// The way of jobs to the web. Cheap to clone.
#[derive(Clone)]
pub struct Gateway(Arc<Shared>);

struct Shared {
    open: bool,
    outside: Arc<dyn Outside>,
    counts: Counts,
    connections: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
}

/// The service of one job; ends when it is dropped.
#[derive(Debug)]
pub struct Service(JoinHandle<()>);

impl Drop for Service {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Gateway {
    /// By the owner's word, at a machine that is reached at these addresses.
    pub fn new(
        outbound: Outbound,
        own: impl Fn() -> Vec<IpAddr> + Send + Sync + 'static,
    ) -> Gateway {
        Gateway::to(outbound == Outbound::Web, Arc::new(Internet(own)))
    }

    fn to(open: bool, outside: Arc<dyn Outside>) -> Gateway {
        Gateway(Arc::new(Shared {
            open,
            outside,
            counts: Counts::default(),
            connections: Arc::new(Semaphore::new(PER_NODE)),
            lookups: Arc::new(Semaphore::new(LOOKUPS)),
        }))
    }

    /// What came of it all.
    pub(crate) fn counts(&self) -> &Counts {
        &self.0.counts
    }

    /// Serves the connections that arrive at a job's socket, until the answer is dropped. Where the
    /// owner lets no job out, each is told so. Needs a tokio runtime.
    pub fn serve(&self, socket: OwnedFd) -> Option<Service> {
        let listener = StdListener::from(socket);
        let listener = listener
            .set_nonblocking(true)
            .and_then(|()| TcpListener::from_std(listener));
        let listener =
            listener.inspect_err(|error| tracing::warn!(%error, "a job without the web"));
        let serving = accept(Arc::clone(&self.0), listener.ok()?);
        Some(Service(tokio::spawn(serving)))
    }
}

/// Takes connections. Dropped, it ends those that it took.
async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    let (slots, lookups) = (
        Arc::new(Semaphore::new(PER_JOB)),
        Arc::new(Semaphore::new(LOOKUPS_PER_JOB)),
    );
    let mut tasks = JoinSet::new();
    // Further connections wait in the kernel, in the job's own queue.
    while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
        while tasks.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((job, _)) => {
                let (shared, lookups) = (Arc::clone(&shared), Arc::clone(&lookups));
                tasks.spawn(async move {
                    let until = Instant::now() + COUNTS_FOR;
                    connection(&shared, &lookups, job).await;
                    sleep_until(until).await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a job's connection is not taken");
                sleep(PAUSE).await;
            }
        }
    }
}

/// One connection of a job, from its request to its end.
async fn connection(shared: &Shared, lookups: &Arc<Semaphore>, mut job: TcpStream) {
    let Ok(_place) = shared.connections.try_acquire() else {
        return refuse(shared, &mut job, Refusal::Busy).await;
    };
    let begun = async {
        let (request, early) = read(&mut job).await?;
        let mut server = reach(shared, lookups, &request).await?;
        let hello = request.head.as_deref().unwrap_or_default().as_bytes();
        let told = async {
            server.write_all(hello).await?;
            server.write_all(&early).await
        };
        let told = timeout(ANSWER_TIME, told).await;
        let bytes = u64::try_from(hello.len().saturating_add(early.len())).unwrap_or(0);
        shared.counts.sent.fetch_add(bytes, Relaxed);
        told.map_err(io::Error::from)
            .flatten()
            .map_err(|_| Refusal::Unreachable)?;
        Ok((request, server))
    };
    match begun.await {
        Ok((request, server)) => {
            shared.counts.connections.fetch_add(1, Relaxed);
            let connected = b"HTTP/1.1 200 Connection established\r\n\r\n";
            let is_told = request.head.is_some() || answer(&mut job, connected).await;
            if is_told && let Err(error) = carry::carry(job, server, &shared.counts).await {
                tracing::trace!(%error, "a connection to the web broke");
            }
        }
        Err(why) => refuse(shared, &mut job, why).await,
    }
}

async fn refuse(shared: &Shared, job: &mut TcpStream, why: Refusal) {
    shared.counts.refuse(why);
    answer(job, why.answer().as_bytes()).await;
}

async fn answer(job: &mut TcpStream, text: &[u8]) -> bool {
    matches!(timeout(ANSWER_TIME, job.write_all(text)).await, Ok(Ok(())))
}

/// The request, and what came behind its head.
async fn read(job: &mut TcpStream) -> Result<(Request, Vec<u8>), Refusal> {
    let mut bytes = Vec::new();
    let whole = async {
        loop {
            if let Some(end) = request::length(&bytes) {
                let early = bytes.split_off(end);
                return Ok((request::parse(&bytes)?, early));
            }
            let left = HEAD.saturating_sub(bytes.len());
            if left == 0 {
                return Err(Refusal::Large);
            }
            let limit = u64::try_from(left).unwrap_or(0);
            match (&mut *job).take(limit).read_buf(&mut bytes).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Err(Refusal::Malformed),
            }
        }
    };
    timeout(HEAD_TIME, whole)
        .await
        .unwrap_or(Err(Refusal::Late))
}

/// A connection to where a request leads, if it may.
async fn reach(
    shared: &Shared,
    lookups: &Arc<Semaphore>,
    request: &Request,
) -> Result<TcpStream, Refusal> {
    if !shared.open {
        return Err(Refusal::Policy);
    }
    if !shared.outside.has_port(request.port) {
        return Err(Refusal::Port);
    }
    let all = match &request.host {
        Host::Ip(ip) => vec![*ip],
        Host::Name(name) => {
            let found = timeout(LOOKUP_TIME, look_up(shared, lookups, name.clone())).await;
            let found = found.ok().flatten().filter(|found| !found.is_empty());
            found.ok_or(Refusal::Unknown)?
        }
    };
    let may = shared.outside.reachable(all);
    if may.is_empty() {
        return Err(Refusal::Address);
    }
    for ip in may.into_iter().take(TRIES) {
        let at = SocketAddr::new(ip, request.port);
        if let Ok(Ok(server)) = timeout(CONNECT_TIME, TcpStream::connect(at)).await {
            // Small packets wait for nothing; a socket that cannot do that works all the same.
            let _ = server.set_nodelay(true);
            return Ok(server);
        }
    }
    Err(Refusal::Unreachable)
}

/// The addresses of a name. The places are kept until the resolver has answered, also when nobody
/// waits for it any more.
async fn look_up(shared: &Shared, own: &Arc<Semaphore>, name: String) -> Option<Vec<IpAddr>> {
    let own = Arc::clone(own).acquire_owned().await.ok()?;
    let place = Arc::clone(&shared.lookups).acquire_owned().await.ok()?;
    let outside = Arc::clone(&shared.outside);
    let found = tokio::task::spawn_blocking(move || {
        let found = outside.look_up(&name);
        drop((own, place));
        found
    });
    found.await.ok()?.ok()
}
