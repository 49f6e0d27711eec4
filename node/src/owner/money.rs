//! The owner's share of a node's earnings, and the end of its account.
//!
//! 1. Money goes to one account alone: that which lists the owner's key, by this node's ledger.
//! 2. A reset erases the keys of the account. It is taken with the account's id alone, and while
//!    the account has money, only if the order says that this is lost. The agent beside the node
//!    carries it out, as soon as it reads of it in `owner.json`.

use super::agent;
use super::types::{Collected, Outcome};
use crate::api::types::{Balance, TransferRequest};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::usage;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::units::Credits;

impl NodeBackend {
    /// Moves so much to the owner's account, or all that is free.
    pub(super) async fn collect(&self, amount: Option<Credits>) -> Answer<Outcome> {
        let owner = self.parts.owner.key;
        let account = self.query(move |core| owner.and_then(|key| core.state().account_of(&key)));
        let to = account.await?.ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                "this node's ledger has no account of its owner's key",
                "open one with gridbay join on the owner's node, or wait until both agree",
            )
        })?;
        let free = free(&self.balance(None).await?);
        let amount = amount.unwrap_or(free);
        if amount == Credits::ZERO {
            let why = "there is nothing to collect";
            return Err(usage(why, "see gridbay appliance earnings: what is free"));
        }
        if amount > free {
            return Err(ApiError::new(
                ErrorCode::InsufficientFunds,
                format!("{free} credits are free, {amount} are to be collected"),
                "collect less, or all: leave the amount out",
            ));
        }
        let request = TransferRequest {
            to,
            amount,
            memo: None,
        };
        let moved = self.transfer(None, request).await?;
        Ok(Outcome::Collected(Box::new(Collected {
            amount,
            to,
            entry: moved.entry,
            height: moved.height,
        })))
    }

    /// Has the agent erase this node's keys, and all else that it has.
    pub(super) async fn reset(&self, account: AccountId, lose: bool) -> Answer<Outcome> {
        if agent::status(&self.parts.owner.agent).is_none() {
            return Err(ApiError::new(
                ErrorCode::Refused,
                "no agent runs there, so nobody erases it",
                "on that machine: stop the node and remove its data folder",
            ));
        }
        let balance = self.balance(None).await?;
        if balance.account != account {
            let why = format!("its account is {}", balance.account.to_hex());
            return Err(usage(
                why,
                "give that to --account, if it is this one that you mean",
            ));
        }
        let free = free(&balance);
        if !lose && (free > Credits::ZERO || balance.retained > Credits::ZERO) {
            let retained = balance.retained;
            return Err(ApiError::new(
                ErrorCode::Refused,
                format!("its account has {free} credits, and {retained} to come"),
                "gridbay appliance collect brings you what is free; --lose-balance gives it up",
            ));
        }
        let node = self.parts.node.to_hex();
        self.wish(|desired| Ok(desired.erasing(node)))?;
        self.remote_status().await
    }
}

/// The money of an account without its credit line.
fn free(balance: &Balance) -> Credits {
    let micros = u64::try_from(balance.balance.0).ok();
    let free = micros.and_then(Credits::from_micros);
    free.unwrap_or(Credits::ZERO)
}
