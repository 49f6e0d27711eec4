//! The index: where a block, an entry or an account's history is found. For questions only.
//!
//! The index is derived from the block file and may lag behind it after a crash; it then continues
//! from the height it records. If it cannot be opened, contradicts the block file or is ahead of
//! it, it is thrown away and made anew, from the first block on: the next start takes the time to
//! execute all. Losing it costs time, never data. An index that fails while the node runs stops it
//! like any other file: a payment that it does not find would be told as one that was never made.
//! Without a directory the rows stay in memory and begin with the blocks after the snapshot that
//! the host started from.
//!
//! Keys: `a` account, height, position → the lines of its history from there on; `b` block →
//! height; `e` an entry's last height and half its id → height; `o` half an order's id → the
//! account that made it; `f` height, position → the effects from there on; `c` height, position (of
//! an auction) → nothing; `i` id of an auction → height, position; `m` order, height, position (of
//! a posting about it) → nothing; `t` height → ledger time; `n` → (height, block) applied. Where
//! the last is missing, as in files of earlier forms that have `g`, `h`, `k` or `l`, the index is
//! made anew.
//!
//! Entries of one time lie together: where each lay by itself, by its id, among a million others,
//! one more payment rewrote a page of the file.
//!
//! Lines and effects of a block share rows ([`bundles`]), since each row costs the same however
//! short it is, and a block of payments has thousands of both.

mod bundles;
mod postings;

use crate::disk::DiskError;
use crate::fault::Fault;
use crate::limits;
use crate::rows::{self, Rows};
use bundles::Line;
use gridbay_ledger::CheckedBlock;
use gridbay_protocol::account::Roles;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, OrderId};
use gridbay_protocol::stage::Authentic;
use postings::at;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one effect: a clearing record of a full class is the largest.
const EFFECT_BYTES: usize = 64 * 1024 * 1024;

/// What the last block is kept under.
const APPLIED: &[u8] = b"n";
/// Bytes of an entry's id that its row is kept under: nobody finds an entry that shares them with
/// another's, and whoever made two of its own that do would mislead itself alone.
const HALF: usize = 16;

/// An entry that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sought {
    /// The last height that may take it.
    pub valid_until: u64,
    /// Its id.
    pub id: EntryId,
}

impl From<&Authentic> for Sought {
    fn from(entry: &Authentic) -> Sought {
        Sought {
            valid_until: entry.entry().valid_until,
            id: entry.id(),
        }
    }
}

impl From<&SignedEntry> for Sought {
    fn from(entry: &SignedEntry) -> Sought {
        Sought {
            valid_until: entry.entry.valid_until,
            id: entry.id(),
        }
    }
}

/// The index.
#[derive(Debug)]
pub(crate) struct Index {
    rows: Rows,
    directory: Option<PathBuf>,
    applied: Option<(u64, BlockId)>,
    /// Whether it lacks the blocks up to a snapshot.
    is_part: bool,
}

/// One line of an account's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryItem {
    /// Height of the block.
    pub height: u64,
    /// Position among the block's effects.
    pub position: u32,
    /// What happened.
    pub effect: Effect,
}

