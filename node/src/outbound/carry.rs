//! Bytes between a job and a server, both ways, until one of the two fails, both have ended, or
//! nothing moves any more.

use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::counts::Counts;
use super::limits::{IDLE, PIECE};

/// Until when something must have moved.
struct Idle(Mutex<Instant>);

impl Idle {
    fn end(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moved(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + IDLE;
    }
}

/// See the module.
pub(super) async fn carry(job: TcpStream, server: TcpStream, counts: &Counts) -> io::Result<()> {
    let idle = Idle(Mutex::new(Instant::now() + IDLE));
    let ((from_job, to_job), (from_server, to_server)) = (job.into_split(), server.into_split());
    let up = one_way(from_job, to_server, &idle, &counts.sent);
    let down = one_way(from_server, to_job, &idle, &counts.received);
    tokio::try_join!(up, down).map(drop)
}

async fn one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    idle: &Idle,
    bytes: &AtomicU64,
) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let end = idle.end();
        let count = match timeout_at(end, from.read(&mut buffer)).await {
            Ok(count) => count?,
            // The other way was in use meanwhile.
            Err(_) if idle.end() > end => continue,
            Err(late) => return Err(late.into()),
        };
        let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else {
            return to.shutdown().await;
        };
        timeout(IDLE, to.write_all(piece)).await??;
        bytes.fetch_add(u64::try_from(count).unwrap_or(0), Relaxed);
        idle.moved();
    }
}
