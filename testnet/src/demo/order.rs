//! An order of the demo, followed from its acceptance to its end.

use super::work::{Output, Work};
use crate::market::{self, Ask};
use crate::say::Progress;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{How, JobReason, JobRecord, JobRequest, JobState, Why};
use gridbay_protocol::units::Credits;

/// Seconds for work that no plan waits for: more than any of it needs, and few enough to keep the
/// prepayment of a buy small.
pub(crate) const LONG: u32 = 120;

/// A wish for an order.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// Name of the order.
    pub(crate) name: &'static str,
    /// Name of the buyer's node.
    pub(crate) buyer: &'static str,
    /// Class.
    pub(crate) class: &'static str,
    /// Nodes, all or none.
    pub(crate) nodes: u32,
    /// Most per node-hour; `None` where the order promises something else.
    pub(crate) max_price: Option<Credits>,
    /// How it gets its nodes.
    pub(crate) how: How,
    /// Seconds that each rank may take.
    pub(crate) seconds: u32,
    /// Its work.
    pub(crate) work: Work,
}

impl Wish {
    /// Stages the inputs of its work at the buyer's node.
    pub(crate) async fn stage(&self, client: &Client) -> anyhow::Result<JobRequest> {
        let result = self.work.result_file().map(str::to_owned);
        let ask = Ask {
            name: self.name.to_owned(),
            class: self.class.to_owned(),
            nodes: self.nodes,
            max_price: self.max_price,
            seconds: self.seconds,
            how: self.how.clone(),
            argv: self.work.argv(),
            inputs: self.work.inputs(),
            outputs: result.into_iter().collect(),
            checkpoint: self.work.checkpoint(),
        };
        market::stage(client, &ask).await
    }
}

/// A state in which an order was seen, and the reason it gave.
pub(crate) type Seen = (JobState, Option<JobReason>);

/// An order under way, or over.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The wish.
    pub(crate) wish: Wish,
    /// Its record when it was last looked at.
    pub(crate) record: JobRecord,
    /// The states seen, without repeats.
    pub(crate) seen: Vec<Seen>,
    /// Why it stood as it did, asked while it stood without units.
    pub(crate) why: Option<Why>,
    /// Outputs by rank, once it is done.
    pub(crate) outputs: Vec<Output>,
    /// Whether the demo ended it, because nothing would come of it.
    pub(crate) given_up: bool,
}

impl Order {
    /// Hands the order, whose inputs are staged, to the buyer's node.
    pub(crate) async fn send(
        client: &Client,
        wish: Wish,
        request: &JobRequest,
    ) -> anyhow::Result<Order> {
        let record = market::submit(client, request).await?;
        Ok(Order {
            seen: vec![(record.state, record.reason)],
            wish,
            record,
            why: None,
            outputs: Vec::new(),
            given_up: false,
        })
    }
    /// Looks at it again; tells what changed.
    pub(crate) async fn look(
        &mut self,
        client: &Client,
        progress: &Progress,
    ) -> anyhow::Result<()> {
        if self.is_over() {
            return Ok(());
        }
        self.record = market::job(client, &self.record.id).await?;
        let now = (self.record.state, self.record.reason);
        if self.seen.last() != Some(&now) {
            self.seen.push(now);
            progress.tell(&self.event());
        }
        if self.is_waiting() && self.record.reason.is_some_and(is_a_loss) {
            self.why = Some(client.get(&format!("/jobs/{}/why", self.record.id)).await?);
        }
        Ok(())
    }
    /// Fetches the output of its ranks.
    pub(crate) async fn fetch(&mut self, client: &Client) -> anyhow::Result<()> {
        let id = &self.record.id;
        for rank in 0..self.wish.nodes {
            let stdout = market::stdout(client, id, rank).await?;
            let file = match self.wish.work.result_file() {
                Some(path) => market::file(client, id, rank, path).await?,
                None => String::new(),
            };
            self.outputs.push(Output { stdout, file });
        }
        Ok(())
    }
    /// Whether it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.record.state.is_final()
    }
    /// Whether it runs now.
    pub(crate) fn is_running(&self) -> bool {
        self.record.state == JobState::Running
    }
    /// Whether it stands without units.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.record.state, JobState::Bidding | JobState::Requeued)
    }
    /// Whether a reason of a lost clearing was seen.
    pub(crate) fn loss_reasons(&self) -> Vec<JobReason> {
        let reasons = self.seen.iter().filter_map(|(_, reason)| *reason);
        let mut reasons: Vec<JobReason> = reasons.filter(|r| is_a_loss(*r)).collect();
        reasons.sort();
        reasons.dedup();
        reasons
    }
    /// Milliseconds from acceptance to the first instruction.
    pub(crate) fn to_running_ms(&self) -> Option<u64> {
        let running = self.record.running_ms?;
        Some(running.saturating_sub(self.record.accepted_ms))
    }
    /// Name of its mechanism.
    pub(crate) fn kind(&self) -> &'static str {
        self.wish.how.name()
    }
    fn event(&self) -> String {
        let JobRecord {
            state,
            reason,
            sellers,
            ..
        } = &self.record;
        let reason = reason
            .map(|r| format!(" ({})", r.name()))
            .unwrap_or_default();
        let names: Vec<&str> = sellers.iter().filter_map(|s| s.name.as_deref()).collect();
        let place = match (state, names.as_slice()) {
            (_, []) => String::new(),
            (JobState::Running, names) => format!(" on {}", names.join(" ")),
            _ => String::new(),
        };
        let name = self.wish.name;
        format!(
            "{} {name}: {}{reason}{place}",
            self.wish.buyer,
            state.name()
        )
    }
}

/// Whether a reason says why an order has no units.
fn is_a_loss(reason: JobReason) -> bool {
    matches!(
        reason,
        JobReason::Outbid
            | JobReason::NoUnits
            | JobReason::Preempted
            | JobReason::Undelivered
            | JobReason::Disputed
            | JobReason::Unserved
            | JobReason::Unfunded
    )
}
