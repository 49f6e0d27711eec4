//! `market pools`: units that are shared, and the share of each claim.

use crate::api::types::{PoolClaim, PoolView};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::text;
use crate::ui::{Table, clean};

pub(super) fn pools(at: &Context) -> Result<(), CliError> {
    at.wait(async {
        let pools = at.client()?.get("/pools").await;
        let pools: Vec<PoolView> = pools.during("no list of pools")?;
        at.tell(&pools, |pools| shown(pools))
    })
}

fn shown(pools: &[PoolView]) -> String {
    if pools.is_empty() {
        return "no offer is shared as a pool\n".to_owned();
    }
    let one = |pool: &PoolView| {
        let seller = pool.name.clone();
        format!(
            "pool {} of {}, {}: {} units in slot {}, from {} per node-hour, {} of a member at \
             most\n{}",
            pool.offer,
            clean(&seller.unwrap_or_else(|| pool.account.to_string())),
            clean(&pool.class),
            pool.units,
            pool.slot,
            pool.reserve,
            percent(pool.cap_ppm),
            claims(pool)
        )
    };
    pools.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn claims(pool: &PoolView) -> String {
    if pool.claims.is_empty() {
        return "no claim stands\n".to_owned();
    }
    Table::of(
        &pool.claims,
        &[
            ("CLAIM", &|c| c.order.to_string()),
            ("JOB", &|c| text::or_dash(c.name.clone())),
            ("MEMBER", &|c| text::or_dash(c.sponsor.clone())),
            (">RATE/H", &|c| c.rate.to_string()),
            (">RUNS", &|c| format!("{}/{}", c.running, c.tasks)),
            (">WORTH", &|c| text::thousandths(c.processors_milli)),
            ("NEXT", &|c| next(pool, c)),
        ],
    )
}

/// Shares of the next slot: `cpu 25 %, memory 50 %`.
fn next(pool: &PoolView, claim: &PoolClaim) -> String {
    let shares = pool.resources.iter().zip(&claim.shares_ppm);
    let shares = shares.map(|(name, ppm)| format!("{name} {}", percent(*ppm)));
    let all = shares.collect::<Vec<_>>().join(", ");
    if all.is_empty() { "-".to_owned() } else { all }
}

/// Millionths in per cent: `12.5 %`.
pub(crate) fn percent(ppm: u32) -> String {
    format!("{} %", text::thousandths(u64::from(ppm) / 10))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pools_are_told_with_their_claims() {
        let id = "11".repeat(32);
        let claim = json!({
            "order": id, "job": null, "name": null, "sponsor": "uni-b", "rate": "2", "tasks": 4,
            "running": 1, "processors_milli": 1_500, "shares_ppm": [375_000, 500_000],
        });
        let pool = |claims: Vec<serde_json::Value>| -> PoolView {
            serde_json::from_value(json!({
                "offer": id, "label": 1, "account": id, "name": "uni-a", "own": false,
                "class": "small", "slot": 8, "units": 4, "reserve": "1", "cap_ppm": 500_000,
                "sixteenths": 8, "resources": ["cpu", "memory"], "claims": claims,
            }))
            .unwrap()
        };
        let told = shown(&[pool(vec![claim]), pool(Vec::new())]);
        for part in [
            "50 % of a member",
            "1/4",
            "1.5",
            "cpu 37.5 %, memory 50 %",
            "no claim",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(shown(&[]), "no offer is shared as a pool\n");
    }
}
