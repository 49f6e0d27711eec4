//! The stage that the scenes share: the network, the orders, the clock.

use super::order::{Order, Wish};
use crate::network::Network;
use crate::say::Progress;
use anyhow::bail;
use futures::future::try_join_all;
use gridbay_node::api::types::NodeStatus;
use std::time::{Duration, Instant};

/// How often orders are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(60);

/// How long the beginning of a round is waited for: two rounds on a local network.
const ROUND_PATIENCE: Duration = Duration::from_secs(2);

/// The demo under way.
pub(crate) struct Stage<'a> {
    /// The network.
    pub(crate) network: Network,
    /// Orders, as they were sent.
    pub(crate) orders: Vec<Order>,
    /// The clock and the teller.
    pub(crate) progress: &'a Progress,
    /// When the demo gives up.
    pub(crate) deadline: Instant,
}

impl Stage<'_> {
    /// Hands orders to their buyers' nodes, all at once: first their inputs, then, when a round of
    /// the market begins, the orders. So they compete in one clearing.
    pub(crate) async fn send(&mut self, wishes: Vec<Wish>) -> anyhow::Result<()> {
        let network = &self.network;
        let client = |wish: &Wish| network.node(wish.buyer).client();
        let staged = wishes.iter().map(|wish| wish.stage(client(wish)));
        let requests = try_join_all(staged).await?;
        self.round_begins().await?;
        let sent = wishes.into_iter().zip(&requests);
        let sent = sent.map(|(wish, request)| Order::send(client(&wish), wish, request));
        let orders = try_join_all(sent).await?;
        self.orders.extend(orders);
        Ok(())
    }
    /// Waits until the next block is the first of a round. An idle market has no blocks to wait
    /// for.
    async fn round_begins(&self) -> anyhow::Result<()> {
        let until = Instant::now() + ROUND_PATIENCE;
        let calendar = self.network.genesis().policy.calendar;
        while Instant::now() < until {
            let status: NodeStatus = self.network.node("v1").client().get("/node").await?;
            if calendar.closes_round(status.height) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
    /// Looks at all orders that are not over.
    pub(crate) async fn look(&mut self) -> anyhow::Result<()> {
        for order in &mut self.orders {
            let client = self.network.node(order.wish.buyer).client();
            order.look(client, self.progress).await?;
        }
        Ok(())
    }
    /// Looks until `met`; `what` is what is waited for.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        patience: Duration,
        met: impl Fn(&Stage<'_>) -> bool,
    ) -> anyhow::Result<()> {
        let until = self.deadline.min(Instant::now() + patience);
        loop {
            self.look().await?;
            if met(self) {
                return Ok(());
            }
            if Instant::now() > until {
                let states = self.orders.iter().filter(|order| !order.is_over());
                let states: Vec<String> = states
                    .map(|o| format!("{} {}", o.wish.name, o.record.state.name()))
                    .collect();
                bail!("waited in vain until {what}; open: {}", states.join(", "));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    /// Looks for some time.
    pub(crate) async fn watch(&mut self, time: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.look().await?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }
    /// An order by name.
    ///
    /// # Panics
    /// No scene sent it.
    pub(crate) fn order(&self, name: &str) -> &Order {
        let mut named = self.orders.iter().filter(|order| order.wish.name == name);
        named.next().expect("a scene sent an order of this name")
    }
    /// Whether all orders of these names run.
    pub(crate) fn all_run(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.order(name).is_running())
    }
    /// Whether all orders of these names run or have ended.
    pub(crate) fn all_ran(&self, names: &[&str]) -> bool {
        names.iter().all(|name| {
            let order = self.order(name);
            order.is_running() || order.is_over()
        })
    }
}
