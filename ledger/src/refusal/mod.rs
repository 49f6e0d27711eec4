//! Why the ledger refuses an entry; why it refuses a block, see
//! [`block`].

mod block;
mod breach;
mod contract;
mod hint;
mod later;
mod reservation;
mod seat;
#[cfg(test)]
mod tests;
mod word;

pub use block::BlockRefusal;
pub use breach::Breach;
pub(crate) use breach::hold;
pub use contract::ContractRefusal;
pub use reservation::Unbookable;
pub use seat::SeatRefusal;
pub use word::{CONTRACT_WORDS, REFUSAL_WORDS, RESERVATION_WORDS, SEAT_WORDS};

use gridbay_protocol::ids::{AccountId, ClassId, EntryId, LeaseId, OfferId, OrderId, ValidatorId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::receipt::ReceiptError;
use gridbay_protocol::units::Credits;

/// Why an entry cannot take effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Its last height has passed.
    #[error("expired: valid until height {valid_until}, the next is {height}")]
    Expired {
        /// Its last height.
        valid_until: u64,
        /// Height it was checked for.
        height: u64,
    },
    /// Its last height is too far away.
    #[error("valid until height {valid_until}, more than the window after {height}")]
    Window {
        /// Its last height.
        valid_until: u64,
        /// Height it was checked for.
        height: u64,
    },
    /// It took effect before.
    #[error("entry {0} took effect before")]
    Used(EntryId),
    /// No such account.
    #[error("no account {0}")]
    NoAccount(AccountId),
    /// The key is none of the account's, or lacks the role.
    #[error("key {key} may not do this for account {account}")]
    Role {
        /// The account.
        account: AccountId,
        /// The key that signed.
        key: Box<PublicKey>,
    },
    /// Another account lists a key.
    #[error("key {0} is one of another account")]
    KeyTaken(Box<PublicKey>),
    /// Not enough money.
    #[error("{purse:?} has {available} available, {needed} needed")]
    Funds {
        /// The purse to debit.
        purse: Purse,
        /// The amount needed.
        needed: Credits,
        /// The amount that can be debited.
        available: Credits,
    },
    /// A sum beyond the range of money.
    #[error("amounts beyond the range of money")]
    Overflow,
    /// The invitation was used.
    #[error("invitation of {inviter} was used")]
    TokenUsed {
        /// Who invited.
        inviter: AccountId,
    },
    /// The invitation is not valid at this height.
    #[error("invitation valid until height {valid_until} is not valid at {height}")]
    Grant {
        /// Its last height.
        valid_until: u64,
        /// Height it was checked for.
        height: u64,
    },
    /// The sponsor answers for as many open accounts of this depth as it may.
    #[error("sponsor {sponsor} has {limit} open accounts of this depth, as many as it may")]
    AccountQuota {
        /// The sponsor.
        sponsor: AccountId,
        /// The limit.
        limit: u32,
    },
    /// Only members open accounts without an invitation.
    #[error("account {0} is no founding member's")]
    NotMember(AccountId),
    /// The account runs no validator.
    #[error("account {0} runs no validator")]
    NoValidator(AccountId),
    /// The class is not traded here.
    #[error("no class {0}")]
    NoClass(ClassId),
    /// No such offer of this account.
    #[error("no offer {0}")]
    NoOffer(OfferId),
    /// An offer cannot change its class.
    #[error("offer {offer} is of class {class}")]
    OfferClass {
        /// The offer.
        offer: OfferId,
        /// Its class.
        class: ClassId,
    },
    /// The account has as many offers as it may.
    #[error("account {account} has {limit} offers, as many as it may")]
    OfferQuota {
        /// The account.
        account: AccountId,
        /// The limit.
        limit: usize,
    },
    /// The class has as many units on offer as it may.
    #[error(
        "class {class} would have {units} units with what is kept for others, {limit} are the limit"
    )]
    ClassUnits {
        /// The class.
        class: ClassId,
        /// Units with this offer and what is kept for institutions that offer less than their part.
        units: u64,
        /// The limit.
        limit: u32,
    },
    /// No such order, or another account's.
    #[error("no order {0} of this account")]
    NoOrder(OrderId),
    /// The account or the class has as many live orders as it may.
    #[error("class {class} has no room for another order of account {account}")]
    OrderQuota {
        /// The account.
        account: AccountId,
        /// The class.
        class: ClassId,
    },
    /// The class has as many all-or-none bids as it may.
    #[error("class {class} has {limit} all-or-none bids, as many as it may")]
    AllOrNoneQuota {
        /// The class.
        class: ClassId,
        /// The limit.
        limit: usize,
    },
    /// The account has a sealed bid of this class and round already.
    #[error("order {0} of this round is still sealed")]
    SealedAlready(OrderId),
    /// Openings are for the round after the commitment's, all blocks but the last.
    #[error("order {order} can be opened in heights {first} to {last}")]
    OpeningTime {
        /// The order.
        order: OrderId,
        /// First height.
        first: u64,
        /// Last height.
        last: u64,
        /// Whether that is still to come.
        early: bool,
    },
    /// The order was opened before, or is a buy.
    #[error("order {0} is not sealed")]
    NotSealed(OrderId),
    /// The opened contents are not those that were sealed.
    #[error("the opening of order {0} does not match its commitment")]
    Seal(OrderId),
    /// The order to be amended is no opened bid.
    #[error("order {0} is no opened bid")]
    NotABid(OrderId),
    /// An amendment that changes more than prices, budget and how long the bid stands.
    #[error("an amendment changes class, units, slots or work of order {0}")]
    Reshaped(OrderId),
    /// After the order's payments too little of the amendment's budget is left for one slot at its
    /// bid.
    #[error("payments leave {left} of the budget, one slot at the bid is {slot}")]
    Spent {
        /// The rest of the budget.
        left: Credits,
        /// One slot at the bid.
        slot: Credits,
    },
    /// The budget does not cover one slot at the bid.
    #[error("budget {budget} is below one slot at the bid, {slot}")]
    Budget {
        /// The budget.
        budget: Credits,
        /// One slot at the bid.
        slot: Credits,
    },
    /// The order would stand too long, or not at all.
    #[error("order would stand until height {stands_until}")]
    Standing {
        /// Height asked for.
        stands_until: u64,
    },
    /// A sealed bid cannot be cancelled.
    #[error("order {0} is sealed and cannot be cancelled")]
    Sealed(OrderId),
    /// The order ends already.
    #[error("order {0} ends with the running slot already")]
    Exiting(OrderId),
    /// Not in the block that closes a round.
    #[error("height {0} closes a round: no last look")]
    Closing(u64),
    /// No such lease.
    #[error("no lease {0}")]
    NoLease(LeaseId),
    /// The account has no offer in the lease that is still to be acknowledged, or none at all.
    #[error("account {seller} has nothing to deliver in lease {lease}")]
    NothingToDeliver {
        /// The lease.
        lease: LeaseId,
        /// The seller.
        seller: AccountId,
    },
    /// More slots than a buy may prepay.
    #[error("{slots} slots, a buy may prepay {limit}")]
    FirmSlots {
        /// Slots asked for.
        slots: u32,
        /// The limit.
        limit: u32,
    },
    /// A surcharge for evicting others, where the policy evicts nobody.
    #[error("a surcharge of {0}, where nobody is evicted")]
    Surcharge(Credits),
    /// The offer takes no jobs by deadlines: it does not exist, is of another class, sells under
    /// another mechanism, is suspended, or is about to be reduced or withdrawn.
    #[error("offer {0} takes no jobs by deadlines")]
    NotPlanned(OfferId),
    /// More work than the offer can do by the hard deadline.
    #[error("{unit_slots} unit-slots, offer {offer} can do {room} by the hard deadline")]
    TooMuchWork {
        /// The offer.
        offer: OfferId,
        /// Work asked for.
        unit_slots: u64,
        /// All its units until the hard deadline.
        room: u64,
    },
    /// The lowest price of a job does not cover the offer's reserve for its work.
    #[error("offer {offer} does the work for no less than {least}")]
    BelowReserve {
        /// The offer.
        offer: OfferId,
        /// Its reserve for the work.
        least: Credits,
    },
    /// The offer, its class, or the account at the offer has as many live jobs as it may.
    #[error("offer {offer} has no room for another job of account {account}")]
    JobQuota {
        /// The account.
        account: AccountId,
        /// The offer.
        offer: OfferId,
    },
    /// A wish that cannot be reserved, or an offer that cannot be sold under reservation.
    #[error(transparent)]
    Reservation(#[from] Unbookable),
    /// No pool under this id sells shares.
    #[error("offer {0} is no pool that sells shares")]
    NoPool(OfferId),
    /// A claim must weigh each resource of the pool's class.
    #[error("{weights} weights for {resources} resources")]
    PoolWeights {
        /// Weights of the claim.
        weights: usize,
        /// Resources of the class.
        resources: usize,
    },
    /// The pool, or its class, has as many claims as it may.
    #[error("pool {pool} has no room for another claim, {limit} are the limit")]
    PoolFull {
        /// The pool.
        pool: OfferId,
        /// The limit of one pool.
        limit: usize,
    },
    /// The account has a claim on this pool already.
    #[error("order {0} of this account claims a share of this pool already")]
    PoolTwice(OrderId),
    /// No unopened bid of this account waits for an appeal under this id.
    #[error("order {0} of this account waits for no appeal")]
    NothingToAppeal(OrderId),
    /// The opening, or its bid, was not good until the last block in which it could have been
    /// included.
    #[error("the opening of order {order} was not good until height {last}")]
    OpeningLapsed {
        /// The order.
        order: OrderId,
        /// Height of that block.
        last: u64,
    },
    /// The account could not have paid for the opening in every block, or replaced its keys.
    #[error("the account could not have opened order {0} in every block")]
    OpeningUnfunded(OrderId),
    /// A receipt that left no time for inclusion.
    #[error("order {order}: acknowledged at tip {height}, {latest} would have been in time")]
    ReceiptLate {
        /// The order.
        order: OrderId,
        /// Tip at which it was acknowledged.
        height: u64,
        /// Latest tip in time.
        latest: u64,
    },
    /// Receipts that show nothing.
    #[error("receipts")]
    Receipts(#[from] ReceiptError),
    /// Receipts of no more than a third of the power.
    #[error("order {order}: receipts of power {power} of {total}, more than a third is needed")]
    ReceiptPower {
        /// The order.
        order: OrderId,
        /// Power of their signers.
        power: u64,
        /// Power of all validators.
        total: u64,
    },
    /// Against the rules of contracts.
    #[error(transparent)]
    Contract(#[from] ContractRefusal),
    /// The block is full.
    #[error("no room in the block of height {0}")]
    BlockFull(u64),
    /// Another beacon chain of the validator was registered and does not count yet.
    #[error("validator {validator} has registered a beacon that counts from epoch {epoch}")]
    BeaconWaits {
        /// The validator.
        validator: ValidatorId,
        /// First epoch in which it counts.
        epoch: u64,
    },
    /// No lease holds acknowledged units of the offer, so nobody asks for a sign of life.
    #[error("no lease holds acknowledged units of offer {0}")]
    Idle(OfferId),
    /// The seller's node gave a sign of life in this slot.
    #[error("seller {seller} gave a sign of life in slot {slot}")]
    HeartbeatTwice {
        /// The seller.
        seller: AccountId,
        /// The slot.
        slot: u64,
    },
    /// The account has no acknowledged units of the offer in that slot of the lease, and nothing of
    /// it is held.
    #[error("slot {slot} of lease {lease} at offer {offer} cannot be complained of")]
    NothingToComplain {
        /// The lease.
        lease: LeaseId,
        /// The offer.
        offer: OfferId,
        /// The slot.
        slot: u64,
    },
    /// An account, or all accounts of its sponsor, complained as often as they may in an epoch.
    #[error("account {account}: {limit} complaints in this epoch")]
    ComplaintQuota {
        /// The account, or its sponsor.
        account: AccountId,
        /// The limit.
        limit: u32,
    },
    /// The account has put as much into the ledger in this epoch as it may.
    #[error(
        "account {account} has {entries} entries and {bytes} bytes of this epoch, and no more until height {next}"
    )]
    EntryBudget {
        /// The account.
        account: AccountId,
        /// Entries of this epoch.
        entries: u32,
        /// Bytes of them.
        bytes: u64,
        /// First height of the next epoch.
        next: u64,
    },
    /// An opened or amended order that has not been decided on.
    #[error("order {0} was opened and is final until its clearing")]
    Final(OrderId),
    /// A sealed bid may be an amendment of the order to be cancelled.
    #[error("order {0} of this account and class is to be opened first")]
    Unopened(OrderId),
    /// The inviter may invite nobody now.
    #[error(transparent)]
    Seat(#[from] SeatRefusal),
    /// A founding member's account is never closed.
    #[error("account {0} is a founding member's and stays")]
    Founder(AccountId),
    /// An account that has something open is not closed.
    #[error("account {account} has {what}")]
    StillOpen {
        /// The account.
        account: AccountId,
        /// The records that it has open, in words.
        what: &'static str,
    },
}
