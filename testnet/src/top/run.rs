//! A run as a source: all its nodes are asked at once.

use super::blocks::Blocks;
use super::sheets::{Answer, look};
use crate::network::{NodeRecord, RunFolder, RunRecord};
use futures::future::join_all;
use gridbay_node::api::client::Client;
use gridbay_node::api::types::NodeStatus;
use gridbay_node::top::node::Events;
use gridbay_node::top::{Look, Lost, Source};
use std::future;
use std::time::Duration;
use tokio::time::timeout;

/// Time for an answer; a node that takes longer is shown as down.
const PATIENCE: Duration = Duration::from_secs(2);

/// A run of this machine.
pub(crate) struct Run {
    name: String,
    blocks: Blocks,
    /// Of the first node that answered; once it is gone, looks go by time alone.
    events: Option<Events>,
}

impl Run {
    /// The run of a name.
    pub(crate) fn new(name: &str) -> Run {
        Run {
            name: name.to_owned(),
            blocks: Blocks::default(),
            events: None,
        }
    }
}

async fn ask(record: NodeRecord) -> Answer {
    let client = Client::new(&record.socket);
    let answer = match timeout(PATIENCE, client.get::<NodeStatus>("/node")).await {
        Ok(answer) => answer.map_err(|error| error.message),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    };
    (record, answer)
}

impl Source for Run {
    /// Nodes may come and go, and so may the run.
    async fn look(&mut self) -> Result<Look, Lost> {
        let record = RunFolder::open(&self.name).and_then(|folder| RunRecord::read(&folder));
        let record = record.map_err(|error| Lost(format!("{error:#}")))?;
        let answers = join_all(record.nodes.into_iter().map(ask)).await;
        let up = answers.iter().find(|(_, answer)| answer.is_ok());
        let Some((first, _)) = up else {
            self.events = None;
            return Ok(look(&self.name, &answers, (&[], &[]), &self.blocks));
        };
        let client = Client::new(&first.socket);
        self.blocks.follow(&client).await;
        let lost = |error: gridbay_node::api::ApiError| Lost(error.message);
        let classes: Vec<_> = client.get("/prices").await.map_err(lost)?;
        let auctions: Vec<_> = client.get("/auctions?limit=200").await.map_err(lost)?;
        self.events.get_or_insert_with(|| Events::new(client));
        let market = (classes.as_slice(), auctions.as_slice());
        Ok(look(&self.name, &answers, market, &self.blocks))
    }

    async fn changed(&mut self) {
        match &mut self.events {
            Some(events) => events.next().await,
            None => future::pending().await,
        }
    }
}
