//! Own bids that are not over, and amending one of them.

use crate::api::Answer;
use crate::api::ApiError;
use crate::api::types::{AmendRequest, JobId, StandingBid};
use crate::backend::NodeBackend;
use crate::backend::failure::{not_found, usage};
use crate::buy::highest;
use crate::job::handle::{find, record};
use crate::market::price::limit_hourly;
use gridbay_core::Core;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::Price;

impl NodeBackend {
    /// Own bids that are not over, newest first.
    pub async fn bids(&self) -> Answer<Vec<StandingBid>> {
        let lines = self.standing().await?;
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }

    /// The same, each with the time at which its job was accepted.
    pub(crate) async fn standing(&self) -> Answer<Vec<(u64, StandingBid)>> {
        let lines = self.query(|core| {
            let orders = core.buyer().orders();
            let lines = orders.filter_map(|(key, agent)| line(core, key, agent));
            let mut lines: Vec<(u64, StandingBid)> = lines.collect();
            lines.sort_by_key(|(accepted, _)| std::cmp::Reverse(*accepted));
            lines
        });
        lines.await
    }

    /// Gives a bid another price, from the next clearing on that a sealed amendment can reach;
    /// answers once the wish is durable. Repeating it changes nothing.
    pub async fn amend(&self, id: JobId, request: AmendRequest) -> Answer<StandingBid> {
        self.acknowledges()?;
        let (key, command) = self
            .query(move |core| amendment(core, &id, &request))
            .await??;
        self.command(command).await?;
        let found = self.query(move |core| {
            let agent = core.buyer().order(&key)?;
            line(core, &key, agent).map(|(_, line)| line)
        });
        found.await?.ok_or_else(|| no_bid(&key.to_string()))
    }
}

fn no_bid(id: &str) -> ApiError {
    let what = format!("no bid {id} that is not over");
    not_found(what, "`gridbay bid list` shows the bids")
}

/// The command that gives all units of a bid one price.
fn amendment(
    core: &Core,
    id: &JobId,
    request: &AmendRequest,
) -> Result<(OrderKey, Command), ApiError> {
    let (order, agent) = find(core, id)?;
    if agent.finish().is_some() || agent.is_cancelling() {
        return Err(no_bid(id.as_str()));
    }
    let slot_ms = core.state().policy().slot_ms();
    let price = Price::from_hourly(request.max_price, slot_ms);
    let price = price.ok_or_else(|| usage("a price beyond the range of money", "lower it"))?;
    let units = agent.order().tasks;
    let command = Command::Amend {
        order,
        steps: vec![Step { units, price }],
        budget: request.budget,
    };
    Ok((order, command))
}

/// A bid with the time it was accepted; `None` for other orders and those that are over.
fn line(core: &Core, key: &OrderKey, agent: &OrderAgent) -> Option<(u64, StandingBid)> {
    let bid = agent.order().terms.bid()?;
    if agent.finish().is_some() {
        return None;
    }
    let slot_ms = core.state().policy().slot_ms();
    let amended = agent.amending().map(|a| highest(&a.steps));
    let record = record(core, key, agent);
    let line = StandingBid {
        id: record.id,
        name: record.name,
        class: record.class,
        nodes: record.nodes,
        divisible: bid.min < agent.order().tasks,
        state: record.state,
        max_price: record.max_price,
        budget: record.budget,
        paid: record.paid,
        amended: amended.map(|price| limit_hourly(price, slot_ms)),
    };
    Some((record.accepted_ms, line))
}
