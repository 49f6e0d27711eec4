//! The prices of every class, for the API.

use super::class::{Market, markets};
use super::price::limit_hourly;
use super::types::ClassPrice;
use crate::api::Answer;
use crate::auction::board::Last;
use crate::backend::NodeBackend;
use gridbay_protocol::class::Class;

impl NodeBackend {
    /// Prices by class.
    pub async fn prices(&self) -> Answer<Vec<ClassPrice>> {
        let height = self.query(|core| core.state().height()).await?;
        let markets = match self.markets.get(height, &()) {
            Some(markets) => markets,
            None => {
                let looked = self.query(|core| (core.state().height(), markets(core.state())));
                let (height, markets) = looked.await?;
                self.markets.put(height, (), markets)
            }
        };
        Ok(markets.iter().map(|of| self.price(of)).collect())
    }

    fn price(&self, (class, market, waiting): &(Class, Market, u32)) -> ClassPrice {
        let slot_ms = market.policy.slot_ms();
        let last = self.board.last(&market.id);
        ClassPrice {
            class: class.name.clone(),
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
            waiting: *waiting,
        }
    }
}
