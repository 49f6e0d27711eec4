//! Looks at the node once a second and keeps what changed, for as long as anybody reads.
//!
//! The first reader starts the looks. They go on for [`LINGER`] after the last one is gone, so that
//! a reader who comes back finds what it missed; then all is forgotten.

use super::buffer::KEPT;
use super::kept::{Kept, Reader};
use super::looks::{Look, changes};
use crate::api::types::{AuctionSummary, JobRecord, Movement};
use crate::api::{Answer, Bearer, ErrorCode};
use crate::backend::failure::internal;
use crate::backend::{Node, NodeBackend};
use crate::keys::random;
use gridbay_protocol::ids::to_hex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// How long events are kept without a reader.
const LINGER: Duration = Duration::from_secs(300);
/// Auctions and movements of money that one look sees, unless more are news.
const SEEN: usize = 200;
/// The same if more are news. With one more than are kept, readers are told that they missed some.
const MOST: usize = KEPT + 1;
/// Jobs that one look sees although they have ended: more than come and end in a second.
const NEWEST: usize = 64;

/// A reader who has seen the event `id`: see [`Kept::reader`].
pub(super) async fn read(
    node: &Node,
    bearer: Option<&Bearer>,
    id: Option<&str>,
) -> Answer<(Reader, Option<String>)> {
    let kept = &node.events;
    let permit = kept.permit(bearer)?;
    if !kept.is_kept() {
        let first = look(node, None).await?;
        let fresh = random().map_err(|error| internal("no fresh randomness", error))?;
        if kept.begin(to_hex(&fresh[..8])) {
            tokio::spawn(attend(kept.clone(), Arc::clone(node), first));
        }
    }
    Ok(kept.reader(permit, id))
}

/// Looks until nobody has read for a while.
async fn attend(kept: Kept, node: Node, mut seen: Look) {
    let mut read = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        if kept.is_read() {
            read = Instant::now();
        }
        if read.elapsed() >= LINGER && kept.forget() {
            return;
        }
        // What cannot be told now is told by a later look.
        let Ok(now) = look(&node, Some(&seen)).await else {
            continue;
        };
        let events = changes(&seen, &now);
        seen = now;
        if !events.is_empty() {
            kept.push(&events);
        }
    }
}

/// A look at what events tell of: of jobs the newest, since one may come and end between two looks,
/// and all that are open. Those of `seen` that have ended are looked up by their ids.
async fn look(node: &NodeBackend, seen: Option<&Look>) -> Answer<Look> {
    let by_id = |job: JobRecord| (job.id.to_string(), job);
    let (_, newest) = node.some_jobs(true, 0, NEWEST).await?;
    let mut jobs: BTreeMap<_, _> = newest.into_iter().map(by_id).collect();
    jobs.extend(node.jobs(false).await?.into_iter().map(by_id));
    let before = seen.into_iter().flat_map(|seen| seen.jobs.values());
    let before = before.filter(|job| !job.state.is_final());
    let ended: Vec<_> = before
        .filter(|job| !jobs.contains_key(job.id.as_str()))
        .collect();
    for job in ended {
        if let Ok(record) = node.job(job.id.clone()).await {
            jobs.extend([by_id(record)]);
        }
    }
    let leases = node.leases().await?.into_iter();
    let is_news = |movement: &Movement| seen.is_some_and(|seen| seen.is_before(movement));
    let movements = latest(|most| node.history(None, most), is_news).await;
    let is_new = |auction: &AuctionSummary| seen.is_some_and(|seen| !seen.knows(auction));
    Ok(Look {
        jobs,
        auctions: latest(|most| node.auctions(None, most), is_new).await?,
        leases: leases.map(|lease| (lease.lease.to_hex(), lease)).collect(),
        movements: moved(movements, seen)?,
        peers: node
            .peers()
            .await?
            .peers
            .into_iter()
            .map(|p| p.peer)
            .collect(),
    })
}

/// The last of something, newest first: [`SEEN`], or [`MOST`] where the oldest of those is news.
async fn latest<T, A: Future<Output = Answer<Vec<T>>>>(
    ask: impl Fn(usize) -> A,
    is_news: impl Fn(&T) -> bool,
) -> Answer<Vec<T>> {
    let few = ask(SEEN).await?;
    match few.get(SEEN - 1).is_some_and(is_news) {
        true => ask(MOST).await,
        false => Ok(few),
    }
}

/// The movements of an account; of one that is not open yet, or is closed, there are no later ones.
/// Without any others, what was told already would be told again.
fn moved(answer: Answer<Vec<Movement>>, seen: Option<&Look>) -> Answer<Vec<Movement>> {
    match answer {
        Err(error) if matches!(error.code, ErrorCode::Refused | ErrorCode::NotFound) => {
            Ok(seen.map_or(Vec::new(), |seen| seen.movements.clone()))
        }
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ApiError;
    use crate::api::types::Signed;
    use gridbay_protocol::payment::Reason;

    fn at(height: u64) -> Movement {
        Movement {
            height,
            time_ms: 0,
            amount: Signed(1),
            reason: Reason::Transfer,
            other: String::new(),
            order: None,
        }
    }

    fn of(movements: Vec<Movement>) -> Look {
        Look {
            movements,
            ..Look::default()
        }
    }

    /// The next look, when these heights have moved money.
    async fn next(old: Option<&Look>, heights: std::ops::RangeInclusive<u64>) -> Look {
        let all: Vec<_> = heights.rev().map(at).collect();
        let ask = async |most: usize| Ok(all.iter().take(most).cloned().collect());
        let is_news = |movement: &Movement| old.is_some_and(|old| old.is_before(movement));
        of(latest(ask, is_news).await.unwrap())
    }

    #[tokio::test]
    async fn a_busy_second_is_told_as_a_whole_or_as_missed() {
        let old = next(None, 1..=5_000).await;
        assert_eq!(old.movements.len(), SEEN, "what was before is not told");
        for (more, told, is_missed) in [
            (0, 0, false),
            (150, 150, false),
            (900, 900, false),
            (3_000, MOST, true),
        ] {
            let now = next(Some(&old), 1..=5_000 + more).await;
            let events = changes(&old, &now);
            assert_eq!(events.len(), told);
            let kept = Kept::default();
            kept.begin("ab".to_owned());
            kept.push(&events);
            let (_, reset) = kept.reader(kept.permit(None).unwrap(), Some("ab-0"));
            assert_eq!(reset.is_some(), is_missed);
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_told_twice() {
        let seen = of(vec![at(7)]);
        let failed = |code| Err(ApiError::new(code, "", ""));
        assert!(moved(failed(ErrorCode::Timeout), Some(&seen)).is_err());
        assert!(moved(failed(ErrorCode::Internal), None).is_err());
        let closed = moved(failed(ErrorCode::NotFound), Some(&seen)).unwrap();
        assert_eq!(closed, seen.movements);
        assert!(moved(failed(ErrorCode::Refused), None).unwrap().is_empty());
    }
}
