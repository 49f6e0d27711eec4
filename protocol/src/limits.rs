//! Every bound that all nodes must share, with its unit and reason.
//!
//! Bounds of one node's own resources (queues, connections, disk) live with that node.

use crate::units::{Credits, Price};

/// Bytes of one signed entry. An open bid with the most price steps fits with room to spare.
pub const ENTRY_BYTES: usize = 8 * 1024;
/// Entries in one block: at 250 ms a block this is 8,000 entries per second.
pub const BLOCK_ENTRIES: usize = 2_000;
/// Bytes of one block (header, body, certificate of the parent).
pub const BLOCK_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a genesis file.
pub const GENESIS_BYTES: usize = 1024 * 1024;
/// Bytes of an invitation.
pub const INVITATION_BYTES: usize = 16 * 1024;
/// Bytes of one advert.
pub const ADVERT_BYTES: usize = 8 * 1024;
/// Validators of a network; a certificate with one signature each stays below 8 KiB.
pub const VALIDATORS: usize = 64;
/// Classes of a network.
pub const CLASSES: usize = 256;
/// Keys of one account.
pub const ACCOUNT_KEYS: usize = 16;
/// Offers of one account.
pub const OFFERS_PER_ACCOUNT: usize = 64;
/// Units of one offer.
pub const OFFER_UNITS: u32 = 4_096;
/// Units of one class over all sellers: bounds the clearing's tables.
pub const CLASS_UNITS: u32 = 16_384;
/// Units one order may ask for.
pub const ORDER_UNITS: u32 = 4_096;
/// Price steps of one bid.
pub const BID_STEPS: usize = 64;
/// Live orders of one account in one class: bounds what one account can make everybody clear.
pub const ORDERS_PER_ACCOUNT_CLASS: usize = 16;
/// Live orders of one class: bounds the clearing's work. A thousand divisible bids take about 22 ms, so a
/// full class clears in less than a quarter of a second: within the block interval of a local network,
/// which twice as many would exceed.
pub const ORDERS_PER_CLASS: usize = 10_000;
/// Live bids of one class that take no less than several units at once. Among them the best allocation is
/// sought over tables of bids times units.
pub const ALL_OR_NONE_PER_CLASS: usize = 1_024;
/// Resources of a unit: processors, memory, disk, accelerators.
pub const RESOURCES: usize = 4;
/// Live claims on one pool: with the most resources and rounds its slot is shared in a few milliseconds.
pub const CLAIMS_PER_POOL: usize = 128;
/// Live claims of one class: together its pools are shared well within the block interval of a local network.
pub const CLAIMS_PER_CLASS: usize = 1_024;
/// Slots an order may run: a year of one-minute slots.
pub const ORDER_SLOTS: u32 = 525_600;
/// Heights an entry may wait for its inclusion.
pub const ENTRY_WINDOW: u64 = 2_400;
/// Heights after the tip at which a validator acknowledged an entry: from the last of them on it votes in the
/// first rounds of consensus for no block without the entry. Two blocks may have been on their way without it.
pub const INCLUSION_HEIGHTS: u64 = 3;
/// Heights for which an unopened bid's deposit waits for an appeal if a round has fewer: an appeal that is
/// acknowledged at once must be included, and as much time again to send it twice.
pub const APPEAL_HEIGHTS: u64 = 2 * INCLUSION_HEIGHTS;
/// Auctioneers whose blocks a bid can be opened in, or its deposit is not forfeited.
pub const OPENING_AUCTIONEERS: usize = 2;
/// Heights an order may stand without running.
pub const ORDER_WINDOW: u64 = 10_000_000;
/// Largest bracket exponent of a commitment: 2^12 units = [`ORDER_UNITS`].
pub const BRACKET: u8 = 12;
/// Milliseconds by which a block's time may lie ahead of a validator's clock.
pub const CLOCK_AHEAD_MS: u64 = 1_000;
/// Latest founding time in milliseconds since 1970 (the year 10889): leaves ledger time, which
/// counts up from it, room that no chain uses up.
pub const GENESIS_MS: u64 = 1 << 48;
/// Heights of one election epoch.
pub const EPOCH_HEIGHTS: u64 = 1_200;
/// Characters of a name (member, class, invitation).
pub const NAME_CHARS: usize = 64;
/// Validity of an invitation in heights at the most.
pub const INVITATION_WINDOW: u64 = 40_000_000;
/// Addresses listed in an invitation or for a member.
pub const ADDRESSES: usize = 16;
/// Characters of one address.
pub const ADDRESS_CHARS: usize = 256;

const _: () = assert!(BRACKET < 32 && 1u32 << BRACKET == ORDER_UNITS);
const _: () = assert!(ORDER_UNITS <= CLASS_UNITS && OFFER_UNITS <= CLASS_UNITS);
// A whole order at the highest price for one slot is an amount of money, so is a whole class.
const _: () = assert!(Price::MAX.0 <= Credits::MAX.micros() / CLASS_UNITS as u64);
// A clearing's table (16 bytes for each all-or-none bid and number of units) fits a small node's memory.
const _: () = assert!(ALL_OR_NONE_PER_CLASS * (CLASS_UNITS as usize + 1) * 16 < 512 << 20);
const _: () = assert!(ALL_OR_NONE_PER_CLASS <= ORDERS_PER_CLASS);
const _: () = assert!(CLAIMS_PER_POOL <= CLAIMS_PER_CLASS && CLAIMS_PER_CLASS <= ORDERS_PER_CLASS);
// A full block of smallest useful entries (256 bytes) fits the bytes of a block.
const _: () = assert!(BLOCK_ENTRIES * 256 <= BLOCK_BYTES);
const _: () = assert!(ENTRY_BYTES < BLOCK_BYTES && GENESIS_BYTES <= BLOCK_BYTES);
