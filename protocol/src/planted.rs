//! Planted faults: what the tests of this project must find, or be too weak.
//!
//! 1. Each [`Planted`] breaks one rule, at one line at the heart of the code that keeps it.
//! 2. Without the cargo feature `planted` (never a default) [`is`] is a constant `false`, and nothing of the faults
//!    is compiled. The node refuses to be compiled with it, see [`COMPILED`].
//! 3. With it one fault, or none, acts in the whole process: the one that the environment variable [`VARIABLE`]
//!    names, unless the program chooses another.
//!
//! `docs/planted.md` says who finds which fault. `gridbay-sim hunt` and the script `testnet/sim/hunt` look for them.

use std::str::FromStr;

/// Whether this build holds planted faults.
pub const COMPILED: bool = cfg!(feature = "planted");

/// Name of the environment variable that chooses a fault by its name.
pub const VARIABLE: &str = "GRIDBAY_PLANTED";

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// A fault, named after the mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Planted {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Planted {
            /// All faults, by layer.
            pub const ALL: &[Planted] = &[$(Planted::$name),+];
            /// Its name, as in the list of faults.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Planted::$name => stringify!($name),)+
                }
            }
            /// What is wrong, in a sentence or two.
            pub const fn what(self) -> &'static str {
                match self {
                    $(Planted::$name => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

faults! {
    // Protocol: codec, signatures, certificates, beacon.
    /// The signature of an entry is not checked.
    SkipEntrySignature,
    /// The inviter's signature under a grant is not checked.
    SkipGrantSignature,
    /// A vote's signature is not checked.
    SkipVoteSignature,
    /// A proposal's signature is not checked.
    SkipProposalSignature,
    /// The signatures of a certificate are not checked.
    SkipCertificateSignature,
    /// What is signed does not name the network.
    NetworkNotSigned,
    /// The codec takes encodings that are not the canonical one.
    LaxCodec,
    /// Half of the power makes a certificate.
    HalfQuorum,
    /// A certificate counts a signer as often as it names him.
    CountSignerTwice,
    /// The beacon does not depend on what is revealed.
    MixWithoutReveal,

    // Protocol: mechanisms.
    /// A winner of units that can be split pays a micro-credit too much.
    PriceOffByOne,
    /// Units sell below their reserve.
    ReserveIgnored,
    /// Who wants all or none gets some.
    BrokenAllOrNone,
    /// A clearing sells one unit more than there is.
    Oversell,
    /// What does not divide evenly among sellers is lost.
    LostRemainder,
    /// Ties go by the order's id, which the bidder chooses, not by its rank under the beacon.
    TiesByOrderId,
    /// Winners of one sponsor pay no more together than each for itself.
    SponsorUncharged,
    /// Winners of one sponsor pay a micro-credit too little for their joint removal.
    SponsorShort,

    // Ledger: entries and blocks.
    /// An entry takes effect each time it is sent.
    ForgetUsedEntries,
    /// An entry is taken after its last height.
    AcceptExpired,
    /// Any key signs for an account.
    RoleUnchecked,
    /// An account spends what it does not have.
    FundsUnchecked,
    /// An invitation opens more than one account.
    TokenReusable,
    /// An opening need not match its seal.
    SealUnchecked,
    /// A bid can be opened in the last block of the round before, when it is still secret.
    OpenEarly,
    /// A bid can be opened in the block that clears.
    OpenLate,
    /// A block's time need not be after its parent's.
    TimeNotAfterParent,
    /// Any preimage is a reveal.
    RevealUnchecked,
    /// The certificate in a block may be of another block than its parent.
    StaleParentCertificate,
    /// A header's state root is not compared.
    StateRootUnchecked,
    /// A header's root over the effects is not compared.
    EffectsRootUnchecked,
    /// A header's root over the entries is not compared.
    EntriesRootUnchecked,
    /// Entries come in any order.
    EntryOrderUnchecked,
    /// Evidence convicts without signatures.
    EvidenceForged,
    /// Orders are gone through in an order that depends on where memory was allocated.
    UnsortedIteration,

    // Ledger: money and leases.
    /// The unused part of an interrupted lease stays with the seller.
    ForgetRefund,
    /// A seller is paid for what he never delivered.
    PayUndelivered,
    /// The last micro-credits of a pot go to the smallest remainders.
    SettlementOffByOne,
    /// What an ended order had locked is not released.
    DepositKept,
    /// A forfeited deposit is taken once more from the account.
    ForfeitTwice,
    /// A deposit is forfeited although too few auctioneers could have taken the opening in.
    WaiverOff,
    /// An appeal needs no receipts of a third of the power.
    AppealWithoutReceipts,
    /// A bid runs on beyond its budget.
    BudgetOverrun,
    /// A bid that competes is not topped up to one slot.
    TopUpForgotten,
    /// Who is preempted is compensated twice.
    CompensationTwice,
    /// A buy of several classes takes what it finds of some, though there is not enough of another.
    GroupInPart,
    /// Buys that wait are decided in the order of their ids, not of their rounds.
    QueueByIds,
    /// A cancelled order that runs goes on running.
    ExitForgotten,
    /// A lease whose time is used up goes on.
    LeaseNotEnded,
    /// Units that run for one lease are sold again before the slot ends.
    LeaseUnitTwice,
    /// A seller who does not deliver in time keeps the lease.
    OverdueSpared,
    /// A withdrawn offer goes on selling.
    WithdrawnOfferSells,

    // Ledger: deadlines, reservations, contracts, the bank.
    /// A seller whose job misses its hard deadline keeps his stake.
    MissedStakeKept,
    /// A seller's least gain does not count.
    GainIgnored,
    /// A job that is late pays as if it were in time.
    LatePaysFull,
    /// A reservation may be worth less than the posted price.
    PostedPriceUnchecked,
    /// A channel that is booked is booked again.
    ChannelTwice,
    /// A job under contract that failed owes nothing.
    PenaltyForgiven,
    /// A contract pays what its jobs pay one by one.
    AggregateIgnored,
    /// Slots on units of the provider's own sponsor count.
    OwnUnitsCount,
    /// A contract is settled while jobs are open.
    SettledEarly,
    /// Sellers keep revenue that is for all.
    RevenueKept,
    /// Frozen money is not taxed.
    FrozenUntaxed,

    // Host: what survives a crash.
    /// Votes leave before the journal is flushed.
    PublishBeforeFlush,
    /// Decided blocks are told before the block file is flushed.
    BlockFileUnsynced,
    /// After a restart the sign-guard does not know what was signed.
    GuardForgets,
    /// The sign-guard permits everything.
    GuardOff,
    /// After a restart a validator does not know its own proposal.
    OwnProposalForgotten,
    /// Acknowledged entries are not written down.
    PromiseNotJournalled,
    /// A torn end of a file is left in place.
    TornTailKept,
    /// A snapshot is taken whatever its state root.
    SnapshotUnchecked,

    // Host: peers.
    /// A block from a peer is applied without a certificate for it.
    SyncUnverified,
    /// A validator that is one block behind does not ask for it.
    NoCatchUpOneBehind,
    /// A candidate may be dated ahead of every clock.
    TimeAheadAccepted,
    /// A candidate need not name its proposer.
    ProposerUnchecked,
    /// A block that omits an acknowledged entry is voted for.
    OmissionForgiven,
    /// Acknowledged entries leave the pool with the next block.
    PoolDropsAcknowledged,
    /// The pool takes as much as anybody sends.
    PoolUnbounded,
    /// A peer that asks for blocks is served without a rest.
    ServingUnbounded,
    /// Who relays a proposal that is known already is blamed for it.
    RelayerBlamed,
    /// Proposals are not relayed.
    ProposalsNotRelayed,
    /// A found equivocation is never proposed as evidence.
    EvidenceNeverProposed,
    /// Timers are armed in the first round of a height only.
    TimersNotRearmed,
    /// A wrong clock goes unnoticed.
    ClockTroubleIgnored,
    /// The signature of a receipt is not checked.
    SkipReceiptSignature,

    // Core: buyer and seller.
    /// A bid is opened as soon as its commitment is in the book.
    OpenWithCommitment,
    /// Changes of an order are not written down.
    OrderNotSaved,
    /// After a restart an order is signed anew, beside the one that was sent.
    OrderTwice,
    /// Output is kept one byte off.
    OutputWrongOffset,
    /// Output that arrives twice is kept twice.
    OutputTwice,
    /// A seller runs as many jobs on a unit as are sent.
    TwoJobsPerUnit,
    /// Jobs run on after their lease.
    JobOutlivesLease,
    /// A seller runs a job that nobody ordered.
    OtherWorkRuns,
    /// A seller takes jobs from anybody.
    StartUnsigned,
}

/// Not the name of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no planted fault has this name")]
pub struct NotPlanted;

impl FromStr for Planted {
    type Err = NotPlanted;
    fn from_str(name: &str) -> Result<Planted, NotPlanted> {
        let mut all = Planted::ALL.iter().copied();
        all.find(|fault| fault.name() == name).ok_or(NotPlanted)
    }
}

/// Whether `fault` acts: never in this build.
#[cfg(not(feature = "planted"))]
pub const fn is(_fault: Planted) -> bool {
    false
}

#[cfg(feature = "planted")]
pub use choice::{choose, is};

#[cfg(feature = "planted")]
mod choice {
    use super::{Planted, VARIABLE};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const UNREAD: usize = usize::MAX;
    const NONE: usize = usize::MAX - 1;

    /// Index of the fault that acts, or one of the above.
    static CHOSEN: AtomicUsize = AtomicUsize::new(UNREAD);

    /// Whether `fault` acts.
    pub fn is(fault: Planted) -> bool {
        match CHOSEN.load(Ordering::Relaxed) {
            UNREAD => {
                choose(from_environment());
                is(fault)
            }
            chosen => chosen == fault as usize,
        }
    }

    /// Lets one fault act from now on, or none, in all threads.
    pub fn choose(fault: Option<Planted>) {
        CHOSEN.store(fault.map_or(NONE, |f| f as usize), Ordering::Relaxed);
    }

    fn from_environment() -> Option<Planted> {
        let name = std::env::var(VARIABLE).ok()?;
        Some(name.parse().expect("the variable names a planted fault"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for fault in Planted::ALL {
            assert_eq!(fault.name().parse(), Ok(*fault));
            assert!(fault.what().ends_with('.'), "{fault:?}");
        }
        assert_eq!("NoSuchFault".parse::<Planted>(), Err(NotPlanted));
        assert!(Planted::ALL.len() >= 48);
    }

    #[cfg(not(feature = "planted"))]
    #[test]
    fn nothing_is_planted_unless_it_is_compiled() {
        assert!(Planted::ALL.iter().all(|fault| !is(*fault)));
    }
}
