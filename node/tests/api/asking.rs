//! The tests' questions to a world.

use super::world::{Settings, World, credits, world_with};
use gridbay_node::api::types::{How, JobId, JobRequest, JobState, OfferRequest, Want};
use gridbay_node::store::orders::OrderStore;
use gridbay_protocol::offer::Primary;
use std::future::Future;
use std::time::Duration;
use tempfile::tempdir;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn world() -> World {
    world_with(tempdir().unwrap(), Settings::default()).await
}

/// A node whose own account has this key.
pub(crate) async fn world_of(account: u8) -> World {
    let settings = Settings {
        account,
        ..Settings::default()
    };
    world_with(tempdir().unwrap(), settings).await
}

impl World {
    /// The output of its jobs.
    pub(crate) fn orders(&self) -> OrderStore {
        OrderStore::open(self.dir.path().join("orders"), 1 << 20).unwrap()
    }
    /// Looks after every block until `found` finds something.
    pub(crate) async fn until<T, F: Future<Output = Option<T>>>(&self, found: impl Fn() -> F) -> T {
        let mut height = self.body.height();
        let waited = tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some(found) = found().await {
                    return found;
                }
                height.changed().await.unwrap();
            }
        });
        waited.await.expect("it happens in time")
    }
    pub(crate) async fn offer(&self) {
        self.offer_under(Primary::Ausubel).await;
    }
    pub(crate) async fn offer_under(&self, mechanism: Primary) {
        let request = OfferRequest {
            label: None,
            class: "small".into(),
            units: 4,
            reserve: credits("1"),
            buy: (mechanism == Primary::Ausubel).then(|| credits("2")),
            notice_seconds: None,
            mechanism,
        };
        let offer = self.backend.set_offer(request).await.unwrap();
        assert_eq!((offer.label, offer.units, offer.own), (1, 4, true));
        assert_eq!(offer.reserve, credits("1"));
        self.until(|| async {
            let offers = self.backend.offers().await.unwrap();
            offers.iter().any(|offer| offer.on_sale).then_some(())
        })
        .await;
    }
    pub(crate) async fn job_in(&self, id: &JobId, state: JobState) {
        self.until(|| async {
            let record = self.backend.job(id.clone()).await.unwrap();
            (record.state == state).then_some(())
        })
        .await;
    }
}

pub(crate) fn want(nodes: u32) -> Want {
    Want {
        class: None,
        nodes,
        max_price: Some(credits("10")),
        seconds: 3_600,
        budget: None,
        how: How::BID,
    }
}
pub(crate) fn request(nodes: u32) -> JobRequest {
    JobRequest {
        project: None,
        worth: None,
        name: None,
        want: want(nodes),
        argv: vec!["/bin/true".into()],
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: false,
        internet: false,
        relays: Default::default(),
        checkpoint: None,
    }
}
