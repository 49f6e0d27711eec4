//! The last clearings of a class.

use super::EFFECT_BYTES;
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::backend::failure::internal;
use crate::market::odds::Odds;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::record::ausubel::ClearingRecord;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Auctions read in one look at the core, and looks.
const PAGE: usize = 4;
const PAGES: usize = 32;

impl NodeBackend {
    /// Shows the clearings of a class, newest first, until `look` breaks or [`PAGES`] are read.
    /// Returns the value that it broke with.
    pub(crate) async fn look_back<B: Send + 'static>(
        &self,
        class: ClassId,
        look: impl Fn(&ClearingRecord) -> ControlFlow<B> + Clone + Send + 'static,
    ) -> Answer<Option<B>> {
        self.catch_up().await?;
        // Nearly always it is the last one.
        if let Some(last) = self.board.wanted(&class)
            && let ControlFlow::Break(found) = look(&last.0)
        {
            return Ok(Some(found));
        }
        let mut before = (u64::MAX, 0);
        for _ in 0..PAGES {
            let page = self.query(move |core| core.host().auctions((0, 0), before, PAGE));
            let page = page.await?;
            let Some((oldest, _)) = page.last() else {
                break;
            };
            before = *oldest;
            let look = look.clone();
            let read = move || {
                let effects = page.iter().filter_map(|(_, bytes)| {
                    let effect = codec::decode::<Effect>(bytes, EFFECT_BYTES);
                    effect.ok()
                });
                for effect in effects {
                    if let Effect::Clearing(record) = effect
                        && record.class == class
                        && let ControlFlow::Break(found) = look(&record)
                    {
                        return Some(found);
                    }
                }
                None
            };
            let read = tokio::task::spawn_blocking(read).await;
            if let Some(found) = read.map_err(|error| internal("reading clearings", error))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// How bids for `nodes` units, of which `min` are of use, would have fared in the last
    /// clearings of a class: cleared again outside the core, each once.
    pub(crate) async fn odds(
        &self,
        class: ClassId,
        nodes: u32,
        min: u32,
        slot_heights: u64,
    ) -> Answer<Odds> {
        self.catch_up().await?;
        let records = self.board.again(&class);
        let tried = Arc::clone(&self.tried);
        let odds = move || tried.odds(&records, (nodes, min), slot_heights);
        let odds = tokio::task::spawn_blocking(odds).await;
        odds.map_err(|error| internal("clearing again", error))
    }
}
