//! The foreign client (`testnet/foreign`): a program by others that shares no code with nodes, run
//! where Node.js and its packages are installed.
//!
//! It meets a node as an honest stranger ([`Foreign::meet`]) or attacks one until it is told to
//! stop ([`Foreign::attack`]).

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Node.js releases that it runs with begin here.
const NODE_JS: u32 = 20;
/// How long meeting, or ending an attack, may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client that can be started.
#[derive(Clone, Debug)]
pub struct Foreign {
    folder: PathBuf,
}

/// A node as the client sees it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Hex of the network's id.
    pub network: String,
    /// A TCP address with the peer's id.
    pub address: String,
    /// The API's socket.
    pub api: PathBuf,
}

/// The lessons of an honest stranger.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Met {
    /// The node's peer id.
    pub peer: String,
    /// The network's name by identify.
    #[serde(rename = "protocolVersion")]
    pub protocol_version: String,
    /// Protocols that the node speaks.
    pub protocols: Vec<String>,
    /// Addresses at which it says it listens.
    pub listen: Vec<String>,
    /// Round trip of a ping.
    #[serde(rename = "pingMs")]
    pub ping_ms: f64,
    /// Hex of its answer to the request.
    pub answer: String,
    /// The answer of the DHT.
    pub dht: Dht,
    /// Whether the connection still stood at the end.
    pub stays: bool,
}

/// An answer of the DHT.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Dht {
    /// Peers it named.
    pub peers: usize,
    /// All their addresses.
    pub addresses: Vec<String>,
    /// Bytes of the answer.
    pub bytes: usize,
}

/// The result of an attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Report {
    /// Identities, or connections, that were let in.
    pub identities: u64,
    /// Of these, shut out.
    pub shut_out: u64,
    /// Tries that were not let in.
    pub refused: u64,
    /// Deeds that went out.
    pub done: u64,
    /// Deeds that did not.
    pub failed: u64,
}

impl Foreign {
    /// The client of this repository; else what is missing, for people.
    pub async fn find() -> Result<Foreign, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign");
        let version = Command::new("node").arg("--version").output().await;
        let version = version.map_err(|_| "Node.js is not installed".to_owned())?;
        let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        let major = version.trim_start_matches('v').split('.').next();
        let major: Option<u32> = major.and_then(|text| text.parse().ok());
        if major.is_none_or(|major| major < NODE_JS) {
            return Err(format!("Node.js {version} is older than {NODE_JS}"));
        }
        if !folder.join("node_modules").join("libp2p").is_dir() {
            return Err(
                "its packages are not installed: npm ci --prefix testnet/foreign".to_owned(),
            );
        }
        Ok(Foreign { folder })
    }
    /// Names of its attacks.
    pub async fn attacks(&self) -> anyhow::Result<Vec<String>> {
        let done = self.command("list").output().await?;
        answer(done)
    }
    /// Meets a node as an honest stranger; `request` is what it asks over the request protocol.
    pub async fn meet(&self, target: &Target, request: &str) -> anyhow::Result<Met> {
        let mut command = self.against("meet", target);
        command.args(["--request", request]).stdin(Stdio::null());
        let done = timeout(PATIENCE, command.output()).await;
        answer(done.context("the foreign client takes too long")??)
    }
    /// Begins an attack.
    pub fn attack(&self, name: &str, target: &Target) -> anyhow::Result<Siege> {
        let mut command = self.against(name, target);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::piped()).spawn()?;
        Ok(Siege { child })
    }
    fn against(&self, verb: &str, target: &Target) -> Command {
        let mut command = self.command(verb);
        command.args(["--network", &target.network]);
        command.args(["--address", &target.address]);
        command.arg("--api").arg(&target.api);
        command
    }
    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(self.folder.join("main.mjs")).arg(verb);
        // In a group of its own: an interrupt from the keyboard is for the laboratory alone.
        command.process_group(0).kill_on_drop(true);
        command
    }
}

/// An attack that goes on. It ends when this is dropped.
#[derive(Debug)]
pub struct Siege {
    child: Child,
}

impl Siege {
    /// Ends it, and says what came of it.
    pub async fn end(mut self) -> anyhow::Result<Report> {
        drop(self.child.stdin.take());
        let done = timeout(PATIENCE, self.child.wait_with_output()).await;
        answer(done.context("the attack does not end")??)
    }
}

fn answer<T: DeserializeOwned>(done: Output) -> anyhow::Result<T> {
    if !done.status.success() {
        let told = String::from_utf8_lossy(&done.stderr);
        bail!(
            "the foreign client failed ({}): {}",
            done.status,
            told.trim()
        );
    }
    serde_json::from_slice(&done.stdout).context("the foreign client's answer is not understood")
}
