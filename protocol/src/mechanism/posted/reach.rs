//! The offers of a market that its orders can reach.

use super::Input;

impl<O: Ord, B> Input<O, B> {
    /// Leaves out the offers that play no part in the outcome. Those that stay are by (price, id).
    ///
    /// 1. Units are sold from the front of that order, so only their number has to be bounded. As
    ///    many stay as orders could take if they took single units: each as many as it asks for, of
    ///    those within its limit. No order takes a unit behind these, whichever are served.
    /// 2. An offer stays as a whole, or its units are added to those left out.
    ///
    /// So whoever makes the list longer could pay for it; an order for units that are all beyond
    /// its limit adds nothing.
    pub fn shorten(&mut self) {
        let offers = &mut self.offers;
        offers.sort_unstable_by(|a, b| (a.price, &a.id).cmp(&(b.price, &b.id)));
        let mut orders: Vec<_> = self.orders.iter().map(|o| (o.limit, o.units)).collect();
        orders.sort_unstable();
        let (mut rows, mut within, mut reach) = (offers.iter().peekable(), 0u64, 0u64);
        for (limit, units) in orders {
            while let Some(offer) = rows.next_if(|offer| offer.price <= limit) {
                within += u64::from(offer.units);
            }
            reach = within.min(reach + u64::from(units));
        }
        let mut units = 0;
        let stays = offers.iter().take_while(|offer| {
            let behind = units >= reach;
            units += u64::from(offer.units);
            !behind
        });
        let stays = stays.count();
        for offer in offers.drain(stays..) {
            self.left_out = self.left_out.saturating_add(offer.units);
        }
    }
}
