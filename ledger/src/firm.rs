//! Firm leases: held whatever others bid, slot by slot, each slot with a pot of its own.

use crate::market::{self, seller};
use crate::pot;
use crate::record::{Pot, PotOffer, Sale, Way};
use crate::tenancy::{self, Grant};
use crate::view::Floor;
use crate::work::Work;
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::mechanism::level;
use gridbay_protocol::units::Credits;

/// Goes on with a firm lease in the next slot.
pub(crate) fn renew(at: &mut Floor<'_, '_>, id: &LeaseId) {
    let Some(lease) = at.tables.leases.get(id).filter(|l| l.is_firm()).cloned() else {
        return;
    };
    let order = at.tables.orders.get(&lease.order);
    let Some(sales) = order.and_then(|o| o.stage.live()?.agreed()) else {
        return;
    };
    let grant = Grant {
        order: lease.order,
        slot: lease.slot + 1,
        paid: Sale::sum(&sales),
        pot: lease.pot,
        shares: lease.shares,
        whole_slot: true,
        firm_through: lease.firm_through,
    };
    let heights = at.calendar().slot_heights();
    hold(at, grant, heights, &sales);
}

/// Charges a firm lease for some heights of a slot and fills its pot. The units of a sale share its
/// price, which is for these heights; each earns at least what it was taken at, for these heights,
/// rounded down.
pub(crate) fn hold(at: &mut Floor<'_, '_>, grant: Grant, heights: u64, sales: &[Sale]) {
    let (slot, pot, paid) = (grant.slot, grant.pot, grant.paid);
    let mut sold = Vec::new();
    for sale in sales {
        sold.extend(earnings(at, sale, heights));
    }
    sold.sort_unstable_by_key(|sold| sold.offer);
    let order = at.tables.orders.get(&grant.order);
    let order = order.expect("units go to a live order");
    let live = order.stage.live().expect("what is sealed gets no units");
    let (class, way) = (order.class, live.way());
    debug_assert!(way != Way::Bid, "bids hold units at others' pleasure");
    let stake = tenancy::grant(at, grant);
    let record = Pot {
        class,
        way,
        slot,
        heights,
        left: paid,
        stakes: vec![stake],
        sold,
    };
    pot::enter(at, pot, record);
}

fn earnings(work: &Work<'_>, sale: &Sale, heights: u64) -> Vec<PotOffer> {
    let whole = work.calendar().slot_heights();
    let floors = sale.taken.iter().map(|unit| level::Sold {
        offer: unit.offer,
        units: unit.units,
        floor: (u128::from(unit.reserve.0) * u128::from(heights) / u128::from(whole)) as u64,
    });
    let floors: Vec<level::Sold<OfferId>> = floors.collect();
    let earned = level::earnings(&floors, u128::from(sale.price.micros()));
    let earned = earned.expect("a firm order pays at least the sum of the prices it took units at");
    let sold = floors.iter().zip(earned).map(|(sold, earned)| PotOffer {
        offer: sold.offer,
        class: market::class(work, &sold.offer),
        seller: seller(work, &sold.offer),
        units: sold.units,
        reserve: sold.floor,
        earns: Credits::from_wide(earned).expect("a part of a payment is an amount"),
    });
    sold.collect()
}
