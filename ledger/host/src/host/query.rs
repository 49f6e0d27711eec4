//! Questions to a host. None of them changes its behaviour.

use super::Host;
use crate::fault::Fault;
use crate::index::{HistoryItem, Sought};
use crate::message::DecidedBlock;
use crate::trouble::Trouble;
use gridbay_ledger::State;
use gridbay_protocol::ids::{AccountId, BlockId, Hash32, OrderId, ValidatorId};
use gridbay_protocol::payment::Posting;
use gridbay_protocol::vote::Certificate;

impl Host {
    /// The state after the last block.
    pub fn state(&self) -> &State {
        &self.state
    }
    /// This node's validator, if it has a consensus key.
    pub fn validator(&self) -> Option<ValidatorId> {
        self.guard.as_ref().map(crate::guard::Guard::validator)
    }
    /// The beacon tip that this node's validator should register now; `None` while its chain lasts,
    /// or the next one is registered and does not count yet. Takes the time to compute a chain when
    /// a renewal becomes due.
    pub fn beacon_renewal(&mut self) -> Option<Hash32> {
        let validator = self.validator()?;
        if self.state.beacon_successor(&validator).is_some() {
            return None;
        }
        let tip = self.state.beacon_tip(&validator)?;
        self.reveals.as_mut()?.renewal(&tip)
    }
    /// A block with its certificate; `None` for height 0 and beyond the tip.
    ///
    /// # Errors
    /// The disk failed.
    pub fn block(&self, height: u64) -> Result<Option<DecidedBlock>, Fault> {
        self.blocks.read(&*self.disk, height)
    }
    /// The certificate of a block; `None` for height 0 and beyond the tip.
    ///
    /// # Errors
    /// The disk failed.
    pub fn certificate(&self, height: u64) -> Result<Option<Certificate>, Fault> {
        if height == self.state.height() {
            return Ok(self.tip_certificate.clone());
        }
        Ok(self.block(height)?.map(|decided| decided.certificate))
    }
    /// Ledger times of the blocks of heights, in their order; `None` where the index has none.
    pub fn block_times(&self, heights: &[u64]) -> Vec<Option<u64>> {
        self.index.times(heights)
    }
    /// Height of a block.
    pub fn block_height(&self, block: &BlockId) -> Option<u64> {
        self.index.block(block)
    }
    /// Height of the block that an entry took effect in, as far as it is known.
    pub fn entry_height(&self, entry: impl Into<Sought>) -> Option<u64> {
        self.entry_heights(&[entry.into()]).pop().flatten()
    }
    /// The same of many entries at once, in their order.
    pub fn entry_heights(&self, entries: &[Sought]) -> Vec<Option<u64>> {
        // Of most that somebody waits for the state knows that there is nothing to find.
        let may_be = |entry: &Sought| {
            let Sought { valid_until, id } = *entry;
            valid_until <= self.state.height() || self.state.has_used(valid_until, id)
        };
        let (mut heights, mut places, mut sought) = (vec![None; entries.len()], vec![], vec![]);
        for (place, entry) in heights.iter_mut().zip(entries).filter(|(_, e)| may_be(e)) {
            places.push(place);
            sought.push(*entry);
        }
        for (place, height) in places.into_iter().zip(self.index.entries(&sought)) {
            *place = height;
        }
        heights
    }
    /// Whether an entry without a height took effect in no block so far: the index could be read,
    /// and holds all blocks.
    pub fn knows_entries(&self) -> bool {
        self.index.is_whole() && self.index.applied() == self.state.height()
    }
    /// The history of an account in blocks before height `before` (`u64::MAX` for all), latest
    /// first; at most `limit` and [`crate::limits::HISTORY_ROWS`] lines.
    pub fn history(&self, account: &AccountId, before: u64, limit: usize) -> Vec<HistoryItem> {
        self.index.history(account, (before, 0), limit)
    }
    /// The same before a place (height, position), from which a page can go on inside a block.
    pub fn history_before(
        &self,
        account: &AccountId,
        before: (u64, u32),
        limit: usize,
    ) -> Vec<HistoryItem> {
        self.index.history(account, before, limit)
    }
    /// The same, with nothing but the postings read: a line that moves no money has none.
    pub fn postings_before(
        &self,
        account: &AccountId,
        before: (u64, u32),
        limit: usize,
    ) -> Vec<((u64, u32), Option<Posting>)> {
        self.index.postings(account, before, limit)
    }
    /// The postings about an order before a place (height, position), latest first; at most
    /// `limit` and [`crate::limits::HISTORY_ROWS`].
    pub fn postings_about(
        &self,
        order: &OrderId,
        before: (u64, u32),
        limit: usize,
    ) -> Vec<((u64, u32), Posting)> {
        self.index.postings_about(order, before, limit)
    }
    /// The account that made an order; `None` if the index does not know.
    pub fn order_account(&self, order: &OrderId) -> Option<AccountId> {
        self.index.order_account(order)
    }
    /// Auctions between two places (height, position), both left out; from `(0, 0)` to
    /// `(u64::MAX, 0)` all of them. Latest first; at most `limit` and
    /// [`crate::limits::HISTORY_ROWS`]. The canonical bytes of their effects are left to the caller
    /// to decode: the record of a full class has more than a megabyte.
    pub fn auctions(
        &self,
        after: (u64, u32),
        before: (u64, u32),
        limit: usize,
    ) -> Vec<((u64, u32), Vec<u8>)> {
        self.index.auctions(after, before, limit)
    }
    /// Height and position of the record of a clearing (by its id) or of a buy (by its order).
    pub fn auction_place(&self, id: &Hash32) -> Option<(u64, u32)> {
        self.index.auction_place(&id.0)
    }
    /// Canonical bytes of what a block did, in order: the items under its root of effects. Empty
    /// for a height that is not in the index.
    pub fn effect_bytes(&self, height: u64) -> Vec<Vec<u8>> {
        self.index.effects(height)
    }
    /// Whether peers say that they have decided at least two blocks that this node lacks. A liar
    /// can make it true, so nothing but what is shown to people may hang on it.
    pub fn is_behind(&self) -> bool {
        self.catchup.is_behind(self.state.height())
    }
    /// Why this node takes no entries for the time being; `None` if it does.
    pub fn trouble(&self) -> Option<Trouble> {
        self.clock.trouble()
    }
    /// Signatures of entries checked since the start: in time one for each entry that others sent,
    /// by itself or in a block, and none for those of this node.
    pub fn signatures_checked(&self) -> u64 {
        self.signatures.checked
    }
    /// Entries that wait for a block.
    pub fn mempool_len(&self) -> usize {
        self.mempool.len()
    }
    /// Whether entries of our own users wait for validators elsewhere: this node does not vote.
    pub fn waits_for_others(&self) -> bool {
        !self.votes() && self.mempool.has_own()
    }
    /// Round of the running height; `None` while none is running here.
    pub fn round(&self) -> Option<u32> {
        self.engine.as_ref().map(crate::consensus::Engine::round)
    }
}
