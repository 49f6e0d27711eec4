//! Sellers that a query may want and that are not known here.
//!
//! 1. The query's narrowest buckets are looked up in the DHT.
//! 2. Nodes found there whose advert is not known here, at most [`ASKED`], are asked for it, all at
//!    once.
//! 3. Their answers are judged; an advert of another node than the one that was asked is refused.
//!
//! After [`LONGEST`] it ends with the adverts learnt until then.

use super::{Discovery, count};
use crate::body::BodyGone;
use crate::body::ask::key_of;
use futures::future::join_all;
use futures::stream::{FuturesUnordered, StreamExt as _};
use gridbay_core::agent::{AgentReply, AgentRequest};
use gridbay_core::overlay::{PROVIDERS_TIME, TICK};
use gridbay_core::query::bucket::Bucket;
use gridbay_core::shelf::Shelf;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Nodes asked for one query at the most.
const ASKED: usize = 64;
/// Longest time for one query: its lookups end after `PROVIDERS_TIME` and at most a tick, the rest
/// is for the answers.
const LONGEST: Duration = Duration::from_secs(12);
const _: () = assert!(PROVIDERS_TIME.as_millis() + TICK.as_millis() < LONGEST.as_millis());

/// The result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sought {
    /// Nodes asked.
    pub asked: u32,
    /// Adverts learnt.
    pub learnt: u32,
}

impl Discovery {
    /// Looks for sellers in buckets. `known`: those that need not be asked.
    ///
    /// # Errors
    /// The core does not take adverts.
    pub async fn seek(&self, buckets: &[Bucket], known: &Shelf) -> Result<Sought, BodyGone> {
        let deadline = Instant::now() + LONGEST;
        let strangers = self.strangers(buckets, known, deadline).await;
        let mut asks: FuturesUnordered<_> = strangers
            .into_iter()
            .map(|node| async move {
                let reply = self.asker.ask(&node, &AgentRequest::Advert).await;
                (node, reply)
            })
            .collect();
        let mut sought = Sought {
            asked: u32::try_from(asks.len()).unwrap_or(u32::MAX),
            learnt: 0,
        };
        for _ in 0..asks.len() {
            count(&self.counters.asked);
        }
        while let Ok(Some((node, reply))) = timeout_at(deadline, asks.next()).await {
            if self.learn(&node, reply).await? {
                sought.learnt += 1;
            }
        }
        Ok(sought)
    }

    /// Nodes in the buckets that are not known, at most [`ASKED`].
    async fn strangers(
        &self,
        buckets: &[Bucket],
        known: &Shelf,
        deadline: Instant,
    ) -> BTreeSet<PublicKey> {
        let lookups = buckets.iter().map(|bucket| {
            count(&self.counters.lookups);
            timeout_at(
                deadline,
                self.net.providers(bucket.kind, bucket.name.as_bytes()),
            )
        });
        let found = join_all(lookups).await;
        let peers = found.into_iter().flatten().flatten().flatten();
        let nodes = peers.filter_map(|peer| key_of(&peer));
        let strange = nodes.filter(|node| *node != self.own && !known.knows(node));
        let strange: BTreeSet<PublicKey> = strange.collect();
        strange.into_iter().take(ASKED).collect()
    }

    /// Judges what a node answered about itself; whether something was learnt.
    async fn learn(&self, node: &PublicKey, reply: Option<AgentReply>) -> Result<bool, BodyGone> {
        let adverts = match reply {
            Some(AgentReply::Adverts(adverts)) => adverts,
            Some(_) => {
                self.blame(node, "no answer to the question");
                return Ok(false);
            }
            None => return Ok(false),
        };
        count(&self.counters.answered);
        match adverts.as_slice() {
            [] => Ok(false),
            [own] if own.advert.node == *node => self.hear(node, own).await,
            _ => {
                self.blame(node, "an advert of another node in place of its own");
                Ok(false)
            }
        }
    }
}
