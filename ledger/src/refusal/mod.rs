//! Why the ledger refuses an entry; why it refuses a block, see
//! [`block`].

#[macro_use]
mod table;

mod block;
mod breach;
mod contract;
mod reservation;
mod seat;
#[cfg(test)]
mod tests;

pub use block::BlockRefusal;
pub use breach::Breach;
pub(crate) use breach::hold;
pub use contract::{CONTRACT_WORDS, ContractRefusal};
pub use reservation::{RESERVATION_WORDS, Unbookable};
pub use seat::{SEAT_WORDS, SeatRefusal};

use gridbay_protocol::ids::{AccountId, ClassId, EntryId, LeaseId, OfferId, OrderId, ValidatorId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::payment::Purse;
use gridbay_protocol::receipt::ReceiptError;
use gridbay_protocol::units::Credits;

refusals! {
    /// Why an entry cannot take effect.
    [Clone] Refusal, REFUSAL_WORDS;

    /// Its last height has passed.
    Expired { valid_until: u64, height: u64 } = "expired", never:
        "expired: valid until height {valid_until}, the next is {height}",
        "send it again with a later last height";
    /// Its last height is too far away.
    Window { valid_until: u64, height: u64 } = "window", later:
        "valid until height {valid_until}, more than the window after {height}",
        "choose an earlier last height";
    /// It took effect before.
    Used(EntryId) = "used", never:
        "entry {0} took effect before",
        "nothing to do: it is in the ledger";
    /// No such account.
    NoAccount(AccountId) = "no_account", later:
        "no account {0}",
        "check the account's id; new accounts open by invitation";
    /// The key is none of the account's, or lacks the role.
    Role { account: AccountId, key: Box<PublicKey> } = "role", later:
        "key {key} may not do this for account {account}",
        "sign with a key of the account that has the role";
    /// Another account lists a key.
    KeyTaken(Box<PublicKey>) = "key_taken", later:
        "key {0} is one of another account",
        "use a key of your own that no account lists";
    /// Not enough money.
    Funds { purse: Purse, needed: Credits, available: Credits } = "funds", later:
        "{purse:?} has {available} available, {needed} needed",
        "ask for less, or have money transferred to the account";
    /// A sum beyond the range of money.
    Overflow = "overflow", never:
        "amounts beyond the range of money",
        "use smaller amounts";
    /// The invitation was used.
    TokenUsed { inviter: AccountId } = "token_used", never:
        "invitation of {inviter} was used",
        "ask for a new invitation";
    /// The invitation is not valid at this height.
    Grant { valid_until: u64, height: u64 } = "grant", depends:
        "invitation valid until height {valid_until} is not valid at {height}",
        "ask for an invitation that is valid now";
    /// The sponsor answers for as many open accounts of this depth as it may.
    AccountQuota { sponsor: AccountId, limit: u32 } = "account_quota", later:
        "sponsor {sponsor} has {limit} open accounts of this depth, as many as it may",
        "ask another member for an invitation";
    /// Only members open accounts without an invitation.
    NotMember(AccountId) = "not_member", never:
        "account {0} is no founding member's",
        "ask a member to open it, or invite";
    /// The account runs no validator.
    NoValidator(AccountId) = "no_validator", never:
        "account {0} runs no validator",
        "only members with a validator register beacons";
    /// The class is not traded here.
    NoClass(ClassId) = "no_class", never:
        "no class {0}",
        "list the classes of this network";
    /// No such offer of this account.
    NoOffer(OfferId) = "no_offer", later:
        "no offer {0}",
        "list your offers";
    /// An offer cannot change its class.
    OfferClass { offer: OfferId, class: ClassId } = "offer_class", later:
        "offer {offer} is of class {class}",
        "use another label for another class";
    /// The account has as many offers as it may.
    OfferQuota { account: AccountId, limit: usize } = "offer_quota", later:
        "account {account} has {limit} offers, as many as it may",
        "withdraw an offer, or put more units into one";
    /// The class has as many units on offer as it may, with what is kept for other institutions.
    ClassUnits {
        class: ClassId,
        /// Units with this offer and what is kept for institutions that offer less than their part.
        units: u64,
        limit: u32,
    } = "class_units", later:
        "class {class} would have {units} units with what is kept for others, \
         {limit} are the limit",
        "offer fewer units";
    /// No such order, or another account's.
    NoOrder(OrderId) = "no_order", later:
        "no order {0} of this account",
        "list your orders; it may have ended";
    /// The account or the class has as many live orders as it may.
    OrderQuota { account: AccountId, class: ClassId } = "order_quota", later:
        "class {class} has no room for another order of account {account}",
        "wait until an order ends, or cancel one";
    /// The class has as many all-or-none bids as it may.
    AllOrNoneQuota { class: ClassId, limit: usize } = "all_or_none_quota", later:
        "class {class} has {limit} all-or-none bids, as many as it may",
        "bid for units one by one, or buy now";
    /// The account has a sealed bid of this class and round already.
    SealedAlready(OrderId) = "sealed_already", later:
        "order {0} of this round is still sealed",
        "send one sealed bid per class and round";
    /// Openings are for the round after the commitment's, all blocks but the last.
    OpeningTime {
        order: OrderId,
        first: u64,
        last: u64,
        /// Whether that is still to come.
        early: bool,
    } = "opening_time", depends:
        "order {order} can be opened in heights {first} to {last}",
        "open a sealed bid in the round after its commitment";
    /// The order was opened before, or is a buy.
    NotSealed(OrderId) = "not_sealed", never:
        "order {0} is not sealed",
        "nothing to open";
    /// The opened contents are not those that were sealed.
    Seal(OrderId) = "seal", never:
        "the opening of order {0} does not match its commitment",
        "open with the very bid and salt that were sealed";
    /// The order to be amended is no opened bid.
    NotABid(OrderId) = "not_a_bid", later:
        "order {0} is no opened bid",
        "amend bids only; others have a price of their own";
    /// An amendment changes class, units, slots or work of its order.
    Reshaped(OrderId) = "reshaped", later:
        "an amendment changes class, units, slots or work of order {0}",
        "change prices, budget or patience only, or order anew";
    /// After the order's payments too little of the amendment's budget is left for one slot at its
    /// bid.
    Spent { left: Credits, slot: Credits } = "spent", later:
        "payments leave {left} of the budget, one slot at the bid is {slot}",
        "raise the budget: it is for the whole order";
    /// The budget does not cover one slot at the bid.
    Budget { budget: Credits, slot: Credits } = "budget", never:
        "budget {budget} is below one slot at the bid, {slot}",
        "raise the budget or lower the bid";
    /// The order would stand too long, or not at all.
    Standing { stands_until: u64 } = "standing", never:
        "order would stand until height {stands_until}",
        "choose a last height within the limits";
    /// A sealed bid cannot be cancelled.
    Sealed(OrderId) = "sealed", later:
        "order {0} is sealed and cannot be cancelled",
        "open it first; unopened it ends by itself and costs its deposit";
    /// The order ends already.
    Exiting(OrderId) = "exiting", never:
        "order {0} ends with the running slot already",
        "nothing to do: it ends with the slot";
    /// Not in the block that closes a round.
    Closing(u64) = "closing", later:
        "height {0} closes a round: no last look",
        "send it again in the next block";
    /// No such lease.
    NoLease(LeaseId) = "no_lease", later:
        "no lease {0}",
        "list your leases; it may have ended";
    /// The account has no offer in the lease that is still to be acknowledged, or none at all.
    NothingToDeliver { lease: LeaseId, seller: AccountId } = "nothing_to_deliver", later:
        "account {seller} has nothing to deliver in lease {lease}",
        "nothing to do";
    /// More slots than a buy may prepay.
    FirmSlots { slots: u32, limit: u32 } = "firm_slots", never:
        "{slots} slots, a buy may prepay {limit}",
        "buy fewer slots";
    /// A surcharge for evicting others, where the policy evicts nobody.
    Surcharge(Credits) = "surcharge", never:
        "a surcharge of {0}, where nobody is evicted",
        "leave the surcharge out, and wait instead";
    /// The offer takes no jobs by deadlines: it is not there, of another class, sells otherwise, or
    /// is about to be reduced or withdrawn.
    NotPlanned(OfferId) = "not_planned", later:
        "offer {0} takes no jobs by deadlines",
        "list the offers that are sold by deadline";
    /// More work than the offer can do by the hard deadline.
    TooMuchWork { offer: OfferId, unit_slots: u64, room: u64 } = "too_much_work", later:
        "{unit_slots} unit-slots, offer {offer} can do {room} by the hard deadline",
        "choose a later hard deadline or a larger offer";
    /// The lowest price of a job does not cover the offer's reserve for its work.
    BelowReserve { offer: OfferId, least: Credits } = "below_reserve", later:
        "offer {offer} does the work for no less than {least}",
        "pay more at the hard deadline, or ask another seller";
    /// The offer, its class, or the account at the offer has as many live jobs as it may.
    JobQuota { account: AccountId, offer: OfferId } = "job_quota", later:
        "offer {offer} has no room for another job of account {account}",
        "wait until a job ends, or ask another seller";
    /// The offer is no pool that sells shares.
    NoPool(OfferId) = "no_pool", later:
        "offer {0} is no pool that sells shares",
        "choose an offer whose mechanism is share";
    /// A claim must weigh each resource of the pool's class.
    PoolWeights { weights: usize, resources: usize } = "pool_weights", never:
        "{weights} weights for {resources} resources",
        "state one weight for each resource of the class";
    /// The pool, or its class, has as many claims as it may.
    PoolFull { pool: OfferId, limit: usize } = "pool_full", later:
        "pool {pool} has no room for another claim, {limit} are the limit",
        "choose another pool, or wait until a claim ends";
    /// The account has a claim on this pool already.
    PoolTwice(OrderId) = "pool_twice", later:
        "order {0} of this account claims a share of this pool already",
        "cancel the other claim, or choose another pool";
    /// No unopened bid of this account waits for an appeal under this id.
    NothingToAppeal(OrderId) = "nothing_to_appeal", later:
        "order {0} of this account waits for no appeal",
        "list your orders; the time for an appeal may be over";
    /// The opening, or its bid, was not good until the last block in which it could have been
    /// included.
    OpeningLapsed { order: OrderId, last: u64 } = "opening_lapsed", never:
        "the opening of order {order} was not good until height {last}",
        "let openings be valid until their round closes";
    /// The account could not have paid for the opening in every block, or replaced its keys.
    OpeningUnfunded(OrderId) = "opening_unfunded", never:
        "the account could not have opened order {0} in every block",
        "keep money and keys while bids are being opened";
    /// A receipt that left no time for inclusion.
    ReceiptLate { order: OrderId, height: u64, latest: u64 } = "receipt_late", never:
        "order {order}: acknowledged at tip {height}, {latest} would have been in time",
        "send openings as soon as their round begins";
    /// Receipts that show nothing.
    Receipts(#[from] ReceiptError) = "receipts", never:
        "receipts",
        "bring the receipts of this opening as they were given";
    /// Receipts of no more than a third of the power.
    ReceiptPower { order: OrderId, power: u64, total: u64 } = "receipt_power", never:
        "order {order}: receipts of power {power} of {total}, more than a third is needed",
        "bring the receipts of more validators";
    /// The block is full.
    BlockFull(u64) = "block_full", later:
        "no room in the block of height {0}",
        "wait for the next block";
    /// Another beacon chain of the validator was registered and does not count yet.
    BeaconWaits { validator: ValidatorId, epoch: u64 } = "beacon_waits", later:
        "validator {validator} has registered a beacon that counts from epoch {epoch}",
        "wait until the registered beacon counts";
    /// No lease holds acknowledged units of the offer, so nobody asks for a sign of life.
    Idle(OfferId) = "idle", later:
        "no lease holds acknowledged units of offer {0}",
        "acknowledge a lease first; agents do so, and beat, by themselves";
    /// The seller's node gave a sign of life in this slot.
    HeartbeatTwice { seller: AccountId, slot: u64 } = "heartbeat_twice", later:
        "seller {seller} gave a sign of life in slot {slot}",
        "nothing to do: one a slot is enough";
    /// The slot is neither running on acknowledged units of that offer for this buyer, nor held.
    NothingToComplain { lease: LeaseId, offer: OfferId, slot: u64 } = "nothing_to_complain", later:
        "slot {slot} of lease {lease} at offer {offer} cannot be complained of",
        "complain in the slot, or while its pay is held";
    /// An account, or all accounts of its sponsor, complained as often as they may in an epoch.
    ComplaintQuota { account: AccountId, limit: u32 } = "complaint_quota", later:
        "account {account}: {limit} complaints in this epoch",
        "wait for the next epoch, or buy from others";
    /// The account has put as much into the ledger in this epoch as it may.
    EntryBudget { account: AccountId, entries: u32, bytes: u64, next: u64 } = "entry_budget", later:
        "account {account} has {entries} entries and {bytes} bytes of this epoch, \
         and no more until height {next}",
        "wait for the next epoch, see gridbay ledger balance";
    /// An opened or amended order that has not been decided on.
    Final(OrderId) = "final", later:
        "order {0} was opened and is final until its clearing",
        "cancel it after its clearing";
    /// A sealed bid may be an amendment of the order to be cancelled.
    Unopened(OrderId) = "unopened", later:
        "order {0} of this account and class is to be opened first",
        "open that one first, or wait until its round is over";
    /// A founding member's account is never closed.
    Founder(AccountId) = "founder", never:
        "account {0} is a founding member's and stays",
        "members stay; leave it empty";
    /// An account that has something open is not closed.
    StillOpen { account: AccountId, what: &'static str } = "still_open", later:
        "account {account} has {what}",
        "wait until it has ended, or end it, and close then";

    @inner
    /// A wish that cannot be reserved, or an offer that cannot be sold under reservation.
    Reservation(Unbookable);
    /// Against the rules of contracts.
    Contract(ContractRefusal);
    /// The inviter may invite nobody now.
    Seat(SeatRefusal);
}

impl Refusal {
    /// Refusals for being too early may pass.
    fn depends(&self) -> bool {
        match self {
            Refusal::Grant {
                valid_until,
                height,
            } => valid_until > height,
            Refusal::OpeningTime { early, .. } => *early,
            _ => false,
        }
    }
}
