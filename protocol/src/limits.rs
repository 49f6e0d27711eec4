//! Every bound that all nodes must share, with its unit and reason.
//!
//! Bounds of one node's own resources (queues, connections, disk) live with that node.

use crate::mechanism::{deadline, reservation};
use crate::units::{Credits, Price};

/// Bytes of one signed entry. An open bid with the most price steps fits with room to spare.
pub const ENTRY_BYTES: usize = 8 * 1024;
/// Entries in one block: at 250 ms a block this is 8,000 entries per second.
pub const BLOCK_ENTRIES: usize = 2_000;
/// Bytes of one block (header, body, certificate of the parent).
pub const BLOCK_BYTES: usize = 4 * 1024 * 1024;
/// Of these, bytes that entries never take: hints at their limit, and 64 KiB for header, evidence
/// and the parent's certificate. Proposers and judges reckon with the same room, whatever else a
/// block carries.
pub const BLOCK_RESERVE: usize = HINT_BYTES + 64 * 1024;
/// Bytes of the entries of one block, with their signatures.
pub const BLOCK_ENTRIES_BYTES: usize = BLOCK_BYTES - BLOCK_RESERVE;
/// Bytes of the largest entry with its signature, and a grant's.
pub const SIGNED_ENTRY_BYTES: usize = ENTRY_BYTES + 512;
/// Bytes of a genesis file.
pub const GENESIS_BYTES: usize = 1024 * 1024;
/// Bytes of an invitation.
pub const INVITATION_BYTES: usize = 16 * 1024;
/// Bytes of one advert: with the most offers 7 KiB, the longest addresses 4 KiB, and what its owner
/// says.
pub const ADVERT_BYTES: usize = 16 * 1024;
/// Attributes of one advert.
pub const ADVERT_ATTRIBUTES: usize = 32;
/// Landmarks to which an advert tells round trips: as many as tell institutions apart, for some 400
/// bytes.
pub const LANDMARKS: usize = 8;
/// Validators of a network; a certificate with one signature each stays below 8 KiB.
pub const VALIDATORS: usize = 64;
/// Founding members of a network: each is a sponsor, and the sponsor rule looks at every sponsor
/// with several winners.
pub const MEMBERS: usize = 128;
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
/// Live orders of one class: bounds the clearing's work. A thousand divisible bids take about 22
/// ms, so a full class clears in less than a quarter of a second: within the block interval of a
/// local network, which twice as many would exceed.
pub const ORDERS_PER_CLASS: usize = 10_000;
/// Live bids of one class that take no less than several units at once. Among them the best
/// allocation is sought over tables of bids times units: at this limit, and with the sponsor rule,
/// in 60 to 140 ms, so that a block of a local network (250 ms) is not held up. Twice as many could
/// take a whole one.
pub const ALL_OR_NONE_PER_CLASS: usize = 512;
/// A bid that leaves a choice above a minimum of several units counts as so many towards
/// [`ALL_OR_NONE_PER_CLASS`]: every number of units that it would take is one more alternative, and
/// together they cost up to twelve times as much.
pub const ALL_OR_NONE_CHOICE: usize = 8;
/// Parts of one buy, each of another class: a job of more kinds of nodes than that is better cut in
/// two. Each is decided like a buy of its own, so this bounds what one entry costs at the close of
/// a round.
pub const BUY_PARTS: usize = 8;
/// Buys of one class that wait for units at a time; another one ends if it cannot be served at
/// once. All are looked at when a round closes.
pub const WAITING_BUYS: u64 = 64;
/// The first of these, which may displace bids in one round; the others take free units only. Each
/// time, the class is cleared again to find the displaced bids, in up to 65 ms.
pub const WAITING_BUYS_DISPLACE: u32 = 2;
/// Buys of one class that did not wait and may displace bids in one block, beside those that did:
/// with them a block of a local network still has time for its clearing.
pub const NEW_BUYS_DISPLACE: u32 = 2;
/// Most that an evicted buy may get on top of its remainder, in millionths of it: nine times as
/// much again.
pub const SURCHARGE_PPM: u32 = 9_000_000;
/// Units that one reservation may want at once.
pub const RESERVATION_UNITS: u32 = 256;
/// Groups of units of one reservation. Six that all overlap make 63 sets to count at every start,
/// the most that the mechanism takes ([`reservation::GROUPS`]), so none can be too entangled.
pub const RESERVATION_GROUPS: usize = 6;
/// Offers that one reservation may name in all its groups: an appeal for it, with receipts of a
/// third of the most validators, still fits an entry.
pub const RESERVATION_OFFERS: usize = 64;
/// Slots of one reservation, and of the window that is sold ahead: a week of hours.
pub const RESERVATION_SLOTS: u32 = 168;
/// Reservations of one class that are decided on together; of more that stand, the densest. With as
/// many units and slots as there may be, and orders that make everything be looked at in vain, a
/// decision takes 40 ms of one core with 10 attempts and 110 ms with 30: within the block interval
/// of a local network.
pub const RESERVATIONS_DECIDED: usize = 128;
/// Units of one class that are sold under reservation, over all sellers.
pub const RESERVABLE_UNITS: u32 = 256;
/// Resources of a unit: processors, memory, disk, accelerators.
pub const RESOURCES: usize = 4;
/// Live claims on one pool: with the most resources and rounds its slot is shared in a few
/// milliseconds.
pub const CLAIMS_PER_POOL: usize = 128;
/// Live claims of one class: together its pools are shared well within the block interval of a
/// local network.
pub const CLAIMS_PER_CLASS: usize = 1_024;
/// Bytes of all hints in one block: as many reservations as are decided on together take 23 KiB
/// with a run of units each, five times as much with a dozen.
pub const HINT_BYTES: usize = 256 * 1024;
/// Slots for which earnings may be held: each keeps a record of every lease at every offer.
pub const DISPUTE_SLOTS: u32 = 8;
/// Complaints of the accounts of one sponsor in an epoch: an honest house with a bad seller or two
/// has room, and two lying houses together withdraw no more offers than that in an epoch.
pub const COMPLAINTS_PER_SPONSOR: u32 = 16;
/// Of these, of one account: as many as withdraw an offer, so that one user does not use up what
/// all of its house have.
pub const COMPLAINTS_PER_ACCOUNT: u32 = 4;
/// Complaints of one sponsor's accounts in an epoch that withdraw an offer; of two sponsors one
/// each is enough.
pub const COMPLAINTS_TO_WITHDRAW: usize = 4;
/// Slots an order may run: a year of one-minute slots.
pub const ORDER_SLOTS: u32 = 525_600;
/// Live jobs with deadlines, taken or asking, at one offer. Planning them anew for each that asks
/// takes about a millisecond, and twice as long for each further job.
pub const JOBS_PER_OFFER: usize = 12;
/// Of these, of one account: three accounts are needed to keep everybody else out for a slot.
pub const JOBS_PER_OFFER_ACCOUNT: usize = 4;
/// Live jobs with deadlines in one class: bounds the planning at a slot boundary, to about 20 ms
/// with the worst of orders (see `benches/deadline.rs`).
pub const JOBS_PER_CLASS: usize = 192;
/// Work of one job with a deadline in units times slots: the largest offer for a year of one-minute
/// slots.
pub const UNIT_SLOTS: u64 = OFFER_UNITS as u64 * ORDER_SLOTS as u64;
/// Jobs of one contract.
pub const CONTRACT_JOBS: u32 = 4_096;
/// Live contracts, signed or not, of one client: bounds the money and memory that proposals take.
pub const CONTRACTS_PER_CLIENT: u32 = 16;
/// Jobs of all signed contracts of one provider: four providers can fill a network.
pub const CONTRACT_JOBS_PER_PROVIDER: u32 = 16_384;
/// Live contracts of a network, signed or not: looked through once a round, in a tenth of a
/// millisecond.
pub const CONTRACTS: u32 = 4_096;
/// Jobs of all signed contracts of a network: bounds the state to some 20 MiB.
pub const CONTRACT_JOBS_SIGNED: u32 = 65_536;
/// Jobs that one block times out; the others of the same slot follow in the next blocks, at the
/// same cost to their parties. Each takes some 10 microseconds of effects and state.
pub const CONTRACT_JOBS_PER_BLOCK: usize = 1_000;
/// Heights an entry may wait for its inclusion.
pub const ENTRY_WINDOW: u64 = 2_400;
/// Heights after the tip at which a validator acknowledged an entry: from the last of them on it
/// votes in the first rounds of consensus for no block without the entry. Two blocks may have been
/// on their way without it.
pub const INCLUSION_HEIGHTS: u64 = 3;
/// Heights for which an unopened bid's deposit waits for an appeal if a round has fewer: an appeal
/// that is acknowledged at once must be included, and as much time again to send it twice.
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
/// Accounts whose savings one block taxes. The tax of all accounts takes as many blocks as it
/// needs.
pub const LEVIES_PER_BLOCK: usize = 4_096;
/// Epochs of which the ledger keeps what the bank publishes: at four blocks a second more than five
/// hours.
pub const EPOCHS_PUBLISHED: usize = 64;
/// Characters of a name (member, class, invitation).
pub const NAME_CHARS: usize = 64;
/// Validity of an invitation in heights at the most.
pub const INVITATION_WINDOW: u64 = 40_000_000;
/// Addresses listed in an invitation or for a member.
pub const ADDRESSES: usize = 16;
/// Characters of one address.
pub const ADDRESS_CHARS: usize = 256;
/// Bytes of a signed node record: [`ADDRESSES`] addresses of usual length; 20 nodes keep it.
pub const NODE_RECORD_BYTES: usize = 4 << 10;
/// Seconds for which a node record may count. A node that is gone is asked for no longer than that.
pub const NODE_RECORD_SECONDS: u64 = 2 * 3600;

