//! Refusals in a word.

use super::{ContractRefusal, Refusal, SeatRefusal, Unbookable};

macro_rules! words {
    ($type:ident, $all:ident: $($refusal:pat => $word:literal,)+ $(; $nested:pat => $inner:expr)*) => {
        /// All words of this kind of refusal.
        pub const $all: &[&str] = &[$($word),+];

        impl $type {
            /// The reason in a word, as users and programs see it everywhere.
            pub fn word(&self) -> &'static str {
                match self {
                    $($refusal => $word,)+
                    $($nested => $inner,)*
                }
            }
        }
    };
}

words! { Refusal, REFUSAL_WORDS:
    Refusal::Expired { .. } => "expired",
    Refusal::Window { .. } => "window",
    Refusal::Used(_) => "used",
    Refusal::NoAccount(_) => "no_account",
    Refusal::Role { .. } => "role",
    Refusal::KeyTaken(_) => "key_taken",
    Refusal::Funds { .. } => "funds",
    Refusal::Overflow => "overflow",
    Refusal::TokenUsed { .. } => "token_used",
    Refusal::Grant { .. } => "grant",
    Refusal::AccountQuota { .. } => "account_quota",
    Refusal::NotMember(_) => "not_member",
    Refusal::NoValidator(_) => "no_validator",
    Refusal::NoClass(_) => "no_class",
    Refusal::NoOffer(_) => "no_offer",
    Refusal::OfferClass { .. } => "offer_class",
    Refusal::OfferQuota { .. } => "offer_quota",
    Refusal::ClassUnits { .. } => "class_units",
    Refusal::NoOrder(_) => "no_order",
    Refusal::OrderQuota { .. } => "order_quota",
    Refusal::AllOrNoneQuota { .. } => "all_or_none_quota",
    Refusal::SealedAlready(_) => "sealed_already",
    Refusal::OpeningTime { .. } => "opening_time",
    Refusal::NotSealed(_) => "not_sealed",
    Refusal::Seal(_) => "seal",
    Refusal::NotABid(_) => "not_a_bid",
    Refusal::Reshaped(_) => "reshaped",
    Refusal::Spent { .. } => "spent",
    Refusal::Budget { .. } => "budget",
    Refusal::Standing { .. } => "standing",
    Refusal::Sealed(_) => "sealed",
    Refusal::Exiting(_) => "exiting",
    Refusal::Closing(_) => "closing",
    Refusal::NoLease(_) => "no_lease",
    Refusal::NothingToDeliver { .. } => "nothing_to_deliver",
    Refusal::FirmSlots { .. } => "firm_slots",
    Refusal::Surcharge(_) => "surcharge",
    Refusal::NothingToAppeal(_) => "nothing_to_appeal",
    Refusal::OpeningLapsed { .. } => "opening_lapsed",
    Refusal::OpeningUnfunded(_) => "opening_unfunded",
    Refusal::ReceiptLate { .. } => "receipt_late",
    Refusal::Receipts(_) => "receipts",
    Refusal::ReceiptPower { .. } => "receipt_power",
    Refusal::NotPlanned(_) => "not_planned",
    Refusal::TooMuchWork { .. } => "too_much_work",
    Refusal::BelowReserve { .. } => "below_reserve",
    Refusal::JobQuota { .. } => "job_quota",
    Refusal::NoPool(_) => "no_pool",
    Refusal::PoolWeights { .. } => "pool_weights",
    Refusal::PoolFull { .. } => "pool_full",
    Refusal::PoolTwice(_) => "pool_twice",
    Refusal::BlockFull(_) => "block_full",
    Refusal::BeaconWaits { .. } => "beacon_waits",
    Refusal::Idle(_) => "idle",
    Refusal::HeartbeatTwice { .. } => "heartbeat_twice",
    Refusal::NothingToComplain { .. } => "nothing_to_complain",
    Refusal::ComplaintQuota { .. } => "complaint_quota",
    Refusal::EntryBudget { .. } => "entry_budget",
    Refusal::Final(_) => "final",
    Refusal::Unopened(_) => "unopened",
    Refusal::Founder(_) => "founder",
    Refusal::StillOpen { .. } => "still_open",
    ; Refusal::Contract(refusal) => refusal.word()
    ; Refusal::Reservation(why) => why.word()
    ; Refusal::Seat(why) => why.word()
}

words! { ContractRefusal, CONTRACT_WORDS:
    ContractRefusal::NoProvider(_) => "no_provider",
    ContractRefusal::WithOneself(_) => "with_oneself",
    ContractRefusal::Horizon { .. } => "horizon",
    ContractRefusal::ClientQuota { .. } => "client_quota",
    ContractRefusal::NetworkQuota { .. } => "network_quota",
    ContractRefusal::ProviderJobs { .. } => "provider_jobs",
    ContractRefusal::NetworkJobs { .. } => "network_jobs",
    ContractRefusal::NoContract(_) => "no_contract",
    ContractRefusal::Signed(_) => "contract_signed",
    ContractRefusal::Lapsed { .. } => "lapsed",
    ContractRefusal::Unsigned(_) => "contract_unsigned",
    ContractRefusal::Window { .. } => "contract_window",
    ContractRefusal::Exhausted { .. } => "exhausted",
    ContractRefusal::Closed(_) => "contract_closed",
    ContractRefusal::NoJob(_) => "no_job",
    ContractRefusal::TimedOut(_) => "job_timed_out",
    ContractRefusal::Served { .. } => "job_served",
    ContractRefusal::Serves { .. } => "order_serves",
    ContractRefusal::Unsuitable(_) => "unsuitable",
}

words! { Unbookable, RESERVATION_WORDS:
    Unbookable::Past { .. } => "start_past",
    Unbookable::Beyond { .. } => "start_beyond",
    Unbookable::TooLong { .. } => "too_long",
    Unbookable::BelowPosted { .. } => "below_posted",
    Unbookable::UnknownOffer(_) => "unknown_offer",
    Unbookable::OtherMechanism(_) => "other_mechanism",
    Unbookable::ReserveAbovePosted { .. } => "reserve_above_posted",
}

words! { SeatRefusal, SEAT_WORDS:
    SeatRefusal::Depth { .. } => "invitation_depth",
    SeatRefusal::Quota { .. } => "invitation_quota",
    SeatRefusal::Epoch { .. } => "invitation_epoch",
}
