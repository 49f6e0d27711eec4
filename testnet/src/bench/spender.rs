//! A member that attacks with valid keys: transfers through its own node, as many at a time as its
//! node takes, until told to stop. The budget of its account and the fair shares of blocks bound
//! it.

use crate::foreign::Report;
use crate::network::Network;
use anyhow::Context as _;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{Balance, TransferRequest, Transferred};
use gridbay_protocol::units::Credits;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// The attack's name.
pub(super) const NAME: &str = "member";
/// Transfers on their way at a time.
const AT_A_TIME: usize = 128;

/// A member that goes on.
pub(super) struct Spender {
    lanes: JoinSet<()>,
    done: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
}

impl Spender {
    /// Begins, at the node of this name.
    pub(super) async fn begin(network: &Network, name: &str) -> anyhow::Result<Spender> {
        let own = network.node(name).client();
        let other: Balance = network.node("v2").client().get("/ledger/balance").await?;
        let request = TransferRequest {
            to: other.account,
            amount: Credits::from_micros(1).context("an amount")?,
            memo: None,
        };
        let (done, failed) = (Arc::default(), Arc::default());
        let mut lanes = JoinSet::new();
        for lane in 0..AT_A_TIME {
            let counts = (Arc::clone(&done), Arc::clone(&failed));
            lanes.spawn(go_on(own.clone(), request.clone(), lane, counts));
        }
        Ok(Spender {
            lanes,
            done,
            failed,
        })
    }
    /// Ends, and says what came of it. A member is not shut out: its account pays.
    pub(super) async fn end(mut self) -> Report {
        self.lanes.shutdown().await;
        Report {
            identities: 1,
            done: self.done.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            ..Report::default()
        }
    }
}

async fn go_on(
    client: Client,
    request: TransferRequest,
    lane: usize,
    (done, failed): (Arc<AtomicU64>, Arc<AtomicU64>),
) {
    for i in 0_u64.. {
        let key = format!("spend-{lane}-{i}");
        let answer: Result<Transferred, _> =
            client.post("/ledger/transfer", &request, Some(&key)).await;
        let count = if answer.is_ok() { &done } else { &failed };
        count.fetch_add(1, Ordering::Relaxed);
    }
}
