//! The desk: the data by which an order is planned, namely the ledger, the class wanted, and the
//! last prices.

use super::odds::Odds;
use super::{Market, class_named, held};
use crate::api::ApiError;
use crate::backend::failure::no_account;
use gridbay_core::Core;
use gridbay_ledger::State;
use gridbay_protocol::class::Class;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::units::Credits;

/// The data for answering a question.
pub(crate) type Answer<T> = Result<T, ApiError>;

/// One look at the market for one class.
pub(crate) struct Desk<'a> {
    /// The core.
    pub(crate) core: &'a Core,
    /// The class.
    pub(crate) class: &'a Class,
    /// The offers of it.
    pub(crate) market: Market,
    /// Mean price per node-hour of its last clearing.
    pub(crate) last: Option<Credits>,
    /// How bids would have fared in its last clearings, if that was looked up.
    pub(crate) odds: Odds,
    /// Of how many classes the node chose this one; `None` if it did not.
    pub(crate) among: Option<u32>,
}

impl<'a> Desk<'a> {
    /// The desk for a class by its name.
    ///
    /// # Errors
    /// There is no such class.
    pub(crate) fn of(core: &'a Core, class: &str) -> Answer<Desk<'a>> {
        let state = core.state();
        let class = class_named(state, class)?;
        Ok(Desk {
            core,
            class,
            market: Market::of(state, class, &held(state)),
            last: None,
            odds: Odds::default(),
            among: None,
        })
    }
    /// The ledger.
    pub(crate) fn state(&self) -> &'a State {
        self.core.state()
    }
    /// The node's account.
    ///
    /// # Errors
    /// It has none yet.
    pub(crate) fn account(&self) -> Answer<AccountId> {
        self.core.account().ok_or_else(no_account)
    }
    /// The money that the account could spend now, credit line included.
    ///
    /// # Errors
    /// There is no account yet.
    pub(crate) fn spendable(&self) -> Answer<Credits> {
        let account = self.account()?;
        Ok(super::spendable(self.state(), &account))
    }
}
