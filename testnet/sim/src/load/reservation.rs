//! Those who reserve: several nodes together, ahead of time, some of them on a channel, for more or
//! for less than the posted price.

use super::buyer::micros;
use crate::world::World;
use gridbay_core::buy::{ReserveTerms, Terms};
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::order::Group;

impl World {
    /// A reservation for one of the next slots. Where little is offered under reservation, many
    /// never fit.
    pub(crate) fn reserve(&mut self, node: usize) {
        let classes = self.classes();
        let class = self.load.class(&classes);
        let Some((next, offers)) = self.core(node).map(|core| {
            let state = core.state();
            let offers = state.offers().filter(|(_, o)| o.terms.class == class);
            let ahead = offers.filter(|(_, o)| super::seller::is_ahead(&o.terms));
            let offers: Vec<_> = ahead.map(|(id, _)| *id).collect();
            (state.calendar().slot(state.height() + 1) + 1, offers)
        }) else {
            return;
        };
        let posted = self.genesis.classes.iter();
        let posted = posted.filter(|c| c.key.id() == class);
        let posted = posted.map(|c| c.reference_price.0).sum::<u64>();
        let rng = &mut self.load.rng;
        let tasks = rng.range(1, 3) as u32;
        let slots = rng.range(1, 3) as u32;
        let named = rng.pick(&offers).copied();
        let named = named.filter(|_| rng.chance(300_000));
        let group = |units, offers| Group { units, offers };
        let groups = match named {
            Some(offer) if tasks > 1 => vec![group(1, vec![offer]), group(tasks - 1, vec![])],
            _ => vec![group(tasks, vec![])],
        };
        let earliest = next + rng.below(3);
        let latest = earliest + rng.range(1, 6);
        // Nine tenths of the posted price are refused.
        let each = posted * rng.range(9, 30) / 10;
        let channels = rng.chance(300_000).then(|| Channels {
            low: 1,
            high: 1 + rng.below(2) as u32,
        });
        let terms = Terms::Reserve(ReserveTerms {
            groups,
            earliest,
            latest,
            value: micros(each * u64::from(tasks) * u64::from(slots)),
            channels,
        });
        self.order(node, "reservation", class, tasks, slots, terms);
    }
}
