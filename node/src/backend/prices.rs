//! The price list.

use super::board::Last;
use super::{Answer, NodeBackend};
use crate::api::types::ClassPrice;
use crate::market::price::limit_hourly;
use crate::market::{self, Market};

impl NodeBackend {
    pub(super) async fn class_prices(&self) -> Answer<Vec<ClassPrice>> {
        let looked = self.query(|core| {
            let state = core.state();
            let held = market::held(state);
            let waiting = market::waiting(state);
            let classes = state.classes().iter().map(|class| {
                let market = Market::of(state, class, &held);
                let waiting = waiting.get(&market.id).copied().unwrap_or(0);
                (class.clone(), market, waiting)
            });
            classes.collect::<Vec<_>>()
        });
        let line = |(class, market, waiting): (gridbay_protocol::class::Class, Market, u32)| {
            let slot_ms = market.policy.slot_ms();
            let last = self.board.last(&market.id);
            ClassPrice {
                class: class.name,
                id: market.id,
                vcpu: class.key.vcpu,
                memory_mib: class.key.memory_mib,
                disk_mib: class.key.disk_mib,
                gpu: class.key.gpu,
                units_offered: market.supply(),
                units_leased: market.supply().saturating_sub(market.free()),
                reserve: market.lowest_reserve().map(|p| limit_hourly(p, slot_ms)),
                buy: market.lowest_buy().map(|p| limit_hourly(p, slot_ms)),
                last: last.map(|Last { price, .. }| price),
                last_height: last.map(|Last { height, .. }| height),
                waiting,
            }
        };
        Ok(looked.await?.into_iter().map(line).collect())
    }
}
