//! A client hands a batch of jobs to a provider that has no nodes of its own. The provider signs,
//! stakes all penalties, rents nodes on the market for each job, and is paid for all of them
//! together.

pub(super) mod check;
#[cfg(test)]
pub(super) mod sample;

use super::super::order::Wish;
use super::super::stage::Stage;
use super::super::work::Work;
use crate::network::Plan;
use anyhow::Context as _;
use gridbay_node::api::types::{ContractHow, How, NodeStatus};

/// The batch.
const CONTRACT: &str = "batch";

/// Who provides.
const PROVIDER: &str = "b7";
/// On what terms: it reckons with the asked prices of the small class.
const TERMS: &str =
    "provider.policy = \"conservative\"\nprovider.cost = \"30\"\nprovider.most = \"200\"\n";

pub(super) fn prepare(plan: &mut Plan) {
    plan.more.insert(PROVIDER.to_owned(), TERMS.to_owned());
}

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("four jobs under contract with b7, which rents nodes for them; all done are worth a quarter more");
    let provider = stage.network.node(PROVIDER).client();
    let status: NodeStatus = provider.get("/node").await?;
    let provider = status.account.context("the provider has no account")?;
    let batch = Wish {
        name: CONTRACT,
        buyer: "b4",
        class: "small",
        nodes: 4,
        max_price: None,
        how: How::Contract(ContractHow {
            provider: provider.to_hex(),
            value: "0.08".parse()?,
            penalty: "0.01".parse()?,
            hold_seconds: 30,
            decay_seconds: 60,
            alpha_ppm: 1_250_000,
            beta16: 32,
            window_seconds: 20,
        }),
        // Two slots.
        seconds: 4,
        work: Work::Sleep(1),
    };
    stage.send(vec![batch]).await
}
