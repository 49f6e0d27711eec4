//! The other end of a rank of a held cluster: whoever commands it.
//!
//! The way to a rank is a [`Connector`]: the node's API in the product, loopback in tests. After a
//! cut the connection is made again, and what was under way goes on ([`program`], [`files`]).

pub(crate) mod files;
pub(crate) mod program;

use std::thread;
use std::time::{Duration, Instant};

use super::order::{Answer, Command, KEEP, Refusal, Why};
use super::wire::{Wire, read_line};
use crate::api::{ApiError, ErrorCode};

/// Time for an answer to begin.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two attempts to connect again.
const AGAIN: Duration = Duration::from_millis(300);

/// The way to the ranks of one cluster.
pub(crate) trait Connector: Send + Sync + 'static {
    /// A connection.
    type Conn: Wire;
    /// Gives a rank an order: a connection from which the answer is read next.
    fn give(&self, rank: u32, order: &Command) -> Result<Self::Conn, ApiError>;
}

/// Gives an order: the answer, and the connection behind it.
pub(crate) fn ask<C: Connector>(
    to: &C,
    rank: u32,
    order: &Command,
) -> Result<(C::Conn, Answer), ApiError> {
    let more = match order {
        Command::Stop { grace, .. } => Duration::from_secs((*grace).into()),
        _ => Duration::ZERO,
    };
    let mut connection = to.give(rank, order)?;
    let broken = |e: std::io::Error| unreachable(rank, &e.to_string());
    connection
        .bound(Some(PATIENCE + more), Some(PATIENCE))
        .map_err(broken)?;
    match read_line(&mut connection).map_err(broken)? {
        Answer::Refused(refusal) => Err(refused(rank, refusal)),
        answer => Ok((connection, answer)),
    }
}

/// Does something that ends when a connection is cut, again and again: until it is done, fails in
/// another way, or nothing is heard of the rank for as long as that keeps what was begun. `notice`
/// is told in words.
fn persist<T>(
    rank: u32,
    notice: &(impl Fn(&str) + ?Sized),
    mut work: impl FnMut(&dyn Fn()) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    let mut since: Option<Instant> = None;
    loop {
        let heard = std::cell::Cell::new(false);
        let cut = match work(&|| heard.set(true)) {
            Err(error) if error.code == ErrorCode::Unreachable => error,
            done => return done,
        };
        if heard.get() {
            since = None;
        }
        let begin = *since.get_or_insert_with(|| {
            notice(&format!(
                "the connection to rank {rank} was cut; trying again"
            ));
            Instant::now()
        });
        if begin.elapsed() > KEEP {
            return Err(cut);
        }
        thread::sleep(AGAIN);
    }
}

fn unreachable(rank: u32, why: &str) -> ApiError {
    ApiError::new(
        ErrorCode::Unreachable,
        format!("rank {rank} broke off: {why}"),
        "see gridbay cluster show",
    )
}

/// An answer that does not fit the order.
fn odd(rank: u32, answer: &Answer) -> ApiError {
    let why = format!("rank {rank} answered with {answer:?}");
    ApiError::new(ErrorCode::Internal, why, "try again")
}

fn refused(rank: u32, refusal: Refusal) -> ApiError {
    let (code, hint) = match refusal.kind {
        Why::Forbidden => (
            ErrorCode::Refused,
            "ask the cluster's owner: gridbay cluster admit",
        ),
        Why::NotFound => (ErrorCode::NotFound, "see gridbay cluster ps"),
        Why::Invalid => (ErrorCode::Usage, "see gridbay cluster --help"),
        Why::Busy => (ErrorCode::Busy, "end something: gridbay cluster stop"),
        Why::Failed => (ErrorCode::Refused, "see what the rank says"),
        Why::Unreachable => (ErrorCode::Unreachable, "see gridbay cluster show"),
    };
    ApiError::new(code, format!("rank {rank}: {}", refusal.why), hint)
}

#[cfg(test)]
mod tests;
