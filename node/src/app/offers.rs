//! Offers of the configuration: set once the account is there, left alone where they stand already.

use crate::api::Backend as _;
use crate::api::types::OfferRequest;
use crate::backend::NodeBackend;
use crate::body::{BodyGone, BodyHandle};
use crate::config::OfferConfig;
use std::sync::Arc;
use std::time::Duration;

/// Pause after an offer that could not be set.
const AGAIN: Duration = Duration::from_secs(2);

/// Sets all configured offers, however long it takes until the ledger has this node's account.
pub(super) async fn set_configured(
    backend: Arc<NodeBackend>,
    handle: BodyHandle,
    offers: Vec<OfferConfig>,
) {
    let mut height = handle.height();
    while !offers.is_empty()
        && !matches!(
            handle.query(|core| core.account().is_some()).await,
            Ok(true)
        )
    {
        if height.changed().await.is_err() {
            return;
        }
    }
    for (label, offer) in (0..).zip(offers) {
        let request = OfferRequest {
            label: Some(label),
            class: offer.class.clone(),
            units: offer.units,
            reserve: offer.reserve,
            buy: offer.buy,
            notice_seconds: offer.notice,
            mechanism: offer.mechanism,
        };
        while let Err(error) = backend.set_offer(request.clone()).await {
            tracing::warn!(class = offer.class, %error, "cannot set an offer of the configuration");
            if handle.query(|_| ()).await == Err(BodyGone::Stopped) {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}
