//! The lab and its nodes.

use crate::lab::{Kind, Lab, Topology};
use crate::network::plan::{credits, offer};
use crate::network::{Network, Plan, RunFolder, cli};
use crate::say::Progress;
use anyhow::{Context as _, bail};
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{JobRecord, Offer, OfferRequest};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Name of the lab.
    pub(crate) name: String,
    /// Keys of the sort, as a power of two, and how often they are sorted; none leaves out the
    /// programs.
    pub(crate) keys: Option<(u32, u32)>,
    /// Seconds on a relay before it is killed; 0 leaves this out.
    pub(crate) hold: u64,
    /// Seconds of echoes where only TCP to port 443 leaves; 0 leaves this out.
    pub(crate) strict: u64,
    /// The other kinds of network that meet such ones.
    pub(crate) kinds: Vec<Kind>,
    /// Whether the nodes' folders stay.
    pub(crate) keep: bool,
    /// Log filter of the nodes.
    pub(crate) log: String,
}

/// The node that buys.
pub(super) const BUYER: &str = "b5";
/// The nodes that sell work, with their hosts: two behind each router, or one.
const SELLERS: [(&str, &str); 4] = [("b1", "s1"), ("b2", "s2"), ("b3", "s3"), ("b4", "s4")];
const TWO: [(&str, &str); 2] = [("b1", "s1"), ("b2", "s3")];
/// The nodes that sell relaying to the two.
pub(super) const RELAYS: [&str; 2] = ["b3", "b4"];
/// The first seller's router.
pub(super) const HOME: &str = "home";
/// Until something that is waited for has come.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// Founders.
const FOUNDERS: usize = 4;

/// A network of whole nodes on a lab's hosts.
pub(super) struct Stage {
    // Before the lab: its nodes end first.
    network: Network,
    lab: Lab,
    sellers: Vec<Seller>,
}

/// Networks and hosts, with one more network for each of some other kinds.
fn topology(kind: Kind, others: &[Kind]) -> anyhow::Result<Topology> {
    let kind = kind.name();
    let mut text = format!(
        r#"
        [networks.street]
        kind = "open"
        hosts = ["p1", "p2", "p3", "p4", "r1", "r2"]
        [networks.home]
        kind = "{kind}"
        hosts = ["s1", "s2"]
        [networks.office]
        kind = "{kind}"
        hosts = ["s3", "s4"]
        [networks.desk]
        kind = "cone"
        hosts = ["buyer"]
        "#
    );
    for (i, other) in others.iter().enumerate() {
        let kind = other.name();
        text += &format!("[networks.other{i}]\nkind = \"{kind}\"\nhosts = [\"o{i}\"]\n");
    }
    Ok(Topology::parse(&text)?)
}

/// A node that sells work.
pub(super) struct Seller {
    pub(super) name: String,
    host: String,
    /// Of its network.
    pub(super) kind: Kind,
}

/// The nodes that sell: behind the two routers, and in networks of other kinds.
fn sellers(kind: Kind, others: &[Kind]) -> Vec<Seller> {
    let two = match kind {
        Kind::Symmetric | Kind::Tcp443 => &TWO[..],
        _ => &SELLERS[..],
    };
    let seller = |name: String, host: String, kind| Seller { name, host, kind };
    let two = two
        .iter()
        .map(|(name, host)| seller((*name).into(), (*host).into(), kind));
    // The names from b3 to b5 are taken: relays, or sellers behind the two, and the buyer.
    let others = others.iter().enumerate();
    let others = others.map(|(i, kind)| seller(format!("b{}", i + 6), format!("o{i}"), *kind));
    two.chain(others).collect()
}

