//! Names of the variants that a batch must see, complete by the compiler's word.

use gridbay_core::effect::Effect;
use gridbay_core::input::{Command, Input};
use gridbay_ledger::Refusal;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::order::ContractEntry;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::record::ausubel::ClearingKind;
use gridbay_protocol::record::contract::ContractEvent;

/// A name for each variant, and the list of those that a batch must see: all but those after the
/// semicolon, which no world leads to.
macro_rules! variants {
    ($all:ident, $name:ident, $type:ident: $($variant:ident),+ $(,)? $(; $($never:ident),+)?) => {
        const $all: &[&str] = &[$(stringify!($variant)),+];
        /// Name of a variant.
        pub(crate) fn $name(item: &$type) -> &'static str {
            match item {
                $($type::$variant { .. } => stringify!($variant),)+
                $($($type::$never { .. } => stringify!($never),)+)?
            }
        }
    };
}

variants!(INPUTS, input_name, Input:
    Start, Tick, PeerUp, PeerDown, Host, Advert, About, Asked, Answered, Command, Staged, JobPhase, Fetched,
    Hinted, Checkpointed;
    // Copies take a lease of several nodes that keeps its progress, which few worlds have.
    Pulled,
    // Disks of this world are never short of room.
    Short
);
variants!(COMMANDS, command_name, Command:
    Admit, Amend, Attend, Cancel, CloseAccount, Contract, Drain, Join, Order, Send, SetOffer, Transfer,
    Visit, WithdrawOffer;
    // A node that drains in this world is started again instead.
    Resume,
    // Each node of this world has one user.
    ProjectOrder
);
variants!(EFFECTS, effect_name, Effect:
    WakeAt, Broadcast, Send, Penalise, Gossip, Judge, Ask, Answer, Report, ReadOutput, Stage, StartJob,
    StopJob, RemoveJob, SaveOrder, AppendOutput, ResetOutput, FetchOutputs, KeepFiles, Reply, SeekHints, Decided,
    SaveWithheld, Connect, Disconnect, ShowCheckpoint, FetchCheckpoint, KeepCheckpoint, ShowLinks, Relay, EndRelay;
    // A checkpoint of this world comes with its manifest.
    ReadKept, ReadCopy,
    // See above.
    OfferCopy, PullCopy, KeepCopy, SaveCopies, FetchCopy
);
variants!(REFUSALS, refusal_name, Refusal:
    Expired, Window, Used, NoAccount, Role, KeyTaken, Funds, Overflow, TokenUsed, Grant, AccountQuota,
    NotMember, NoValidator, NoClass, NoOffer, OfferClass, OfferQuota, ClassUnits, NoOrder, OrderQuota,
    Contract, AllOrNoneQuota, SealedAlready, OpeningTime, NotSealed, Seal, Budget, Standing, Sealed, Exiting,
    Closing, NoLease, NothingToDeliver, FirmSlots, Surcharge, Reservation, NothingToAppeal, OpeningLapsed, OpeningUnfunded,
    ReceiptLate, Receipts, ReceiptPower, NotABid, Reshaped, Spent, BlockFull, NoPool, PoolWeights, PoolFull, PoolTwice, NotPlanned, TooMuchWork, BelowReserve, JobQuota,
    Idle, HeartbeatTwice, NothingToComplain, ComplaintQuota, BeaconWaits,
    EntryBudget, Final, Unopened, Seat, Founder, StillOpen,
);
variants!(ENTRIES, entry_name, EntryBody:
    SetKeys, OpenAccount, RegisterBeacon, Transfer, SetOffer, WithdrawOffer, Deliver, Fail, Cancel,
    Commit, Open, Appeal, Buy, Deadline, Contract, Share, Heartbeat, Complain, CloseAccount, Posted,
);
variants!(CONTRACT_WORDS, contract_word_name, ContractEntry:
    Propose, Sign, Request, Close, Serve, Complete,
);
variants!(REASONS, reason_name, Reason:
    Arrears, Bond, Cancellation, Charge, Compensation, Damages, Deposit, Earning, Endowment, Forfeit, Lock,
    Profit, Refund, Release, Relief, Retained, Revenue, Tax, Transfer,
);
variants!(ORDER_ENDS, order_end_name, OrderEnd:
    NotOpened, Waived, Excused, Unfunded, Cancelled, TimedOut, Served, NoUnits, Short, TooDear, Evicted,
    NoGain, NoRoom, Unstaked, Missed, Amended, Lapsed,
);
variants!(CONTRACT_EVENTS, contract_event_name, ContractEvent: Signed, Decided, Settled, Lapsed);
variants!(LEASE_EVENTS, lease_event_name, LeaseEvent: Started, Renewed, Ended, Disputed);
variants!(LEASE_ENDS, lease_end_name, LeaseEnd:
    Exit, Expired, Outbid, Preempted, Unfunded, Undelivered, Paused, Unserved, Disputed,
);
variants!(CLEARING_KINDS, clearing_kind_name, ClearingKind: Boundary, Free);
variants!(RULES, rule_name, Rule: Exact, Floor, Paper);
const MARKET: &[&str] = &[
    "ContestedClearing",
    "Purchase",
    "Preemption",
    "Group",
    "Planning",
    "Booking",
    "Hint",
    "Passover",
    "ContestedPool",
    "HeldFirst",
    "JobDone",
    "JobFailed",
    "Hired",
    "HiredInPart",
    "HiredOut",
];

/// The types that a batch covers, each with all of its variants.
pub const KINDS: &[(&str, &[&str])] = &[
    ("Input", INPUTS),
    ("Command", COMMANDS),
    ("Effect", EFFECTS),
    ("Refusal", REFUSALS),
    ("EntryBody", ENTRIES),
    ("ContractEntry", CONTRACT_WORDS),
    ("Reason", REASONS),
    ("OrderEnd", ORDER_ENDS),
    ("ContractEvent", CONTRACT_EVENTS),
    ("LeaseEvent", LEASE_EVENTS),
    ("LeaseEnd", LEASE_ENDS),
    ("ClearingKind", CLEARING_KINDS),
    ("Rule", RULES),
    ("Market", MARKET),
];

/// Faults of streams and inboxes, and what comes of them, by the names under which they count.
pub const FAULTS: &[&str] = &[
    "classes reordered",
    "message held",
    "message read slowly",
    "message that overtakes",
    "message without room",
    "slow reader",
    "stalled stream",
];

/// Deeds of users, by the names under which they are counted.
pub const DEEDS: &[&str] = &[
    "account closed",
    "account opened",
    "admission",
    "amendment",
    "attendance",
    "batch of jobs",
    "bid",
    "bid by hand",
    "blunder",
    "buy",
    "buy by hand",
    "cancellation",
    "change of keys",
    "claim",
    "contract closed",
    "drain",
    "entry in a flood",
    "flood",
    "hire",
    "hires by hand",
    "hoard of offers",
    "job by deadline",
    "job in vain",
    "joining",
    "lease given up",
    "noise",
    "offer",
    "offer that nobody delivers",
    "patient bid",
    "planned offer",
    "planned offer that nobody delivers",
    "pool",
    "posted offer",
    "reservation",
    "transfer",
    "visit",
    "withdrawal",
    "word of a contract",
    "wrong word of a contract",
];
