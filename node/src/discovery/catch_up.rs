//! Catch-up from neighbours for a node that has just joined: gossip brings it only the adverts from
//! now on.
//!
//! 1. It waits until it is at the head of the ledger, without which it knows no seller's right to
//!    speak; [`LONGEST`] at the most.
//! 2. It asks [`NEIGHBOURS`] peers, the nearest first, page by page, [`PAGES`] pages each: enough
//!    for all adverts that a node keeps.
//! 3. Where many join at once, neighbours may know nothing yet, or leave in the middle: the next
//!    ones are asked after a pause that doubles, until as many have told something, in [`ROUNDS`]
//!    rounds at the most.
//! 4. Pages go up by seller and node. One that does not ends the questions to that neighbour.

use super::{Discovery, count};
use crate::body::BodyGone;
use crate::body::ask::key_of;
use gridbay_core::adverts::ADVERTS;
use gridbay_core::agent::{ADVERTS_PAGE, AgentReply, AgentRequest};
use gridbay_protocol::advert::SignedAdvert;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::keys::PublicKey;
use std::time::Duration;

/// Peers asked.
const NEIGHBOURS: usize = 2;
/// Rounds of questions, over a minute in all.
const ROUNDS: usize = 8;
/// Pages asked of each.
const PAGES: usize = ADVERTS.div_ceil(ADVERTS_PAGE);
/// How often it is looked whether the ledger's head is reached.
const PAUSE: Duration = Duration::from_millis(500);
/// After this long it asks all the same.
const LONGEST: Duration = Duration::from_secs(120);

type Place = (AccountId, PublicKey);

impl Discovery {
    /// Asks neighbours until some have told what they know.
    pub(super) async fn catch_up(&self) {
        let ready = tokio::time::timeout(LONGEST, self.at_head()).await;
        if matches!(ready, Ok(Err(BodyGone::Stopped))) {
            return;
        }
        let (mut told, mut pause) = (0, PAUSE);
        for round in 0..ROUNDS {
            if round > 0 {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            let mut peers = self.net.peers().to_vec();
            peers.sort_by_key(|peer| (peer.rtt.is_none(), peer.rtt));
            let nodes: Vec<_> = peers.iter().filter_map(|p| key_of(&p.peer)).collect();
            let next = nodes.iter().cycle().skip(round * NEIGHBOURS);
            for node in next.take(nodes.len().min(NEIGHBOURS - told)) {
                match self.pages_of(node).await {
                    Ok(adverts) => told += usize::from(adverts > 0),
                    Err(gone) => tracing::debug!(%gone, "no more adverts of neighbours"),
                }
            }
            if told >= NEIGHBOURS {
                return;
            }
        }
    }

    /// Waits until this node has peers and the ledger's head.
    async fn at_head(&self) -> Result<(), BodyGone> {
        loop {
            let look = self.body.query(|core| {
                let state = core.state();
                state.height() > 0 && !core.host().is_behind()
            });
            match look.await {
                Ok(true) if !self.net.peers().is_empty() => return Ok(()),
                Ok(_) | Err(BodyGone::Busy | BodyGone::Halted) => {}
                Err(stopped) => return Err(stopped),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// All that a neighbour knows; how much it told.
    async fn pages_of(&self, node: &PublicKey) -> Result<usize, BodyGone> {
        let (mut after, mut told) = (None, 0);
        for _ in 0..PAGES {
            count(&self.counters.asked);
            let reply = self.asker.ask(node, &AgentRequest::Adverts(after)).await;
            let Some(AgentReply::Adverts(page)) = reply else {
                break;
            };
            count(&self.counters.answered);
            let Some(last) = last_place(after, &page) else {
                if !page.is_empty() {
                    self.blame(node, "adverts out of order");
                }
                break;
            };
            for advert in &page {
                self.hear(node, advert).await?;
            }
            told += page.len();
            after = Some(last);
            if page.len() < ADVERTS_PAGE {
                break;
            }
        }
        Ok(told)
    }
}

/// The place of a page's last advert, if the page goes up from what came before and is no longer
/// than pages are.
fn last_place(after: Option<Place>, page: &[SignedAdvert]) -> Option<Place> {
    let mut last = after;
    for signed in page {
        let place = (signed.advert.account, signed.advert.node);
        if last.is_some_and(|last| place <= last) {
            return None;
        }
        last = Some(place);
    }
    let fits = !page.is_empty() && page.len() <= ADVERTS_PAGE;
    last.filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::advert::Advert;
    use gridbay_protocol::ids::NetworkId;
    use gridbay_protocol::keys::SecretKey;

    fn advert(account: u8) -> SignedAdvert {
        let key = SecretKey::from_seed(&[account; 32]);
        let advert = Advert {
            account: AccountId([account; 32]),
            key: key.public(),
            node: key.public(),
            sequence: 1,
            valid_until: 1,
            lines: vec![],
            attributes: Default::default(),
            round_trips: vec![],
            addresses: vec![],
        };
        SignedAdvert::new(&NetworkId([7; 32]), advert, &key)
    }

    #[test]
    fn pages_go_up_and_have_an_end() {
        let page = [advert(1), advert(2)];
        let place = |n: usize| (page[n].advert.account, page[n].advert.node);
        assert_eq!(last_place(None, &page), Some(place(1)));
        assert_eq!(last_place(Some(place(0)), &page[1..]), Some(place(1)));
        assert_eq!(last_place(Some(place(0)), &page), None, "said before");
        let back = [page[1].clone(), page[0].clone()];
        assert_eq!(last_place(None, &back), None, "not in order");
        assert_eq!(last_place(None, &[]), None);
        let long: Vec<SignedAdvert> = (0..=ADVERTS_PAGE as u8).map(advert).collect();
        assert_eq!(last_place(None, &long), None, "too long");
    }
}
