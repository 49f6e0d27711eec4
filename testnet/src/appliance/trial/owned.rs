//! Machines that a founder owns.

use super::super::bench::Bench;
use super::super::shell::Shell;
use anyhow::Context as _;
use serde_json::Value;

/// The founder that owns machines.
pub(super) const OWNER: &str = "v1";

/// What the owner's node answers.
pub(super) async fn asked(bench: &Bench, words: &[&str]) -> anyhow::Result<Value> {
    let said = bench.cli(OWNER, &[words, &["-o", "json"]].concat()).await?;
    serde_json::from_str(&said).with_context(|| said.clone())
}

/// The settings of a machine that the owner controls.
pub(super) async fn settings(bench: &Bench, name: &str, sells: &str) -> anyhow::Result<String> {
    let key = asked(bench, &["appliance", "key"]).await?;
    let key = key["key"].as_str().context("the owner has no key")?;
    let settings = bench.settings(name, sells).await?;
    Ok(format!("owner = \"{key}\"\n{settings}"))
}

/// Gives a machine that is ready a name at a founder's node.
pub(super) async fn add(
    bench: &Bench,
    founder: &str,
    name: &str,
    shell: &mut Shell,
) -> anyhow::Result<()> {
    let status = shell.status().await?;
    let node = status["node"].as_str();
    let node = node.context("the machine has no node")?;
    let words = ["appliance", "add", name, node];
    bench.cli(founder, &words).await.map(drop)
}
