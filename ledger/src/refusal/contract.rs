//! Why the ledger refuses a word about a contract.

use gridbay_protocol::ids::{AccountId, OrderId};

/// Why an entry about a contract cannot take effect. Terms that are bad in themselves are refused
/// before, see [`gridbay_protocol::order::ContractFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContractRefusal {
    /// The provider named has no account.
    #[error("no provider {0}")]
    NoProvider(AccountId),
    /// A contract with oneself.
    #[error("account {0} proposes a contract to itself")]
    WithOneself(AccountId),
    /// The window lies in the past, or too far ahead.
    #[error("requests until slot {last}: the running one is {slot}, {latest} the latest to name")]
    Horizon {
        /// Last slot of the window.
        last: u64,
        /// The running slot.
        slot: u64,
        /// The latest last slot.
        latest: u64,
    },
    /// The client has as many contracts as it may.
    #[error("account {client} has {limit} contracts, as many as it may")]
    ClientQuota {
        /// The client.
        client: AccountId,
        /// The limit.
        limit: u32,
    },
    /// The network has as many contracts as it may.
    #[error("there are {limit} contracts, as many as there may be")]
    NetworkQuota {
        /// The limit.
        limit: u32,
    },
    /// The provider would have promised more jobs than it may.
    #[error("account {provider} would have signed for {jobs} jobs, {limit} are the limit")]
    ProviderJobs {
        /// The provider.
        provider: AccountId,
        /// Jobs with this contract.
        jobs: u32,
        /// The limit.
        limit: u32,
    },
    /// All providers together would have promised more jobs than they may.
    #[error(
        "there would be {jobs} jobs under contract, with the parts kept for other houses; {limit} are the limit"
    )]
    NetworkJobs {
        /// Jobs with this contract, and those that other houses' parts are kept for.
        jobs: u64,
        /// The limit.
        limit: u32,
    },
    /// No such contract, or this account is not the party that may say so.
    #[error("no contract {0} in which this account may say so")]
    NoContract(OrderId),
    /// It was signed before.
    #[error("contract {0} is signed")]
    Signed(OrderId),
    /// Too late to sign.
    #[error("contract {contract} could be signed until height {stands_until}")]
    Lapsed {
        /// The contract.
        contract: OrderId,
        /// Its last height.
        stands_until: u64,
    },
    /// The provider has not signed.
    #[error("contract {0} is not signed")]
    Unsigned(OrderId),
    /// Jobs are requested in other slots.
    #[error("jobs of contract {contract} come in slots {first} to {last}, not in {slot}")]
    Window {
        /// The contract.
        contract: OrderId,
        /// First slot.
        first: u64,
        /// Last slot.
        last: u64,
        /// The running slot.
        slot: u64,
    },
    /// All jobs were requested.
    #[error("all {jobs} jobs of contract {contract} were requested")]
    Exhausted {
        /// The contract.
        contract: OrderId,
        /// Its jobs.
        jobs: u32,
    },
    /// The client closed it, or its window is over.
    #[error("contract {0} is closed")]
    Closed(OrderId),
    /// Never requested, or decided.
    #[error("no open job {0}")]
    NoJob(OrderId),
    /// Too late: it has failed.
    #[error("job {0} is timed out")]
    TimedOut(OrderId),
    /// Another order serves it.
    #[error("job {job} is served by order {order}")]
    Served {
        /// The job.
        job: OrderId,
        /// The order.
        order: OrderId,
    },
    /// The order serves, or served, a job.
    #[error("order {order} serves job {job}")]
    Serves {
        /// The order.
        order: OrderId,
        /// The job.
        job: OrderId,
    },
    /// The order is sealed, about to end, of another class, or for another number of units.
    #[error("order {0} does not suit the job")]
    Unsuitable(OrderId),
}

impl ContractRefusal {
    /// Whether the same entry may be accepted at a later height.
    pub fn may_pass_later(&self) -> bool {
        match self {
            ContractRefusal::Window { last, slot, .. } => slot <= last,
            ContractRefusal::Horizon { last, slot, .. } => slot <= last,
            ContractRefusal::NoProvider(_)
            | ContractRefusal::ClientQuota { .. }
            | ContractRefusal::NetworkQuota { .. }
            | ContractRefusal::ProviderJobs { .. }
            | ContractRefusal::NetworkJobs { .. }
            | ContractRefusal::NoContract(_)
            | ContractRefusal::Unsigned(_)
            | ContractRefusal::NoJob(_)
            | ContractRefusal::Served { .. }
            | ContractRefusal::Unsuitable(_) => true,
            ContractRefusal::WithOneself(_)
            | ContractRefusal::Signed(_)
            | ContractRefusal::Lapsed { .. }
            | ContractRefusal::Exhausted { .. }
            | ContractRefusal::Closed(_)
            | ContractRefusal::TimedOut(_)
            | ContractRefusal::Serves { .. } => false,
        }
    }

    /// Advice to the user.
    pub fn hint(&self) -> &'static str {
        match self {
            ContractRefusal::NoProvider(_) => "check the provider's id",
            ContractRefusal::WithOneself(_) => "bid for the units instead",
            ContractRefusal::Horizon { .. } => "choose slots to come, and not too far ahead",
            ContractRefusal::ClientQuota { .. } => "close a contract, or wait until one is settled",
            ContractRefusal::NetworkQuota { .. } => "wait until a contract is settled",
            ContractRefusal::ProviderJobs { .. } => "settle a contract before signing another one",
            ContractRefusal::NetworkJobs { .. } => "wait until a contract is settled",
            ContractRefusal::NoContract(_) => "list your contracts; it may be settled",
            ContractRefusal::Signed(_) => "nothing to do: it is signed",
            ContractRefusal::Lapsed { .. } => "ask the client for a new proposal",
            ContractRefusal::Unsigned(_) => "wait until the provider signs",
            ContractRefusal::Window { .. } => "request jobs in the slots of the contract",
            ContractRefusal::Exhausted { .. } => "propose another contract for more jobs",
            ContractRefusal::Closed(_) => "propose another contract for more jobs",
            ContractRefusal::NoJob(_) => "list the contract's jobs; it may be decided",
            ContractRefusal::TimedOut(_) => "nothing to do: the provider owes its penalty",
            ContractRefusal::Served { .. } => "wait until that order ends, or cancel it",
            ContractRefusal::Serves { .. } => "serve every job with an order of its own",
            ContractRefusal::Unsuitable(_) => "use an open order of the job's class and units",
        }
    }
}
