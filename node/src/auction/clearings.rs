//! The last clearings of a class.

use crate::api::Answer;
use crate::backend::NodeBackend;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::record::ausubel::ClearingRecord;
use std::ops::ControlFlow;

/// Clearings looked at, the newest ones.
const CLEARINGS: usize = 16;
/// Bids in them together: bounds the time that clearing them again takes.
const BIDS: usize = 4_000;
/// Auctions read in one look at the core, and looks.
const PAGE: usize = 16;
const PAGES: usize = 8;

impl NodeBackend {
    /// Shows the clearings of a class, newest first, until `look` breaks or [`PAGES`] are read.
    /// Returns the value that it broke with.
    pub(crate) async fn look_back<B>(
        &self,
        class: ClassId,
        mut look: impl FnMut(ClearingRecord) -> ControlFlow<B>,
    ) -> Answer<Option<B>> {
        let mut before = (u64::MAX, 0);
        for _ in 0..PAGES {
            let page = self.query(move |core| core.host().auctions(before, PAGE));
            let page = page.await?;
            let Some(oldest) = page.last().map(|item| (item.height, item.position)) else {
                break;
            };
            before = oldest;
            for item in page {
                if let Effect::Clearing(record) = item.effect
                    && record.class == class
                    && let ControlFlow::Break(found) = look(record)
                {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// The newest clearings of a class.
    pub(crate) async fn last_clearings(&self, class: ClassId) -> Answer<Vec<ClearingRecord>> {
        let (mut found, mut bids) = (Vec::new(), 0);
        self.look_back(class, |record| {
            bids += record.bids.len();
            if found.len() >= CLEARINGS || bids > BIDS {
                return ControlFlow::Break(());
            }
            found.push(record);
            ControlFlow::Continue(())
        })
        .await?;
        Ok(found)
    }
}