fn key(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = vec![kind];
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

fn broken() -> Fault {
    Fault::Disk(DiskError {
        operation: "use",
        file: "the index".to_owned(),
        source: io::Error::other("the log says what failed"),
    })
}

/// The key of an entry. Of its last height the lower bytes do, for the next ten thousand years: its
/// id depends on all of it.
fn entry_key(entry: &Sought) -> Vec<u8> {
    let [_, _, _, until @ ..] = entry.valid_until.to_be_bytes();
    let (half, _) = entry.id.as_bytes().split_at(HALF);
    key(b'e', &[&until, half])
}

/// The key of the account that made an order.
fn order_key(order: &OrderId) -> Vec<u8> {
    let (half, _) = order.as_bytes().split_at(HALF);
    key(b'o', &[half])
}

/// The last block that rows hold.
fn applied(rows: &Rows) -> Option<(u64, BlockId)> {
    let bytes = rows.get(APPLIED)?;
    let (height, block) = bytes.split_first_chunk::<8>()?;
    let block = BlockId(block.try_into().ok()?);
    Some((u64::from_be_bytes(*height), block))
}

/// The number that a value begins with.
fn number(value: Option<Vec<u8>>) -> Option<u64> {
    let value = value?;
    let (number, _) = value.split_first_chunk::<8>()?;
    Some(u64::from_be_bytes(*number))
}

/// Height and position from their 12 bytes.
fn place_of(bytes: &[u8]) -> Option<(u64, u32)> {
    let (height, position) = bytes.split_first_chunk::<8>()?;
    let position = u32::from_be_bytes(position.try_into().ok()?);
    Some((u64::from_be_bytes(*height), position))
}

impl Index {
    /// Opens the index of a directory; `None` keeps it in memory.
    pub(crate) fn open(directory: Option<&Path>) -> Index {
        let rows = Rows::open(directory);
        let mut index = Index {
            applied: applied(&rows),
            rows,
            directory: directory.map(Path::to_owned),
            is_part: false,
        };
        // Rows without a last block are of an earlier form, and would be mixed up with new ones.
        let is_foreign = || index.applied.is_none() && !index.rows.last(&[], &[0xff], 1).is_empty();
        if index.rows.failed() || is_foreign() {
            index.begin_anew();
        }
        index
    }
    /// Throws all rows away.
    fn begin_anew(&mut self) {
        // Closes the old file before it is removed.
        self.rows = Rows::none();
        if let Some(directory) = &self.directory {
            rows::wipe(directory);
        }
        self.rows = Rows::open(self.directory.as_deref());
        self.applied = None;
    }
    /// Whether an entry that is not found is in no block up to [`Index::applied`].
    pub(crate) fn is_whole(&self) -> bool {
        !self.is_part && !self.rows.failed()
    }
    /// Height up to which blocks are in the index.
    pub(crate) fn applied(&self) -> u64 {
        self.applied.map_or(0, |(height, _)| height)
    }
    /// Highest snapshot from which all blocks that the index lacks can be executed.
    pub(crate) fn reach(&self) -> u64 {
        match self.directory {
            Some(_) => self.applied(),
            None => u64::MAX,
        }
    }
    /// Begins after a block, if there is no directory that should hold what was before.
    pub(crate) fn begin_after(&mut self, height: u64, block: BlockId) {
        if self.directory.is_none() {
            self.applied = Some((height, block));
            self.is_part = height > 0;
        }
    }
    /// Starts anew unless the last block it holds is `found`, the block file's at that height.
    pub(crate) fn reconcile(&mut self, found: Option<BlockId>) {
        let Some((height, block)) = self.applied else {
            return;
        };
        if found == Some(block) {
            return;
        }
        tracing::warn!(
            height,
            "the index does not belong to the block file and is made anew"
        );
        self.begin_anew();
    }
    /// Adds a block, unless it is in the index. The height applied is part of the same batch.
    ///
    /// # Errors
    /// The file failed, now, with an earlier block or when it was read. The next start makes it
    /// anew.
    pub(crate) fn add(&mut self, block: &CheckedBlock, effects: &[Effect]) -> Result<(), Fault> {
        let (height, id) = (block.header().height, block.id());
        if height != self.applied() + 1 {
            return Ok(());
        }
        let at = height.to_be_bytes();
        let mut rows = vec![
            (key(b'b', &[id.as_bytes()]), at.to_vec()),
            (
                key(b't', &[&at]),
                block.header().time_ms.to_be_bytes().to_vec(),
            ),
            (APPLIED.to_vec(), [&at[..], id.as_bytes()].concat()),
        ];
        let mut owners = BTreeMap::new();
        for entry in block.entries() {
            rows.push((entry_key(&Sought::from(&**entry)), at.to_vec()));
            // Nothing else makes orders.
            if entry.entry().body.kind().role == Roles::TRADE {
                let (order, account) = (OrderId(*entry.id().as_bytes()), entry.entry().account);
                rows.push((order_key(&order), account.as_bytes().to_vec()));
                owners.insert(order, account);
            }
        }
        rows.extend(self.rows_of_effects(height, effects, &owners));
        self.rows.write(rows);
        if self.rows.failed() {
            self.begin_anew();
            return Err(broken());
        }
        self.applied = Some((height, id));
        Ok(())
    }
    /// The rows of a block's effects; `fresh` are the orders that it makes.
    fn rows_of_effects(
        &self,
        height: u64,
        effects: &[Effect],
        fresh: &BTreeMap<OrderId, AccountId>,
    ) -> Vec<rows::Row> {
        let mut rows = bundles::of_effects(height, effects.iter().map(codec::encode));
        let mut lines: BTreeMap<AccountId, Vec<Line>> = BTreeMap::new();
        for (position, effect) in (0u32..).zip(effects) {
            let place = (height, position);
            let posting = match effect {
                Effect::Posting(posting) => Some(posting),
                _ => None,
            };
            let is_posting = posting.is_some();
            for account in self.concerned(effect, fresh) {
                let lines = lines.entry(account).or_default();
                lines.push(Line { place, is_posting });
            }
            let about = posting.into_iter().flat_map(|posting| posting.orders());
            rows.extend(about.map(|order| (postings::about(&order, place), vec![])));
            if let Some(auction) = effect.auction() {
                let place = at(b'c', place);
                let found = place.get(1..).unwrap_or_default().to_vec();
                rows.push((key(b'i', &[&auction.id()]), found));
                rows.push((place, Vec::new()));
            }
        }
        for (account, lines) in &lines {
            rows.extend(bundles::of_lines(account, lines));
        }
        rows
    }
    /// Has all blocks added so far made safe, those of the call before at the latest on return.
    pub(crate) fn begin_flush(&self) {
        self.rows.begin_flush();
    }
    fn concerned(
        &self,
        effect: &Effect,
        fresh: &BTreeMap<OrderId, AccountId>,
    ) -> BTreeSet<AccountId> {
        let owner = |order: &OrderId| {
            let fresh = fresh.get(order).copied();
            fresh.or_else(|| self.order_account(order))
        };
        let concerned = effect.concerns();
        let owners = concerned.orders.iter().filter_map(owner);
        concerned.accounts.iter().copied().chain(owners).collect()
    }
    /// Height of a block.
    pub(crate) fn block(&self, id: &BlockId) -> Option<u64> {
        self.height_at(&key(b'b', &[id.as_bytes()]))
    }
    /// Heights of the blocks that entries are in, in their order.
    pub(crate) fn entries(&self, sought: &[Sought]) -> Vec<Option<u64>> {
        let keys: Vec<_> = sought.iter().map(entry_key).collect();
        self.numbers(&keys)
    }
    /// Ledger times of the blocks of heights, in their order.
    pub(crate) fn times(&self, heights: &[u64]) -> Vec<Option<u64>> {
        let row = |height: &u64| key(b't', &[&height.to_be_bytes()]);
        let keys: Vec<_> = heights.iter().map(row).collect();
        self.numbers(&keys)
    }
    /// The numbers that values begin with; none where a file fails.
    fn numbers(&self, keys: &[Vec<u8>]) -> Vec<Option<u64>> {
        let found = self.rows.get_all(keys).into_iter();
        let mut numbers: Vec<_> = found.map(number).collect();
        numbers.resize(keys.len(), None);
        numbers
    }
    fn height_at(&self, key: &[u8]) -> Option<u64> {
        number(self.rows.get(key))
    }
    /// The account that made an order.
    pub(crate) fn order_account(&self, order: &OrderId) -> Option<AccountId> {
        let account = self.rows.get(&order_key(order))?;
        Some(AccountId(account.try_into().ok()?))
    }
    /// The history of an account before a place (height, position), latest first, at most `limit`
    /// lines.
    pub(crate) fn history(
        &self,
        account: &AccountId,
        before: (u64, u32),
        limit: usize,
    ) -> Vec<HistoryItem> {
        let lines = self.lines(account, before, limit);
        let places = lines.iter().map(|line| line.place);
        let items = self.effects_at(places).into_iter();
        items
            .map(|((height, position), effect)| HistoryItem {
                height,
                position,
                effect,
            })
            .collect()
    }
    /// Auctions between two places (height, position), both left out, latest first, at most
    /// `limit`: their places and the canonical bytes of their effects.
    pub(crate) fn auctions(
        &self,
        after: (u64, u32),
        before: (u64, u32),
        limit: usize,
    ) -> Vec<((u64, u32), Vec<u8>)> {
        // The first key behind that of the place.
        let mut start = at(b'c', after);
        start.push(0);
        let limit = limit.min(limits::HISTORY_ROWS);
        let found = self.rows.last(&start, &at(b'c', before), limit);
        let place = |(row, _): &rows::Row| place_of(row.get(1..)?);
        self.bytes_at(found.iter().filter_map(place).collect())
    }
    /// Where an auction is.
    pub(crate) fn auction_place(&self, id: &[u8; 32]) -> Option<(u64, u32)> {
        place_of(&self.rows.get(&key(b'i', &[id]))?)
    }
    /// Canonical bytes of the effects of a block, in order.
    pub(crate) fn effects(&self, height: u64) -> Vec<Vec<u8>> {
        let start = key(b'f', &[&height.to_be_bytes()]);
        let end = height.checked_add(1);
        let end = end.map_or(vec![b'g'], |next| key(b'f', &[&next.to_be_bytes()]));
        let rows = self.rows.values(&start, &end);
        let effects = rows.iter().flat_map(|row| bundles::effects(row));
        effects.map(<[u8]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests;
