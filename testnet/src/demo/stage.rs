//! What the scenes share: the network, the orders, the clock.

use super::order::{Order, Wish};
use crate::network::Network;
use crate::say::Progress;
use anyhow::bail;
use std::time::{Duration, Instant};

/// How often orders are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(60);

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
    /// Hands orders to their buyers' nodes, all at once.
    pub(crate) async fn send(&mut self, wishes: Vec<Wish>) -> anyhow::Result<()> {
        let network = &self.network;
        let sent = wishes.into_iter().map(|wish| {
            let client = network.node(wish.buyer).client();
            Order::send(client, wish)
        });
        let orders = futures::future::try_join_all(sent).await?;
        self.orders.extend(orders);
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
