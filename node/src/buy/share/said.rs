//! The grant to a claim, in words and figures.

use super::{ShareNow, ShareOutlook};
use crate::buy::way::span;
use crate::cli::text;
use crate::order::quote::Quote;
use gridbay_ledger::State;
use gridbay_protocol::class::Resource;
use gridbay_protocol::ids::OrderId;

/// The line that is said before a claim is sent.
pub(super) fn line(quote: &Quote, share: &ShareOutlook) -> String {
    let shares: Vec<String> = share
        .resources
        .iter()
        .map(|r| format!("{} {}", r.resource, percent(r.share_ppm)))
        .collect();
    let likely = quote.likely.map_or("nothing".to_owned(), |l| l.to_string());
    let weights = if share.learnt {
        ", weights learnt from past runs"
    } else {
        ""
    };
    format!(
        "can cost at most {} credits (a share of a pool of {} nodes for {} at up to {} per hour); \
         now, beside {} other claims, it would run on {} nodes ({}{weights}) and likely cost {likely}",
        quote.most,
        share.units,
        span(quote.seconds),
        quote.max_price,
        share.claims,
        text::thousandths(share.nodes_milli),
        shares.join(", "),
    )
}

fn percent(ppm: u32) -> String {
    format!("{}.{}%", ppm / 10_000, ppm / 1_000 % 10)
}

/// The allowance of a running claim; `None` for other orders.
pub(crate) fn now(state: &State, order: &OrderId) -> Option<ShareNow> {
    let order = state.order(order)?;
    let portion = order.share()?.portion.as_ref()?;
    let class = &state.class(&order.class)?.key;
    Some(ShareNow {
        nodes: portion.units,
        processors_milli: portion.processors,
        memory_mib: portion.per_task(class, Resource::Memory),
        disk_mib: portion.per_task(class, Resource::Disk),
    })
}

/// The same in words.
pub(crate) fn share(now: &ShareNow) -> String {
    format!(
        "{} nodes at a time with {} nodes' worth of processors; each {} MiB of memory, {} MiB of disk",
        now.nodes,
        text::thousandths(now.processors_milli),
        now.memory_mib,
        now.disk_mib
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents() {
        assert_eq!(
            (percent(123_456), percent(1_000_000)),
            ("12.3%".into(), "100.0%".into())
        );
    }
}
