//! Names of the variants that a batch must see, complete by the compiler's word.

use gridbay_core::effect::Effect;
use gridbay_core::input::{Command, Input};
use gridbay_ledger::Refusal;
use gridbay_protocol::clearing::ClearingKind;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::payment::Reason;

/// A name for each variant, and the list of all of them.
macro_rules! variants {
    ($all:ident, $name:ident, $type:ident: $($variant:ident),+ $(,)?) => {
        const $all: &[&str] = &[$(stringify!($variant)),+];
        /// Name of a variant.
        pub(crate) fn $name(item: &$type) -> &'static str {
            match item { $($type::$variant { .. } => stringify!($variant)),+ }
        }
    };
}

variants!(INPUTS, input_name, Input:
    Start, Tick, PeerUp, PeerDown, Host, Advert, Asked, Answered, Command, Staged, JobPhase, Fetched,
);
variants!(COMMANDS, command_name, Command:
    Order, Cancel, SetOffer, WithdrawOffer, Transfer, Send, Join, Drain,
);
variants!(EFFECTS, effect_name, Effect:
    WakeAt, Broadcast, Send, Penalise, Gossip, Judge, Ask, Answer, Report, ReadOutput, Stage, StartJob,
    StopJob, RemoveJob, SaveOrder, AppendOutput, ResetOutput, FetchOutputs, KeepFiles, Reply, Decided,
);
variants!(REFUSALS, refusal_name, Refusal:
    Expired, Window, Used, NoAccount, Role, KeyTaken, Funds, Overflow, TokenUsed, Grant, AccountQuota,
    NotMember, NoValidator, NoClass, NoOffer, OfferClass, OfferQuota, ClassUnits, NoOrder, OrderQuota,
    AllOrNoneQuota, SealedAlready, OpeningTime, NotSealed, Seal, Budget, Standing, Sealed, Exiting,
    Closing, NoLease, NothingToDeliver, FirmSlots, NothingToAppeal, OpeningLapsed, OpeningUnfunded,
    ReceiptLate, Receipts, ReceiptPower, NoPool, PoolWeights, PoolFull, PoolTwice, BlockFull,
);
variants!(ENTRIES, entry_name, EntryBody:
    SetKeys, OpenAccount, RegisterBeacon, Transfer, SetOffer, WithdrawOffer, Deliver, Fail, Cancel,
    Commit, Open, Appeal, Buy, Share,
);
variants!(REASONS, reason_name, Reason:
    Transfer, Endowment, Deposit, Release, Forfeit, Lock, Charge, Earning, Refund, Compensation, Bond, Damages,
);
variants!(ORDER_ENDS, order_end_name, OrderEnd:
    NotOpened, Waived, Excused, Unfunded, Cancelled, TimedOut, Served, NoUnits, TooDear,
);
variants!(LEASE_EVENTS, lease_event_name, LeaseEvent: Started, Renewed, Ended);
variants!(LEASE_ENDS, lease_end_name, LeaseEnd:
    Exit, Expired, Outbid, Preempted, Unfunded, Undelivered, Unserved,
);
variants!(CLEARING_KINDS, clearing_kind_name, ClearingKind: Boundary, Free);
const MARKET: &[&str] = &[
    "ContestedClearing",
    "Purchase",
    "Preemption",
    "ContestedPool",
];

/// The types that a batch covers, each with all of its variants.
pub const KINDS: &[(&str, &[&str])] = &[
    ("Input", INPUTS),
    ("Command", COMMANDS),
    ("Effect", EFFECTS),
    ("Refusal", REFUSALS),
    ("EntryBody", ENTRIES),
    ("Reason", REASONS),
    ("OrderEnd", ORDER_ENDS),
    ("LeaseEvent", LEASE_EVENTS),
    ("LeaseEnd", LEASE_ENDS),
    ("ClearingKind", CLEARING_KINDS),
    ("Market", MARKET),
];
