//! Offers of the configuration: set at each start, as soon as the account is there. Their labels
//! count from 0 in the order of the file, and replace what stands under these labels, also if it
//! was set by hand. And standing offers that this machine cannot keep (any more): withdrawn.

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
    if offers.is_empty() || !has_account(&handle).await {
        return;
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
            tracing::warn!(class = offer.class, %error, hint = error.hint, "cannot set an offer of the configuration");
            // Nothing that time mends.
            if backend.refuses_class(&offer.class).await {
                break;
            }
            if handle.query(|_| ()).await == Err(BodyGone::Stopped) {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Withdraws what earlier runs of this node have offered and this one does not sell.
pub(super) async fn withdraw_unsold(backend: Arc<NodeBackend>, handle: BodyHandle) {
    if !has_account(&handle).await {
        return;
    }
    loop {
        let unsold = backend.unsold_offers().await.unwrap_or_default();
        let Some((label, why)) = unsold.first() else {
            return;
        };
        tracing::warn!(offer = label, reason = %why, "withdrawing an offer that is not sold here");
        if let Err(error) = backend.withdraw_offer(*label).await {
            tracing::warn!(offer = label, %error, "cannot withdraw an offer");
            if handle.query(|_| ()).await == Err(BodyGone::Stopped) {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Waits until the ledger has this node's account; false if the node ends before.
async fn has_account(handle: &BodyHandle) -> bool {
    let mut height = handle.height();
    while !matches!(
        handle.query(|core| core.account().is_some()).await,
        Ok(true)
    ) {
        if height.changed().await.is_err() {
            return false;
        }
    }
    true
}
