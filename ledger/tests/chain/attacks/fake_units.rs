//! A seller offers units that nobody has, at a price that nobody pays, to fill a class before
//! others come.

use crate::trade::terms;
use crate::world::World;
use gridbay_ledger::Refusal;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::limits::{CLASS_UNITS, OFFER_UNITS};

fn offer(world: &World, label: u32, units: u32) -> EntryBody {
    EntryBody::SetOffer(terms(world, label, units, 1_000_000_000, None))
}

/// Sets as many units as there is room for, offer after offer; how many.
fn fill(world: &mut World, n: u8) -> u32 {
    let (mut all, mut units) = (0, OFFER_UNITS);
    for label in 0..60 {
        let entry = world.by(n, offer(world, label, units));
        world.block(vec![entry]);
        match world.left_out.pop() {
            None => all += units,
            Some((_, Refusal::ClassUnits { .. })) if units == 1 => return all,
            Some((_, Refusal::ClassUnits { .. })) => units /= 2,
            Some((_, other)) => panic!("{other}"),
        }
    }
    all
}

#[test]
fn units_that_nobody_has_leave_every_institution_its_part() {
    let mut world = World::new();
    let tenants = [world.tenant(2, 1_000), world.tenant(3, 1_000)];
    // Four institutions, each with a part for itself and one for its accounts: 16,384 / 16 units.
    let part = CLASS_UNITS / 16;
    assert_eq!(fill(&mut world, tenants[0]), CLASS_UNITS - 7 * part);
    for n in [1, 2, 3, 4, tenants[1]] {
        let entry = world.by(n, offer(&world, 0, part));
        world.all(vec![entry]);
        let more = offer(&world, 1, 1);
        let refusal = world.refused(world.by(n, more));
        assert!(
            matches!(refusal, Refusal::ClassUnits { limit, .. } if limit == CLASS_UNITS),
            "{refusal}"
        );
    }
}
