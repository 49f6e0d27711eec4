//! Metrics in Prometheus' text form.
//!
//! Names begin with `gridbay_` and one of the project's nouns; counters end in `_total`.
//! `gridbay_up` is 0 while the core thread does not answer: then only the figures outside it are
//! shown.

use super::lease;
use super::net;
use super::text::Text;
use crate::api::Answer;
use crate::backend::NodeBackend;
use crate::market::{Market, held, waiting};
use crate::outbound::Counts;
use gridbay_core::Core;
use gridbay_ledger::read::Totals;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT};

/// The core's facts.
struct Facts {
    height: u64,
    block_ms: u64,
    round: u64,
    slot: u64,
    mempool: usize,
    totals: Totals,
    hosted: usize,
    copies_kept: usize,
    copies_refused: u64,
    orders_open: usize,
    free: i64,
    held: Credits,
    own_units: (u32, u32),
    adverts: usize,
    /// Name, supply, free, waiting, id.
    classes: Vec<(Market, u32)>,
}

impl NodeBackend {
    /// Metrics in Prometheus' text form.
    pub async fn metrics(&self) -> String {
        let mut text = Text::default();
        let overlay = &self.parts.overlay;
        net::metrics(
            &mut text,
            &overlay.peers(),
            &overlay.whereabouts(),
            &overlay.stats(),
        );
        let discovery = self.discovery.counts();
        text.by(("gridbay_discovery_events_total", "kind"), discovery);
        web(&mut text, self.parts.gateway.counts());
        lease::metrics(&mut text, &self.networks().await);
        let refused = self.parts.clusters.streams_refused();
        let refused = refused.into_iter().map(|(of, count)| (of.name(), count));
        text.by(("gridbay_lease_streams_refused", "reason"), refused);
        let node = self.parts.node;
        let facts: Answer<Facts> = self.query(move |core| facts(core, node)).await;
        text.gauge("gridbay_up", u8::from(facts.is_ok()));
        let troubles = self.parts.body.troubles();
        let halted = troubles.borrow().iter().any(|trouble| trouble.kind.halts());
        text.gauge("gridbay_halted", u8::from(halted));
        if let Ok(facts) = facts {
            core_metrics(&mut text, &facts);
            let last = |(market, _): &(Market, u32)| {
                let last = self.board.last(&market.id)?;
                Some((market.name.clone(), in_credits(last.price)))
            };
            let prices = facts.classes.iter().filter_map(last);
            text.by(("gridbay_market_price_credits", "class"), prices);
        }
        text.0
    }
}

/// What jobs' connections to the web came to.
fn web(text: &mut Text, counts: &Counts) {
    text.gauge("gridbay_jobs_web_connections_total", counts.connections());
    text.gauge("gridbay_jobs_web_sent_bytes_total", counts.sent());
    text.gauge("gridbay_jobs_web_received_bytes_total", counts.received());
    text.by(
        ("gridbay_jobs_web_refused_total", "reason"),
        counts.refused(),
    );
}

fn facts(core: &Core, node: PublicKey) -> Facts {
    let state = core.state();
    let (held_units, waiting) = (held(state), waiting(state));
    let balance = core
        .account()
        .map(|account| state.balance(&account))
        .unwrap_or_default();
    let next = state.height().saturating_add(1);
    let class = |class: &gridbay_protocol::class::Class| {
        let market = Market::of(state, class, &held_units);
        let waiting = waiting.get(&market.id).copied().unwrap_or(0);
        (market, waiting)
    };
    Facts {
        height: state.height(),
        block_ms: state.time_ms(),
        round: state.calendar().round(next),
        slot: state.calendar().slot(next),
        mempool: core.host().mempool_len(),
        totals: state.totals(),
        hosted: core.seller().running(),
        copies_kept: core.keeper().kept(),
        copies_refused: core.keeper().refused(),
        orders_open: core
            .buyer()
            .orders()
            .filter(|(_, a)| a.finish().is_none())
            .count(),
        free: balance.free,
        held: balance.locked(),
        own_units: crate::node::handle::units(core, node),
        adverts: core.adverts().live(state).count(),
        classes: state.classes().iter().map(class).collect(),
    }
}

