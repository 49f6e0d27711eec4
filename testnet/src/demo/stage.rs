//! The stage that the scenes share: the network, the orders, the clock.

use super::order::{Order, Wish};
use crate::network::Network;
use crate::say::Progress;
use anyhow::bail;
use futures::future::try_join_all;
use gridbay_node::api::types::{NodeStatus, Offer};
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
    /// The result of the crash, once there was one.
    pub(crate) crash: Option<Crash>,
    /// The clock and the teller.
    pub(crate) progress: &'a Progress,
    /// When the demo gives up.
    pub(crate) deadline: Instant,
}

/// The result of the crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crash {
    /// Node killed.
    pub(crate) node: String,
    /// Orders that it ran parts of when it was killed.
    pub(crate) hosted: Vec<String>,
    /// Those of them that, a moment after its return, still ran there on the same lease, or were
    /// done.
    pub(crate) survived: Vec<String>,
    /// Height of the others when it was killed.
    pub(crate) height: u64,
    /// Until the others had decided two more blocks.
    pub(crate) next_blocks: Duration,
    /// Height of the others when it was started again.
    pub(crate) head: u64,
    /// Its own when it had that height, or when nobody waited any more.
    pub(crate) own: u64,
    /// From its second start until then.
    pub(crate) back: Duration,
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
    /// Waits until the buyers' nodes know that an offer is for sale: it is when the round closes.
    pub(crate) async fn on_sale(&mut self, offer: &Offer, buyers: &[&str]) -> anyhow::Result<()> {
        for buyer in buyers {
            for _ in 0..100 {
                let client = self.network.node(buyer).client();
                let offers: Vec<Offer> = client.get("/offers").await?;
                let sold = |o: &Offer| o.offer == offer.offer && o.on_sale;
                if offers.iter().any(sold) {
                    break;
                }
                self.watch(Duration::from_millis(100)).await?;
            }
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
