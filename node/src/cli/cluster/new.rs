//! `cluster new`: buys nodes to hold.

use super::show::describe;
use super::way::{Way, each};
use crate::api::client::Client;
use crate::api::types::{ClusterRecord, ClusterRequest, JobId, Runtime, Want};
use crate::buy::How;
use crate::buy::flags::NOT_SENT;
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::once::{Deed, Once};
use crate::cli::run::buying::Buying;
use crate::cli::run::dry;
use crate::cli::run::follow::Signals;
use crate::rank::order::Command;
use crate::rank::remote::ask;
use crate::ui;
use clap::Args;
use std::time::{Duration, Instant};

/// Between two looks at a cluster that begins.
const LOOK: Duration = Duration::from_millis(200);
/// Until it is told where to ask what a cluster waits for.
const HINT: Duration = Duration::from_secs(90);
/// Time for ranks that run to take orders: their network has to stand.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a bid does not promise.
const MAY_MOVE: &str = "a cluster won by a bid begins anew elsewhere, in empty folders, when others \
    bid more or other units become cheaper; --buy holds what it has got";

/// The order.
const ORDER: Deed = Deed {
    path: "/clusters",
    undone: NOT_SENT,
    unknown: "it is not known whether the order was sent",
    look: "gridbay cluster list",
};

/// Buy nodes to hold for a while, and wait until they run
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct NewArgs {
    #[command(flatten)]
    buying: Buying,
    /// Only nodes with OpenMPI, for run --cluster ID --mpi
    #[arg(long)]
    mpi: bool,
    /// Only nodes with Dask, for run --cluster ID --dask
    #[arg(long)]
    dask: bool,
    /// Name of the cluster
    #[arg(long)]
    name: Option<String>,
    /// Only at sellers that let their jobs reach the web, by a proxy that $https_proxy names
    #[arg(long)]
    internet: bool,
    #[command(flatten)]
    once: Once,
    /// Print its id and do not wait
    #[arg(long)]
    detach: bool,
    /// Say what would be sent, what it costs and whether it can win, and send nothing
    #[arg(long)]
    dry_run: bool,
}

impl NewArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        if self.dry_run {
            return at.wait(self.tell(at));
        }
        let id = at.wait(async {
            let client = at.client()?;
            let want = self.buying.want(&[])?;
            let want = self.buying.quoted(&client, want).await?;
            let request = self.request(want);
            let mut signals = Signals::new()?;
            let begun: ClusterRecord = self.once.post(&client, &ORDER, &request).await?;
            if self.detach {
                at.show(&begun, |cluster| format!("{}\n", cluster.id))?;
                return Ok(None);
            }
            ui::note(&format!("cluster {}", begun.id));
            if matches!(request.want.how, How::Ausubel(_)) {
                ui::note(MAY_MOVE);
            }
            let id = begun.id.clone();
            tokio::select! {
                runs = until_it_runs(&client, begun) => runs.map(Some),
                () = signals.next() => Err(left(&id)),
            }
        })?;
        let Some(id) = id else {
            return Ok(Exit::OK);
        };
        let way = Way::new(at, id.as_str())?;
        let cluster = way.record(at)?;
        each(0..cluster.size, |rank| {
            await_rank(&way, rank);
            Ok(())
        })?;
        at.tell(&cluster, describe)?;
        Ok(Exit::OK)
    }

    /// The order for a wish.
    fn request(&self, want: Want) -> ClusterRequest {
        let runtimes = [(self.mpi, Runtime::Mpi), (self.dask, Runtime::Dask)];
        let runtimes = runtimes.into_iter().filter(|(asked, _)| *asked);
        ClusterRequest {
            name: self.name.clone(),
            want,
            relays: self.buying.relays(),
            internet: self.internet,
            runtimes: runtimes.map(|(_, runtime)| runtime).collect(),
        }
    }

    /// Says what the order would cost, and sends nothing.
    async fn tell(&self, at: &Context) -> Result<Exit, CliError> {
        let client = at.client()?;
        let want = self.buying.want(&[])?;
        let (want, quote, refused) = self.buying.looked(&client, want).await?;
        let what = dry::what(&quote, 0);
        dry::would(self.request(want), &quote, refused).tell(at, &what)
    }
}

/// Waits until a rank takes orders. One that does not is told of.
fn await_rank(way: &Way, rank: u32) {
    let begin = Instant::now();
    while let Err(error) = ask(way, rank, &Command::List) {
        if begin.elapsed() > PATIENCE {
            return ui::note(&format!("gridbay: {error}"));
        }
        std::thread::sleep(LOOK);
    }
}

/// The user waits no longer; what was ordered stays ordered.
fn left(id: &JobId) -> CliError {
    let why = format!("the order for cluster {id} stands");
    let next = format!("gridbay cluster end {id} takes it back");
    CliError::new(
        Exit::INTERRUPTED,
        "the cluster is no longer waited for",
        why,
        next,
    )
}

async fn until_it_runs(client: &Client, mut cluster: ClusterRecord) -> Result<JobId, CliError> {
    let (mut told, mut hint) = (String::new(), Some(Instant::now() + HINT));
    while !cluster.ranks.iter().all(|rank| rank.running) {
        let run = cluster.ranks.iter().filter(|rank| rank.running).count();
        let now = format!(
            "{}, {run} of {} ranks run",
            cluster.state.name(),
            cluster.size
        );
        if now != told {
            ui::note(&now);
            told = now;
        }
        if hint.take_if(|at| Instant::now() > *at).is_some() {
            ui::note(&format!(
                "gridbay job why {} tells what it waits for",
                cluster.id
            ));
        }
        if cluster.state.is_final() {
            let why = format!("cluster {} is {}", cluster.id, cluster.state.name());
            let next = format!("gridbay job why {}", cluster.id);
            return Err(CliError::new(
                Exit::OUTBID,
                "there is no cluster",
                why,
                next,
            ));
        }
        tokio::time::sleep(LOOK).await;
        let now = client.get(&format!("/clusters/{}", cluster.id)).await;
        cluster = now.during("the cluster is no longer waited for")?;
    }
    Ok(cluster.id)
}
