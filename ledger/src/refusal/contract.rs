//! Why the ledger refuses an entry about a contract.

use gridbay_protocol::ids::{AccountId, OrderId};

refusals! {
    /// Why an entry about a contract cannot take effect. Terms that are bad in themselves are
    /// refused before, see [`gridbay_protocol::order::ContractFault`].
    [Clone, Copy] ContractRefusal, CONTRACT_WORDS;

    /// The provider named has no account.
    NoProvider(AccountId) = "no_provider", later:
        "no provider {0}",
        "check the provider's id";
    /// A contract with oneself.
    WithOneself(AccountId) = "with_oneself", never:
        "account {0} proposes a contract to itself",
        "bid for the units instead";
    /// The window lies in the past, or too far ahead.
    Horizon { last: u64, slot: u64, latest: u64 } = "horizon", depends:
        "requests until slot {last}: the running one is {slot}, {latest} the latest to name",
        "choose slots to come, and not too far ahead";
    /// The client has as many contracts as it may.
    ClientQuota { client: AccountId, limit: u32 } = "client_quota", later:
        "account {client} has {limit} contracts, as many as it may",
        "close a contract, or wait until one is settled";
    /// The network has as many contracts as it may.
    NetworkQuota { limit: u32 } = "network_quota", later:
        "there are {limit} contracts, as many as there may be",
        "wait until a contract is settled";
    /// The provider would have promised more jobs than it may.
    ProviderJobs { provider: AccountId, jobs: u32, limit: u32 } = "provider_jobs", later:
        "account {provider} would have signed for {jobs} jobs, {limit} are the limit",
        "settle a contract before signing another one";
    /// All providers together would have promised more jobs than they may.
    NetworkJobs {
        /// Jobs with this contract, and those that other houses' parts are kept for.
        jobs: u64,
        limit: u32,
    } = "network_jobs", later:
        "there would be {jobs} jobs under contract, with the parts kept for other houses; \
         {limit} are the limit",
        "ask for fewer jobs, or wait until others are settled";
    /// No such contract, or this account is not the party that may say so.
    NoContract(OrderId) = "no_contract", later:
        "no contract {0} in which this account may say so",
        "list your contracts; it may be settled";
    /// It was signed before.
    Signed(OrderId) = "contract_signed", never:
        "contract {0} is signed",
        "nothing to do: it is signed";
    /// Too late to sign.
    Lapsed { contract: OrderId, stands_until: u64 } = "lapsed", never:
        "contract {contract} could be signed until height {stands_until}",
        "ask the client for a new proposal";
    /// The provider has not signed.
    Unsigned(OrderId) = "contract_unsigned", later:
        "contract {0} is not signed",
        "wait until the provider signs";
    /// Jobs are requested in other slots.
    Window { contract: OrderId, first: u64, last: u64, slot: u64 } = "contract_window", depends:
        "jobs of contract {contract} come in slots {first} to {last}, not in {slot}",
        "request jobs in the slots of the contract";
    /// All jobs were requested.
    Exhausted { contract: OrderId, jobs: u32 } = "exhausted", never:
        "all {jobs} jobs of contract {contract} were requested",
        "propose another contract for more jobs";
    /// The client closed it, or its window is over.
    Closed(OrderId) = "contract_closed", never:
        "contract {0} is closed",
        "propose a new contract";
    /// Never requested, or decided.
    NoJob(OrderId) = "no_job", later:
        "no open job {0}",
        "list the contract's jobs; it may be decided";
    /// Too late: it has failed.
    TimedOut(OrderId) = "job_timed_out", never:
        "job {0} is timed out",
        "nothing to do: the provider owes its penalty";
    /// Another order serves it.
    Served { job: OrderId, order: OrderId } = "job_served", later:
        "job {job} is served by order {order}",
        "wait until that order ends, or cancel it";
    /// The order serves, or served, a job.
    Serves { order: OrderId, job: OrderId } = "order_serves", never:
        "order {order} serves job {job}",
        "serve every job with an order of its own";
    /// The order is sealed, about to end, of another class, or for another number of units.
    Unsuitable(OrderId) = "unsuitable", later:
        "order {0} does not suit the job",
        "use an open order of the job's class and units";
}

impl ContractRefusal {
    /// A slot that has not come yet may come.
    fn depends(&self) -> bool {
        match self {
            Self::Window { last, slot, .. } | Self::Horizon { last, slot, .. } => slot <= last,
            _ => false,
        }
    }
}