fn core_metrics(text: &mut Text, f: &Facts) {
    ledger_metrics(text, f);
    market_metrics(text, f);
    let mut by_class = |name, of: fn(&Market, u32) -> u32| {
        let classes = f.classes.iter();
        text.by(
            (name, "class"),
            classes.map(|(market, waiting)| (&market.name, of(market, *waiting))),
        );
    };
    by_class("gridbay_market_units_offered", |market, _| market.supply());
    by_class("gridbay_market_units_free", |market, _| market.free());
    by_class("gridbay_market_orders_waiting", |_, waiting| waiting);
}

fn ledger_metrics(text: &mut Text, f: &Facts) {
    text.gauge("gridbay_adverts_known", f.adverts);
    text.gauge("gridbay_ledger_height", f.height);
    text.gauge("gridbay_ledger_block_time_ms", f.block_ms);
    text.gauge("gridbay_ledger_pool_entries", f.mempool);
    text.gauge("gridbay_ledger_accounts", f.totals.accounts);
    text.gauge("gridbay_ledger_minted_credits", in_credits(f.totals.minted));
    text.gauge("gridbay_ledger_escrow_credits", in_credits(f.totals.escrow));
    text.gauge("gridbay_account_balance_credits", signed(f.free));
    text.gauge("gridbay_account_held_credits", in_credits(f.held));
}

fn market_metrics(text: &mut Text, f: &Facts) {
    text.gauge("gridbay_market_round", f.round);
    text.gauge("gridbay_market_slot", f.slot);
    text.gauge("gridbay_market_orders", f.totals.orders);
    text.gauge("gridbay_market_leases", f.totals.leases);
    text.gauge("gridbay_market_orders_open", f.orders_open);
    text.gauge("gridbay_node_units_offered", f.own_units.0);
    text.gauge("gridbay_node_units_leased", f.own_units.1);
    text.gauge("gridbay_jobs_hosted", f.hosted);
    text.gauge("gridbay_copies_kept", f.copies_kept);
    text.gauge("gridbay_copies_refused_total", f.copies_refused);
}

/// Exact credits: Prometheus reads decimals.
fn in_credits(amount: Credits) -> String {
    amount.to_string()
}

fn signed(micros: i64) -> String {
    let unit = i128::from(MICROS_PER_CREDIT);
    let (sign, size) = (if micros < 0 { "-" } else { "" }, i128::from(micros).abs());
    format!("{sign}{}.{:06}", size / unit, size % unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::tests::market;
    use crate::overlay::{OverlayStats, Reach, TopicStats, Whereabouts};
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_is_declared_once_before_its_values() {
        let mut text = Text::default();
        let stats = OverlayStats {
            counts: [("bytes_in", 7)].into(),
            topics: [("adverts".to_owned(), TopicStats::default())].into(),
        };
        let whereabouts = Whereabouts {
            reach: Reach::Private,
            places_given: 3,
            ..Whereabouts::default()
        };
        net::metrics(&mut text, &[], &whereabouts, &stats);
        let facts = Facts {
            height: 17,
            block_ms: 5,
            round: 4,
            slot: 2,
            mempool: 0,
            totals: Totals::default(),
            hosted: 3,
            copies_kept: 2,
            copies_refused: 5,
            orders_open: 2,
            free: -1_500_000,
            held: Credits::ZERO,
            own_units: (8, 4),
            adverts: 3,
            classes: vec![(market(&[(8, 3, 5, None)]), 1)],
        };
        core_metrics(&mut text, &facts);
        let mut declared = BTreeSet::new();
        for line in text.0.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().unwrap();
                assert!(declared.insert(name.to_owned()), "{name} twice");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                assert!(declared.contains(name), "{line}");
                assert!(
                    line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(),
                    "{line}"
                );
            }
        }
        for line in [
            "gridbay_ledger_height 17",
            "gridbay_jobs_hosted 3",
            "gridbay_copies_kept 2",
            "gridbay_copies_refused_total 5",
            "gridbay_account_balance_credits -1.500000",
            "gridbay_net_events_total{kind=\"bytes_in\"} 7",
            "gridbay_net_reach{state=\"private\"} 1",
            "gridbay_net_reach{state=\"public\"} 0",
            "gridbay_net_nat{kind=\"unknown\"} 1",
            "gridbay_net_relay_places_given 3",
            "gridbay_net_peers_by_path{path=\"relayed\"} 0",
            "gridbay_net_gossip_total{topic=\"adverts\",verdict=\"rejected\"} 0",
            "gridbay_market_units_free{class=\"small\"} 3",
        ] {
            assert!(text.0.lines().any(|l| l == line), "{line}");
        }
    }
}
