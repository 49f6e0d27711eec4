//! The prices of every class, for the API.

use super::class::{Market, held, waiting};
use super::price::limit_hourly;
use super::types::ClassPrice;
use crate::api::Answer;
use crate::auction::board::Last;
use crate::backend::NodeBackend;
use gridbay_protocol::class::Class;

impl NodeBackend {
    /// Prices by class.
    pub async fn prices(&self) -> Answer<Vec<ClassPrice>> {
        let looked = self.query(|core| {
            let state = core.state();
            let held = held(state);
            let all = waiting(state);
            let classes = state.classes().iter().map(|class| {
                let market = Market::of(state, class, &held);
                let waiting = all.get(&market.id).copied().unwrap_or(0);
                (class.clone(), market, waiting)
            });
            classes.collect::<Vec<_>>()
        });
        let line = |(class, market, waiting): (Class, Market, u32)| {
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
