//! Sales at posted prices, class by class, with the block that includes the orders.
//!
//! 1. The units of offers under `posted` that no lease holds are for sale, each at the offer's
//!    reserve. They are sold in no other way.
//! 2. The hires of a block are served in the order of its entries (see `mechanism::posted`); in a
//!    round's last block after its auctions, when the slot that ends has been settled. None waits:
//!    a hire that is not served ends.
//! 3. The record, with the units that the hires could reach, is an effect; then, in its order,
//!    every hire that is served is charged and gets its lease, and after them those that are not
//!    end.
//! 4. A lease pays the price posted when it began, slot by slot, and for the rest of the running
//!    slot in proportion, rounded up. A seller that posts another price changes later leases alone.

pub(crate) mod entry;

use crate::record::{Sale, Stage};
use crate::sell::hooks::Sells;
use crate::tenancy::Grant;
use crate::view::Floor;
use crate::work::Work;
use crate::{book, firm, market};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{ClassId, Hash32, OrderId};
use gridbay_protocol::lease::{Share, lease_id};
use gridbay_protocol::mechanism::posted::Missing;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::posted::{Hired, PostedBid, PostedRecord};
use std::collections::BTreeMap;

/// Sales at posted prices.
pub(crate) struct PostedPrices;

impl Sells for PostedPrices {
    fn at_block(work: &mut Work<'_>, fresh: &[OrderId]) {
        sell(&mut work.floor(), fresh);
    }
    fn at_round(work: &mut Work<'_>) {
        let fresh = work.fresh.clone();
        sell(&mut work.floor(), &fresh);
    }
}

/// Decides all hires among some orders, in their order, class by class.
fn sell(at: &mut Floor<'_, '_>, fresh: &[OrderId]) {
    let mut classes: BTreeMap<ClassId, Vec<PostedBid>> = BTreeMap::new();
    for id in fresh {
        let order = at.tables.orders.get(id);
        if let Some(hire) = order.and_then(|order| order.hire()) {
            classes.entry(hire.class).or_default().push(PostedBid {
                order: *id,
                units: hire.units,
                limit: hire.limit,
            });
        }
    }
    for (class, bids) in classes {
        decide(at, class, bids);
    }
}

fn decide(at: &mut Floor<'_, '_>, class: ClassId, bids: Vec<PostedBid>) {
    let offers = for_sale(at, &class);
    let (record, refused) = PostedRecord::decide(class, at.height(), offers, bids);
    at.emit(Effect::Posted(record.clone()));
    for hired in record.served {
        serve(at, hired);
    }
    for (order, missing) in refused {
        let end = match missing {
            Missing::Units => OrderEnd::NoUnits,
            Missing::Price => OrderEnd::TooDear,
        };
        book::end(&mut at.book(), &order, end);
    }
}

/// Step 1.
fn for_sale(work: &Work<'_>, class: &ClassId) -> Vec<ClearingOffer> {
    let held = market::held(work);
    let offers = market::offers(work, class).into_iter();
    let offers = offers.filter(|(_, offer)| offer.terms.mechanism == Primary::Posted);
    let free = offers.map(|(id, offer)| ClearingOffer {
        offer: id,
        units: {
            let held = held.get(&id).copied().unwrap_or_default();
            offer.supply().saturating_sub(held.all())
        },
        reserve: offer.terms.reserve,
    });
    free.filter(|offer| offer.units > 0).collect()
}

/// Step 4, for the first slot.
fn serve(at: &mut Floor<'_, '_>, hired: Hired) {
    let Hired {
        order,
        taken,
        price,
    } = hired;
    let (slot, left) = market::time_left(at);
    let whole = at.calendar().slot_heights();
    let first = price.share_ceil(left, whole);
    let first = first.expect("a part of a slot costs no more than the slot");
    let shares = taken.iter().map(|unit| Share {
        offer: unit.offer,
        units: unit.units,
    });
    let shares = shares.collect();
    let record = at.orders().get_mut(&order);
    let Some(Stage::Posted(posted)) = record.map(|order| &mut order.stage) else {
        return;
    };
    posted.sales = vec![Sale {
        price,
        taken: taken.clone(),
    }];
    let slots = posted.hire.slots;
    let grant = Grant {
        order,
        slot,
        shares,
        paid: first,
        pot: Hash32(lease_id(&order, at.height()).0),
        whole_slot: left == whole,
        firm_through: Some(at.calendar().slot(at.height()) + u64::from(slots)),
    };
    let sale = Sale {
        price: first,
        taken,
    };
    firm::hold(at, grant, left, &[sale]);
}
