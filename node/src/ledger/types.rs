//! The ledger: balances, transfers, statements, blocks.

use crate::api::ApiError;
use crate::api::types::{Hex, Signed, amount};
use gridbay_ledger::log::InclusionProof;
use gridbay_protocol::ids::{AccountId, BlockId, EntryId, Hash32, OrderId, ValidatorId};
use gridbay_protocol::payment::{Posting, Reason};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `GET /ledger/balance`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Balance {
    /// Account.
    pub account: AccountId,
    /// Free balance, negative where credit is used.
    pub balance: Signed,
    /// Locked in escrows, for its orders and for the contracts that it proposed.
    #[serde(with = "amount")]
    pub held: Credits,
    /// Staked in bonds, on the jobs by deadlines that it took and the contracts that it signed:
    /// lost as far as it fails them.
    #[serde(with = "amount")]
    pub staked: Credits,
    /// Earned and held for a while, because buyers may still say that they were not served.
    #[serde(with = "amount")]
    pub retained: Credits,
    /// Paid for the running slot and not settled yet.
    #[serde(with = "amount")]
    pub in_use: Credits,
    /// Tax that was due while the money was frozen: taken as money reaches the account.
    #[serde(with = "amount")]
    pub arrears: Credits,
    /// How far the balance may fall below zero.
    #[serde(with = "amount")]
    pub credit_line: Credits,
    /// Height at which this holds.
    pub height: u64,
    /// Set while this may be old: the node knows no recent block.
    #[serde(default)]
    pub stale: Option<Stale>,
    /// Its spending of the budget of entries in this epoch.
    pub entries: Entries,
}

/// How old what a node knows of the ledger is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stale {
    /// The last height that it has.
    pub height: u64,
    /// Milliseconds since the time of that block.
    pub age_ms: u64,
    /// Whether its peers have blocks that it lacks, which it is fetching.
    pub behind: bool,
}

/// An account's spending in the running epoch, and its budget for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Entries {
    /// Entries of this epoch.
    pub spent: u32,
    /// Entries that one epoch allows.
    pub budget: u32,
    /// Bytes of the entries of this epoch.
    pub spent_bytes: u64,
    /// Bytes that one epoch allows.
    pub budget_bytes: u64,
}

impl Balance {
    /// The money that can be spent: balance and credit line.
    pub fn spendable(&self) -> Credits {
        let line = Signed::from(self.credit_line).0;
        u64::try_from(self.balance.0.saturating_add(line))
            .ok()
            .and_then(Credits::from_micros)
            .unwrap_or(Credits::ZERO)
    }
}

/// `POST /ledger/transfer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferRequest {
    /// To whom.
    pub to: AccountId,
    /// How much.
    #[serde(with = "amount")]
    pub amount: Credits,
    /// Note; the ledger carries its hash together with the request's idempotency key.
    pub memo: Option<String>,
}

/// Transfers in one request at the most.
pub const TRANSFERS: usize = 500;

/// `POST /ledger/transfers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TransfersRequest {
    /// Each goes its own way: one that is refused keeps none of the others back.
    #[schema(min_items = 1, max_items = 500)]
    pub transfers: Vec<TransferRequest>,
}

/// What became of one of many transfers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TransferOutcome {
    /// The transfer, if it took effect.
    pub done: Option<Transferred>,
    /// Why it did not, or is not known to have.
    pub error: Option<ApiError>,
}

impl From<Result<Transferred, ApiError>> for TransferOutcome {
    fn from(outcome: Result<Transferred, ApiError>) -> TransferOutcome {
        let (done, error) = match outcome {
            Ok(done) => (Some(done), None),
            Err(error) => (None, Some(error)),
        };
        TransferOutcome { done, error }
    }
}

/// `POST /ledger/close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseRequest {
    /// The account that gets the money of this node's account.
    pub to: AccountId,
}

/// A transfer, or another entry, that took effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Transferred {
    /// The entry.
    pub entry: EntryId,
    /// Height of its block.
    pub height: u64,
}

