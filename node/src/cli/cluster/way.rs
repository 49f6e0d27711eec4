//! The way from a command to the ranks: through the node's API.

use crate::api::ApiError;
use crate::api::client::Client;
use crate::api::types::{ClusterRecord, Ranks};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::meant::Meant;
use crate::held::carry::PROTOCOL;
use crate::keys::random;
use crate::rank::order::{Command, Id};
use crate::rank::remote::Connector;
use crate::rank::wire::write_line;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// The ranks of one cluster.
pub(super) struct Way {
    client: Client,
    pub(super) id: Meant,
}

impl Way {
    pub(super) fn new(at: &Context, id: &str) -> Result<Arc<Way>, CliError> {
        Ok(Arc::new(Way {
            client: at.client()?,
            id: cluster_id(id)?,
        }))
    }

    /// How many ranks there are.
    pub(super) fn size(&self, at: &Context) -> Result<u32, CliError> {
        at.wait(async {
            let place = format!("/clusters/{}/ranks", self.id);
            let ranks: Ranks = self.client.get(&place).await.during("no such cluster")?;
            Ok(ranks.size)
        })
    }

    /// The record of the cluster.
    pub(super) fn record(&self, at: &Context) -> Result<ClusterRecord, CliError> {
        at.wait(async {
            let record = self.client.get(&format!("/clusters/{}", self.id)).await;
            record.during("no such cluster")
        })
    }
}

impl Connector for Way {
    type Conn = UnixStream;
    fn give(&self, rank: u32, order: &Command) -> Result<UnixStream, ApiError> {
        let path = format!("/clusters/{}/ranks/{rank}", self.id);
        let connection = self.client.upgrade(&path, PROTOCOL)?;
        let given = write_line(&connection, order);
        given.map_err(|error| {
            let why = format!("the node broke off: {error}");
            let code = crate::api::ErrorCode::Unreachable;
            ApiError::new(code, why, "see whether it runs: gridbay node status")
        })?;
        Ok(connection)
    }
}

/// The cluster that a word means.
pub(super) fn cluster_id(text: &str) -> Result<Meant, CliError> {
    text.parse()
        .map_err(|why| CliError::new(Exit::USAGE, "no such cluster", why, "gridbay cluster list"))
}

/// A fresh number of a program or transfer.
pub(super) fn fresh() -> Result<Id, CliError> {
    let seed = random().during("nothing was begun")?;
    let mut id = [0; 16];
    id.copy_from_slice(&seed[..16]);
    Ok(Id(id))
}

/// Does something for several ranks at once, in order of ranks: the first failure, if there is one,
/// once all have ended.
pub(super) fn each<T: Send>(
    ranks: impl IntoIterator<Item = u32>,
    work: impl Fn(u32) -> Result<T, CliError> + Sync,
) -> Result<Vec<(u32, T)>, CliError> {
    let work = &work;
    std::thread::scope(|scope| {
        let begun: Vec<_> = ranks
            .into_iter()
            .map(|rank| (rank, scope.spawn(move || work(rank))))
            .collect();
        let ended: Vec<_> = begun
            .into_iter()
            .map(|(rank, thread)| {
                let done = thread.join().unwrap_or_else(|_| {
                    let what = format!("rank {rank} was not served");
                    Err(CliError::fault(what, "a thread failed"))
                });
                done.map(|value| (rank, value))
            })
            .collect();
        ended.into_iter().collect()
    })
}
