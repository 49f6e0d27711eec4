//! What trials are given: an image, a federation on this machine, and machines that join it.

use super::Image;
use super::disk;
use super::machine::{Machine, Spec};
use crate::network::{Network, Node, Plan, RunFolder, cli};
use crate::say::Progress;
use gridbay_node::cli::Pace;
use gridbay_node::overlay::peer_id_of_key;
use std::path::PathBuf;
use std::time::Duration;

/// For the local network to stand.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// Founders: with four, one may fail.
const FOUNDERS: usize = 4;
/// This machine's loopback interface, as a machine's own network has it.
const HOST: &str = "10.0.2.2";

/// What a trial is given.
pub(crate) struct Bench {
    /// The image.
    pub(crate) image: Image,
    /// The federation that machines join.
    pub(crate) network: Network,
    /// Where the machines' files go.
    pub(crate) folder: PathBuf,
    /// Decides the moments of what happens at random.
    pub(crate) seed: u64,
    /// Where long trials tell how far they are.
    pub(crate) progress: Progress,
}

/// A federation for machines, which without KVM are too slow for blocks four times a second.
pub(super) fn plan(name: &str) -> Plan {
    Plan {
        pace: Pace::WideArea,
        gateway: Some(HOST),
        ..Plan::local(name, FOUNDERS, 0)
    }
}

impl Bench {
    /// A federation of this machine, whose founders sell.
    ///
    /// # Errors
    /// It does not stand in time.
    pub(super) async fn new(
        image: Image,
        program: PathBuf,
        seed: u64,
        progress: &Progress,
    ) -> anyhow::Result<Bench> {
        let folder = RunFolder::create("appliance")?;
        let network = Network::start(program, folder, plan("appliance"), PATIENCE, progress);
        Bench::over(image, network.await?, seed, progress)
    }

    /// Over a federation that stands, whose plan is one of [`plan`].
    ///
    /// # Errors
    /// Its folder takes none for the machines' files.
    pub(super) fn over(
        image: Image,
        network: Network,
        seed: u64,
        progress: &Progress,
    ) -> anyhow::Result<Bench> {
        let folder = network.folder().path().join("machines");
        std::fs::create_dir(&folder)?;
        Ok(Bench {
            image,
            network,
            folder,
            seed,
            progress: *progress,
        })
    }

    /// The same image for another federation, whose plan is one of [`plan`].
    pub(super) fn beside(&self, network: Network) -> Bench {
        Bench {
            image: self.image.clone(),
            network,
            folder: self.folder.clone(),
            seed: self.seed,
            progress: self.progress,
        }
    }

    /// A machine that is on.
    pub(super) fn boot(&self, spec: Spec) -> anyhow::Result<Machine> {
        Machine::boot(&self.image, &self.folder, spec)
    }

    /// A configuration disk.
    pub(super) fn disk(&self, name: &str, files: &[(&str, &str)]) -> anyhow::Result<PathBuf> {
        disk::config(&self.folder, name, files)
    }

    /// A new invitation of a founder.
    pub(super) async fn invitation(&self, endowment: &str) -> anyhow::Result<String> {
        self.invitation_for(endowment, "30m").await
    }

    /// One that is good for a time.
    pub(super) async fn invitation_for(
        &self,
        endowment: &str,
        time: &str,
    ) -> anyhow::Result<String> {
        let words = ["invite", "--endowment", endowment, "--valid", time];
        let token = self.cli("v1", &words).await?;
        Ok(token.trim().to_owned())
    }

    /// The settings of an appliance: an invitation, and how founders are reached from it.
    pub(super) async fn settings(&self, name: &str, sells: &str) -> anyhow::Result<String> {
        let invitation = self.invitation("20").await?;
        Ok(self.with(&invitation, name, sells))
    }

    pub(super) fn with(&self, invitation: &str, name: &str, sells: &str) -> String {
        let places: Vec<String> = self.places().iter().map(|at| format!("\"{at}\"")).collect();
        format!(
            "invitation = \"{invitation}\"\nname = \"{name}\"\nbootstrap = [{}]\n[sell]\n{sells}\n",
            places.join(", ")
        )
    }

    /// The founders' addresses, as a machine's own network has them.
    pub(super) fn places(&self) -> Vec<String> {
        let nodes = (0..FOUNDERS).map(|i| self.network.node(&Plan::validator_name(i)));
        let place = |node: &Node| {
            let status = node.status()?;
            let seat = self.network.plan().seats.get(&node.name);
            let reached = seat.map_or(&status.listen, |seat| &seat.reached);
            let tcp = reached.iter().find(|at| at.contains("/tcp/"))?;
            let peer = peer_id_of_key(status.node.as_bytes())?;
            Some(format!("{}/p2p/{peer}", tcp.replace("127.0.0.1", HOST)))
        };
        nodes.filter_map(place).collect()
    }

    /// The founders' ports, which are one for UDP and TCP each.
    pub(super) fn ports(&self) -> Vec<u16> {
        let places = self.places();
        let port = |at: &String| at.split('/').nth(4)?.parse().ok();
        places.iter().filter_map(port).collect()
    }

    /// A command of a node of the local network.
    pub(super) async fn cli(&self, node: &str, words: &[&str]) -> anyhow::Result<String> {
        let node = self.network.node(node);
        cli::run(self.network.program(), node.home.path(), words).await
    }
}