impl Stage {
    /// Builds and starts all of it. With routers of kind `symmetric` only one seller behind each
    /// sells, and founders relay nothing for nothing; of kind `tcp443` as few sell, with one in a
    /// network of each of the other kinds, and founders can be reached at TCP port 443.
    pub(super) async fn up(
        kind: Kind,
        program: PathBuf,
        options: &Options,
        progress: &Progress,
    ) -> anyhow::Result<Stage> {
        let (relayed, strict) = (kind == Kind::Symmetric, kind == Kind::Tcp443);
        let others = if strict { &options.kinds[..] } else { &[] };
        let topology = topology(kind, others)?;
        let lab = Lab::up(&options.name, topology, program.clone(), progress)?;
        let sellers = sellers(kind, others);
        let mut plan = Plan::local(&options.name, FOUNDERS, 5 + others.len());
        plan.validators = vec![vec![]; FOUNDERS];
        plan.log.clone_from(&options.log);
        let founders = ["v1", "v2", "v3", "v4"]
            .into_iter()
            .zip(["p1", "p2", "p3", "p4"]);
        // They only look on where they sell no relaying.
        let relays = RELAYS.into_iter().zip(["r1", "r2"]);
        let relays = relays.filter(|_| relayed || strict);
        let selling = sellers
            .iter()
            .map(|seller| (&seller.name[..], &seller.host[..]));
        let all = founders.chain(selling).chain(relays);
        for (name, host) in all.chain([(BUYER, "buyer")]) {
            let seat = lab.seat(host)?;
            let seat = if strict && name.starts_with('v') {
                seat.also_at_443()
            } else {
                seat
            };
            plan.seats.insert(name.to_owned(), seat);
            let more = match name {
                _ if !relayed => "",
                _ if RELAYS.contains(&name) => "cluster.relay = \"on\"\n",
                _ => "cluster.free-relay = \"off\"\n",
            };
            plan.more.insert(name.to_owned(), more.to_owned());
        }
        let folder = RunFolder::create(&options.name)?;
        let network = Network::start(program, folder, plan, PATIENCE, progress).await?;
        let mut stage = Stage {
            network,
            lab,
            sellers,
        };
        if options.keep {
            stage.network.keep_folder();
        }
        for seller in &stage.sellers {
            let unit = offer("small", 1, credits(2), None);
            stage.sell(&seller.name, unit).await?;
        }
        for relay in RELAYS.into_iter().filter(|_| relayed) {
            let unit = offer("large", 1, credits(10), Some(credits(50)));
            stage.sell(relay, unit).await?;
        }
        let nodes = stage.network.plan().names().len();
        progress.tell(&format!("{nodes} nodes, routers of kind {}", kind.name()));
        Ok(stage)
    }

    async fn sell(&self, name: &str, offer: OfferRequest) -> anyhow::Result<()> {
        let client = self.network.node(name).client();
        let put = async || client.put::<Offer>("/offers", &offer).await;
        // A node that has just joined may not see its own account yet.
        let began = Instant::now();
        loop {
            match put().await {
                Ok(_) => return Ok(()),
                Err(error) if began.elapsed() > PATIENCE => {
                    return Err(error).context(format!("{name} does not sell"));
                }
                Err(_) => tokio::time::sleep(LOOK).await,
            }
        }
    }

    pub(super) fn sellers(&self) -> &[Seller] {
        &self.sellers
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    pub(super) fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    pub(super) fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Where files of the programs may be written.
    pub(super) fn folder(&self) -> &Path {
        self.network.folder().path()
    }

    /// The buyer's API.
    pub(super) fn buyer(&self) -> &Client {
        self.network.node(BUYER).client()
    }

    /// A command of the buyer's.
    pub(super) async fn command(&self, words: &[&str]) -> anyhow::Result<String> {
        let data = self.network.node(BUYER).home.path();
        cli::run(self.network.program(), data, words).await
    }

    /// Orders by a command until the order is taken: adverts may be on their way. Its id.
    pub(super) async fn order(&self, words: &[&str]) -> anyhow::Result<String> {
        let began = Instant::now();
        loop {
            match self.command(words).await {
                Ok(id) => return Ok(id.trim().to_owned()),
                Err(error) if began.elapsed() > PATIENCE => return Err(error),
                Err(_) => tokio::time::sleep(LOOK * 5).await,
            }
        }
    }

    /// A job of the buyer's.
    pub(super) async fn job(&self, id: &str) -> anyhow::Result<JobRecord> {
        Ok(self.buyer().get(&format!("/jobs/{id}")).await?)
    }
}

/// Looks until there is what is looked for.
pub(super) async fn until<T>(
    what: &str,
    mut look: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if Instant::now() > end {
            bail!("waited {} s for {what}", PATIENCE.as_secs());
        }
        tokio::time::sleep(LOOK).await;
    }
}