// Every contract can be computed by its mechanism, and signed by a provider that has no other.
const _: () = assert!(CONTRACT_JOBS <= crate::mechanism::contract::limits::BATCH_JOBS_MAX);
const _: () = assert!(CONTRACT_JOBS <= CONTRACT_JOBS_PER_PROVIDER);
const _: () = assert!(CONTRACT_JOBS_PER_PROVIDER <= CONTRACT_JOBS_SIGNED);
const _: () = assert!(BRACKET < 32 && 1u32 << BRACKET == ORDER_UNITS);
const _: () = assert!(ORDER_UNITS <= CLASS_UNITS && OFFER_UNITS <= CLASS_UNITS);
// Every plan of the ledger is the best there is.
const _: () = assert!(JOBS_PER_OFFER <= deadline::EXACT_JOBS);
const _: () = assert!(JOBS_PER_OFFER_ACCOUNT <= JOBS_PER_OFFER && JOBS_PER_OFFER <= JOBS_PER_CLASS);
const _: () = assert!(JOBS_PER_CLASS <= ORDERS_PER_CLASS);
// The mechanism can plan every order by deadline that is valid.
const _: () = assert!(UNIT_SLOTS <= deadline::WORK && ORDER_SLOTS <= deadline::HORIZON);
// A whole order at the highest price for one slot is an amount of money, so is a whole class.
const _: () = assert!(Price::MAX.0 <= Credits::MAX.micros() / CLASS_UNITS as u64);
const _: () = assert!(VALIDATORS <= MEMBERS);
// A clearing's table (16 bytes for each all-or-none bid and number of units) fits a small node's
// memory.
const _: () = assert!(ALL_OR_NONE_PER_CLASS * (CLASS_UNITS as usize + 1) * 16 < 512 << 20);
const _: () = assert!(ALL_OR_NONE_PER_CLASS <= ORDERS_PER_CLASS);
const _: () = assert!(WAITING_BUYS <= ORDERS_PER_CLASS as u64);
// The largest buy (parts, and offers named, of some 70 and 34 bytes) leaves room in its entry.
const _: () = assert!(BUY_PARTS * 70 + OFFERS_PER_ACCOUNT * 34 < ENTRY_BYTES / 2);
const _: () = assert!(0 < ALL_OR_NONE_CHOICE && ALL_OR_NONE_CHOICE <= ALL_OR_NONE_PER_CLASS);
// Every reservation that the ledger takes is within the limits of the mechanism.
const _: () = assert!(RESERVABLE_UNITS as usize <= reservation::NODES);
const _: () = assert!(RESERVATION_UNITS as usize <= reservation::NODES);
const _: () = assert!(RESERVATION_UNITS <= ORDER_UNITS && RESERVATION_SLOTS <= reservation::SLOTS);
const _: () = assert!(RESERVATIONS_DECIDED <= reservation::BIDS);
const _: () = assert!((1 << RESERVATION_GROUPS) - 1 <= reservation::GROUPS);
const _: () = assert!(RESERVATION_GROUPS <= reservation::CLASSES);
const _: () = assert!(RESERVATION_OFFERS * 34 < ENTRY_BYTES / 3);
const _: () = assert!(CLAIMS_PER_POOL <= CLAIMS_PER_CLASS && CLAIMS_PER_CLASS <= ORDERS_PER_CLASS);
// An account alone can have an offer withdrawn that serves nothing, and leaves its house complaints
// for others.
const _: () = assert!(COMPLAINTS_PER_ACCOUNT as usize >= COMPLAINTS_TO_WITHDRAW);
const _: () = assert!(COMPLAINTS_PER_ACCOUNT < COMPLAINTS_PER_SPONSOR);
// Hints leave a block room for its entries.
const _: () = assert!(HINT_BYTES < BLOCK_BYTES / 8);
// A full block of smallest useful entries (256 bytes) fits the bytes of a block.
const _: () = assert!(BLOCK_ENTRIES * 256 <= BLOCK_ENTRIES_BYTES);
const _: () = assert!(ENTRY_BYTES < BLOCK_BYTES && GENESIS_BYTES <= BLOCK_BYTES);
