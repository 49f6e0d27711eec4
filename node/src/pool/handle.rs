//! Pools from the ledger, joined with this node's orders. Shares are computed beside the core, by
//! the ledger's own rule.

use super::types::{PoolClaim, PoolView};
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::backend::failure::internal;
use crate::market::class_name;
use crate::market::price::limit_hourly;
use crate::order::own::Own;
use gridbay_core::Core;
use gridbay_protocol::ids::{OfferId, OrderId};
use gridbay_protocol::record::share::{Sharing, SharingClaim};
use gridbay_protocol::units::Price;
use std::collections::BTreeMap;

impl NodeBackend {
    /// All pools, ascending by offer.
    pub async fn pools(&self) -> Answer<Vec<PoolView>> {
        let looked = self.query(pools).await?;
        let shared = move || looked.into_iter().map(with_shares).collect::<Vec<_>>();
        let done = tokio::task::spawn_blocking(shared).await;
        done.map_err(|error| internal("sharing pools", error))
    }
}

fn pools(core: &Core) -> Vec<(PoolView, Sharing)> {
    let (state, slot_ms) = (core.state(), core.state().policy().slot_ms());
    let own = Own::of(core);
    let pool = |(id, offer): (&OfferId, &gridbay_ledger::Offer)| {
        offer.pool()?;
        let sharing = state.pool(id)?;
        let class = state.class(&sharing.class)?;
        let resources = class.key.resources();
        let view = PoolView {
            offer: *id,
            label: offer.terms.label,
            account: offer.seller,
            name: state.member_name(&offer.seller).map(str::to_owned),
            own: core.account() == Some(offer.seller),
            class: class_name(state, &sharing.class),
            slot: sharing.slot,
            units: sharing.units,
            reserve: limit_hourly(sharing.reserve, slot_ms),
            cap_ppm: sharing.terms.cap_ppm,
            sixteenths: sharing.terms.sixteenths,
            resources: resources.map(|one| one.name().to_owned()).collect(),
            claims: sharing
                .claims
                .iter()
                .map(|claim| shown(core, claim, &own))
                .collect(),
        };
        Some((view, sharing))
    };
    state.offers().filter_map(pool).collect()
}

fn shown(core: &Core, claim: &SharingClaim, own: &Own) -> PoolClaim {
    let state = core.state();
    let (job, name) = own.job(&claim.order);
    let order = state.order(&claim.order);
    let portion = order.and_then(|order| order.share()?.portion.as_ref());
    PoolClaim {
        order: claim.order,
        job,
        name,
        sponsor: state.member_name(&claim.sponsor).map(str::to_owned),
        rate: limit_hourly(Price(claim.rate.micros()), state.policy().slot_ms()),
        tasks: claim.tasks,
        running: portion.map_or(0, |portion| portion.units),
        processors_milli: portion.map_or(0, |portion| portion.processors),
        shares_ppm: Vec::new(),
    }
}

fn with_shares((mut view, sharing): (PoolView, Sharing)) -> PoolView {
    let outcome = sharing.shares();
    let awards = outcome.iter().flat_map(|outcome| &outcome.awards);
    let shares: BTreeMap<OrderId, Vec<u32>> = awards
        .map(|award| {
            (
                award.id,
                award.shares.iter().map(|share| ppm(*share)).collect(),
            )
        })
        .collect();
    for claim in &mut view.claims {
        claim.shares_ppm = shares.get(&claim.order).cloned().unwrap_or_default();
    }
    view
}

/// A part of one in 32 binary places, in millionths.
fn ppm(share: u64) -> u32 {
    let wide = (u128::from(share) * 1_000_000) >> 32;
    u32::try_from(wide).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::ppm;

    #[test]
    fn shares_in_millionths() {
        assert_eq!([0, 1 << 31, 1 << 32].map(ppm), [0, 500_000, 1_000_000]);
        assert_eq!(ppm(u64::MAX), u32::MAX);
    }
}
