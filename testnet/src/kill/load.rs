//! The load: every account pays others at a steady rate, buyers order jobs as well. Every request
//! has an idempotency key and is repeated under it until it is answered, however often its node is
//! killed meanwhile.
//!
//! An answer is an acknowledgement:
//! - of a transfer: its entry is in the block named, which is final; or it had no effect and never
//!   will;
//! - of an order: it is kept durably, and will be over some time.

use super::history::{History, Outcome};
use super::rng::Rng;
use crate::market::{self, Ask};
use crate::network::plan::credits;
use crate::network::{Network, Role};
use anyhow::{Context as _, bail};
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{How, JobRecord, TransferRequest, Transferred};
use gridbay_node::api::{ApiError, ErrorCode};
use gridbay_protocol::units::Credits;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Pause between two requests of one payer, in milliseconds.
const PAYER_PAUSE_MS: (u64, u64) = (50, 350);
/// Pause before a request is repeated.
const AGAIN: Duration = Duration::from_millis(50);
/// How often an order is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The first amount, in micro-credits; each further transfer has one more.
const FIRST_AMOUNT: i64 = 1_000_000;

/// The running load.
pub(super) struct Load {
    ending: watch::Sender<bool>,
    tasks: JoinSet<anyhow::Result<()>>,
}

/// Somebody who asks.
struct Asker {
    history: Arc<History>,
    client: Client,
    party: usize,
    ending: watch::Receiver<bool>,
    rng: Rng,
    /// Beginning of its keys.
    run: u64,
}

/// Starts a payer for each node and an orderer for each buyer.
pub(super) fn start(network: &Network, history: &Arc<History>, rng: &mut Rng) -> Load {
    let (ending, ended) = watch::channel(false);
    let mut tasks = JoinSet::new();
    let run = rng.next();
    for (party, node) in network.nodes().iter().enumerate() {
        let mut asker = || Asker {
            history: Arc::clone(history),
            client: node.client().clone(),
            party,
            ending: ended.clone(),
            rng: rng.fork(),
            run,
        };
        tasks.spawn(asker().pay());
        if node.role == Role::Buyer {
            tasks.spawn(asker().order());
        }
    }
    Load { ending, tasks }
}

impl Load {
    /// Asks for nothing more and waits until all is answered and every order is over.
    pub(super) async fn end(mut self, within: Duration) -> anyhow::Result<()> {
        self.ending.send_replace(true);
        let all = async {
            while let Some(done) = self.tasks.join_next().await {
                done??;
            }
            anyhow::Ok(())
        };
        let done = tokio::time::timeout(within, all).await;
        done.context("not everything asked for was answered in time")?
    }
}

impl Asker {
    fn goes_on(&self) -> bool {
        !*self.ending.borrow()
    }

    async fn pay(mut self) -> anyhow::Result<()> {
        while self.goes_on() {
            let others = self.history.parties.len() as u64 - 1;
            let other = self.rng.below(others) as usize;
            // Everybody but oneself.
            let to = if other < self.party { other } else { other + 1 };
            let amount = |number: usize| FIRST_AMOUNT + number as i64;
            let number = self.history.ask_transfer(self.party, to, amount);
            let outcome = self.transfer(number, to, amount(number)).await?;
            self.history.answer_transfer(number, outcome);
            self.pause().await;
            if self.rng.below(4) == 0 {
                let again = self.transfer(number, to, amount(number)).await?;
                if again != outcome {
                    bail!("transfer {number} was answered with {outcome:?}, then with {again:?}");
                }
            }
        }
        Ok(())
    }

    async fn pause(&mut self) {
        let pause = self.rng.between(PAYER_PAUSE_MS.0, PAYER_PAUSE_MS.1);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }

    /// Repeats a transfer under its key until it is answered.
    async fn transfer(&self, number: usize, to: usize, amount: i64) -> anyhow::Result<Outcome> {
        let amount = u64::try_from(amount).ok().and_then(Credits::from_micros);
        let request = TransferRequest {
            to: self.history.parties[to].account,
            amount: amount.context("an amount above zero")?,
            memo: None,
        };
        let key = format!("pay-{:016x}-{number}", self.run);
        loop {
            let answer: Result<Transferred, ApiError> = self
                .client
                .post("/ledger/transfer", &request, Some(&key))
                .await;
            match answer {
                Ok(done) => return Ok(Outcome::Final(done.entry, done.height)),
                Err(error) if has_no_effect(&error) => return Ok(Outcome::NoEffect),
                Err(error) if is_no_answer(&error) => tokio::time::sleep(AGAIN).await,
                Err(error) => return Err(error).with_context(|| format!("transfer {number}")),
            }
        }
    }

    async fn order(mut self) -> anyhow::Result<()> {
        let mut how = How::BID;
        while self.goes_on() {
            let (number, name) = self.history.ask_order(self.party);
            let ask = ask(name, how.clone());
            how = if how == How::BID { How::BUY } else { How::BID };
            let request = market::stage(&self.client, &ask).await?;
            let key = format!("order-{:016x}-{number}", self.run);
            let record: JobRecord = loop {
                match self.client.post("/jobs", &request, Some(&key)).await {
                    Ok(record) => break record,
                    Err(error) if is_no_answer(&error) => tokio::time::sleep(AGAIN).await,
                    Err(error) => return Err(error).with_context(|| format!("order {number}")),
                }
            };
            self.history.answer_order(number, record.id.clone());
            let end = self.until_over(record).await?;
            self.history.end_order(number, end);
            self.pause().await;
        }
        Ok(())
    }

    async fn until_over(&self, mut record: JobRecord) -> anyhow::Result<JobRecord> {
        let path = format!("/jobs/{}", record.id);
        while !record.state.is_final() {
            tokio::time::sleep(LOOK_EVERY).await;
            match self.client.get(&path).await {
                Ok(now) => record = now,
                Err(error) if is_no_answer(&error) => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("acknowledged job {}", record.id));
                }
            }
        }
        Ok(record)
    }
}

fn ask(name: String, how: How) -> Ask {
    Ask {
        argv: vec!["echo".to_owned(), name.clone()],
        name,
        class: "small".to_owned(),
        nodes: 1,
        max_price: Some(credits(60)),
        seconds: 4,
        how,
        inputs: Vec::new(),
        outputs: Vec::new(),
        checkpoint: None,
    }
}

/// Whether the node said that the transfer can never take effect.
fn has_no_effect(error: &ApiError) -> bool {
    error.code == ErrorCode::Timeout && error.hint.starts_with("it has no effect any more")
}

/// Whether the request was not acknowledged and may be repeated.
fn is_no_answer(error: &ApiError) -> bool {
    matches!(
        error.code,
        ErrorCode::Unreachable
            | ErrorCode::Timeout
            | ErrorCode::Conflict
            | ErrorCode::Refused
            | ErrorCode::NoMatch
            | ErrorCode::Halted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_no_answer_and_a_missing_job_is_one() {
        let error = |code| ApiError::new(code, "", "");
        assert!(is_no_answer(&error(ErrorCode::Unreachable)));
        for code in [ErrorCode::NotFound, ErrorCode::Usage, ErrorCode::Internal] {
            assert!(!is_no_answer(&error(code)), "{code:?}");
        }
        let late = error(ErrorCode::Timeout);
        assert!(is_no_answer(&late) && !has_no_effect(&late));
    }
}