/// `POST /ledger/close`: an account that is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClosedAccount {
    /// The entry.
    pub entry: EntryId,
    /// Height of its block.
    pub height: u64,
    /// The account that got what it had.
    pub to: AccountId,
    /// How much that was.
    #[serde(with = "amount")]
    pub amount: Credits,
}

/// `GET /ledger/history`: one movement of money, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Movement {
    /// Height of its block.
    pub height: u64,
    /// Ledger time of that block.
    pub time_ms: u64,
    /// In (positive) or out (negative).
    pub amount: Signed,
    /// Why.
    pub reason: Reason,
    /// The other purse as text: `account <hex>`, `escrow <hex>`, `class <name>` or `bank`.
    pub other: String,
    /// Order it belongs to.
    pub order: Option<OrderId>,
}

/// `GET /ledger/head` and `GET /ledger/blocks/{height}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BlockInfo {
    /// Height.
    pub height: u64,
    /// Its id.
    pub block: BlockId,
    /// Ledger time.
    pub time_ms: u64,
    /// Its proposer.
    pub proposer: ValidatorId,
    /// Entries in it.
    pub entries: u32,
    /// Root of the state after it.
    pub state_root: Hash32,
    /// Root of the log of the blocks before it.
    pub log_root: Hash32,
    /// Header.
    pub header: Hex,
    /// Certificate.
    pub certificate: Hex,
}

/// `GET /ledger/headers?from=&limit=`: what `ledger verify` checks, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignedHeader {
    /// Header.
    pub header: Hex,
    /// Certificate.
    pub certificate: Hex,
    /// Validators of this height, given where they differ from the height before.
    pub validators: Option<Hex>,
}

/// Proof that an effect is in a block: its place in the log of the block's effects. Travels as
/// canonical CBOR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectProof {
    /// Position of the effect.
    pub index: u64,
    /// Effects of the block.
    pub size: u64,
    /// Path from [`gridbay_protocol::effect::Effect::leaf`] to the header's `effects_root`.
    pub proof: InclusionProof,
}

/// The payments of an account in a block, with what a stranger needs to check them.
/// `GET /ledger/proof`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PaymentProof {
    /// Account.
    pub account: AccountId,
    /// Height of the block.
    pub height: u64,
    /// Header of the block.
    pub header: Hex,
    /// Certificate of the block.
    pub certificate: Hex,
    /// Validators of its height.
    pub validators: Hex,
    /// The payments, in the order of the block; 256 at the most.
    pub payments: Vec<ProvedPayment>,
    /// So many payments of the account stand before these, as the node counts that made this.
    #[serde(default)]
    pub after: u64,
    /// How many payments of the account the block has, as the node counts that made this: the proof
    /// shows that those above are among them, and not that there are no others. `None` in proofs of
    /// before this was told.
    #[serde(default)]
    pub in_all: Option<u64>,
}

/// A payment in a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProvedPayment {
    /// The movement, as on the ledger.
    #[schema(value_type = Object)]
    pub posting: Posting,
    /// An [`EffectProof`]: the movement is among the effects that the header commits to.
    pub proof: Hex,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spendable_is_balance_and_credit() {
        let mut balance = Balance {
            account: AccountId([1; 32]),
            balance: Signed(-2_000_000),
            held: Credits::ZERO,
            staked: Credits::ZERO,
            retained: Credits::ZERO,
            in_use: Credits::ZERO,
            arrears: Credits::ZERO,
            credit_line: "5".parse().unwrap(),
            height: 1,
            stale: None,
            entries: Entries {
                spent: 0,
                budget: 1,
                spent_bytes: 0,
                budget_bytes: 1,
            },
        };
        assert_eq!(balance.spendable().to_string(), "3");
        balance.balance = Signed(-9_000_000);
        assert_eq!(balance.spendable(), Credits::ZERO);
        balance.balance = Signed(i64::MAX);
        assert_eq!(balance.spendable(), Credits::MAX);
    }
}
