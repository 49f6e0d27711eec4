//! The mechanisms of the market in this world, a row each: the deeds of its users, its checkers.
//!
//! A mechanism's users are in `load`, in a file of its name, its checkers in `check`. The variants
//! that a batch must see of it are named in `cover::kinds`.

use crate::check::Check;
use crate::check::i05_buys::Buys;
use crate::check::i05_clearing::Clearing;
use crate::check::i05_posted::Hires;
use crate::check::i16_contracts::Contracts;
use crate::check::i16_plans::Plans;
use crate::plan::Plan;
use crate::rng::Rng;
use crate::world::World;
use std::ops::RangeInclusive;

/// A deed of the user of a node.
pub(crate) type Deed = fn(&mut World, usize);

/// A mechanism.
struct Way {
    /// Deeds of its users, by sides of the die of a hundred that decides on the next deed.
    deeds: &'static [(RangeInclusive<u64>, Deed)],
    /// Their deeds in some worlds, without a side of that die.
    beside: Option<Beside>,
    /// Its checkers, fresh.
    checks: fn() -> Vec<Box<dyn Check>>,
}

/// Deeds of a mechanism that came when all sides of the die were taken. A world without them is,
/// event by event, as it was before.
struct Beside {
    /// Whether a plan has them.
    is_on: fn(&Plan) -> bool,
    /// Of a million deeds, where it is on.
    ppm: u64,
    deed: Deed,
}

/// All mechanisms. A new one comes with [`Beside`], and a switch in the plan.
static WAYS: [Way; 7] = [AUSUBEL, BUY, CONTRACT, DEADLINE, POSTED, RESERVATION, SHARE];

const NONE: Way = Way {
    deeds: &[],
    beside: None,
    checks: Vec::new,
};
const AUSUBEL: Way = Way {
    deeds: &[(13..=31, World::bid), (32..=34, |world, _| world.amend())],
    checks: || vec![Box::<Clearing>::default()],
    ..NONE
};
const BUY: Way = Way {
    deeds: &[(48..=54, World::buy)],
    checks: || vec![Box::<Buys>::default()],
    ..NONE
};
const CONTRACT: Way = Way {
    deeds: &[
        (42..=44, World::propose),
        (45..=47, |world, _| world.contract_by_hand()),
    ],
    checks: || vec![Box::<Contracts>::default()],
    ..NONE
};
const DEADLINE: Way = Way {
    deeds: &[
        (38..=38, World::plan_offer),
        (39..=41, World::deadline),
        (81..=83, |world, _| world.ask_in_vain()),
    ],
    checks: || vec![Box::<Plans>::default()],
    ..NONE
};
const POSTED: Way = Way {
    beside: Some(Beside {
        is_on: |plan| plan.hires,
        ppm: 200_000,
        deed: World::hire_somehow,
    }),
    checks: || vec![Box::<Hires>::default()],
    ..NONE
};
/// Decisions are judged by the checker of clearings (`check::ahead`).
const RESERVATION: Way = Way {
    deeds: &[(35..=37, World::reserve)],
    ..NONE
};
/// As are sharings (`check::pools`).
const SHARE: Way = Way {
    deeds: &[(59..=61, World::claim), (80..=80, World::set_pool)],
    ..NONE
};

/// The deed of a side of the die.
///
/// # Panics
/// The side belongs to no mechanism.
pub(crate) fn on(side: u64) -> Deed {
    let mut deeds = WAYS.iter().flat_map(|way| way.deeds);
    let deed = deeds.find(|(sides, _)| sides.contains(&side));
    deed.expect("every side is somebody's").1
}

/// A deed without the die. Only mechanisms that are on ask chance.
pub(crate) fn beside(plan: &Plan, rng: &mut Rng) -> Option<Deed> {
    let mut on = WAYS.iter().filter_map(|way| way.beside.as_ref());
    let chosen = on.find(|beside| (beside.is_on)(plan) && rng.chance(beside.ppm));
    chosen.map(|beside| beside.deed)
}

/// The checkers of all mechanisms, fresh.
pub(crate) fn checks() -> impl Iterator<Item = Box<dyn Check>> {
    WAYS.iter().flat_map(|way| (way.checks)())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_side_of_the_die_is_taken_twice() {
        let deeds = WAYS.iter().flat_map(|way| way.deeds);
        let mut sides: Vec<u64> = deeds.flat_map(|(sides, _)| sides.clone()).collect();
        let all = sides.len();
        sides.sort_unstable();
        sides.dedup();
        assert_eq!((all, sides.len()), (49, 49));
    }
}
