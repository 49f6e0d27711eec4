//! A single bidder's gain under the rule `exact` by anything but the truth: none by a misreport;
//! none by several accounts of one sponsor; some by several accounts of which nobody knows that
//! they belong together.

use crate::support::Dice;
use gridbay_protocol::mechanism::ausubel::sellers::{self, Input, Offer};
use gridbay_protocol::mechanism::ausubel::{Bidder, Rule};

/// Rivals and sellers of somebody who thinks about what to bid.
struct Scene {
    offers: Vec<Offer<u64>>,
    rivals: Vec<Bidder<u64>>,
    /// The true worth of units, and how many are needed at least.
    truth: Bidder<u64>,
    bound: u64,
}

/// The first id that no rival has.
const OWN: u64 = 100;

impl Scene {
    /// Up to 10 units, 1 to 4 rivals; in every other one nobody is all-or-none.
    fn draw(dice: &mut Dice) -> Self {
        let bound = [4, 12, 100][dice.below(3) as usize];
        let lumpy = 70 * dice.below(2);
        let offers = (0..dice.within(1, 2)).map(|id| Offer {
            id,
            units: dice.within(1, 5) as u32,
            held: 0,
            reserve: dice.below(bound) / 3 * dice.below(2),
        });
        let offers = offers.collect();
        let rivals = (0..dice.within(1, 4)).map(|id| Bidder {
            sponsor: Some(id as u32),
            ..dice.bidder(id, 5, bound, lumpy)
        });
        let rivals = rivals.collect();
        let mut truth = dice.bidder(OWN, 6, bound, lumpy);
        truth.min = truth.min.min(truth.prices.len() as u32);
        Scene {
            offers,
            rivals,
            truth,
            bound,
        }
    }

    /// The bidder's surplus if it bids so: the true value of its units less its payment.
    fn utility(&self, own: &[Bidder<u64>]) -> i128 {
        let bids = self.rivals.iter().chain(own).cloned().collect();
        let outcome = sellers::clear(&Input {
            rule: Rule::Exact,
            switch_cost: 0,
            offers: self.offers.clone(),
            bids,
        });
        let awards = outcome.unwrap().awards;
        let won = awards.iter().filter(|award| award.id >= OWN);
        let (units, paid) = won.fold((0, 0), |(units, paid), award| {
            (units + award.units, paid + award.pay as i128)
        });
        let value: i128 = self
            .truth
            .prices
            .iter()
            .take(units as usize)
            .map(|&p| i128::from(p))
            .sum();
        match units < self.truth.min {
            true => -paid,
            false => value - paid,
        }
    }

    /// A bid other than the truth: scaled, cut short, another curve, or another minimum.
    fn misreport(&self, dice: &mut Dice) -> Bidder<u64> {
        let mut bid = self.truth.clone();
        match dice.below(4) {
            0 => {
                let factor = dice.below(17);
                bid.prices.iter_mut().for_each(|p| *p = *p * factor / 8);
            }
            1 => {
                let length = dice.below(bid.prices.len() as u64 + 1);
                bid.prices.truncate(length as usize);
                bid.min = bid.min.min(length as u32);
            }
            2 => {
                let length = dice.within(1, 6);
                bid.prices = dice.prices(length, self.bound * 2, 1);
            }
            _ => bid.min = dice.below(bid.prices.len() as u64 + 1) as u32,
        }
        bid
    }

    /// Two or three accounts that share the wish, or each want something else.
    fn split(&self, dice: &mut Dice) -> Vec<Bidder<u64>> {
        let accounts = dice.within(2, 3);
        let share = |(n, dice): (u64, &mut Dice)| {
            let prices = match dice.below(3) {
                // Every so many-th unit.
                0 => {
                    let own = self.truth.prices.iter().skip(n as usize);
                    own.step_by(accounts as usize).copied().collect()
                }
                // One part of the units at any price.
                1 => {
                    let length = self.truth.prices.len() as u64 / accounts;
                    vec![dice.below(self.bound * 3); length.max(1) as usize]
                }
                _ => {
                    let length = dice.within(1, 4);
                    dice.prices(length, self.bound * 2, 1)
                }
            };
            let min = dice.below(prices.len() as u64 + 1) as u32 * dice.below(2) as u32;
            Bidder {
                id: OWN + n,
                time: dice.below(3),
                min,
                prices,
                sponsor: None,
            }
        };
        (0..accounts).map(|n| share((n, &mut *dice))).collect()
    }
}

#[test]
fn no_misreport_of_100_000_gains() {
    let mut dice = Dice(41);
    let mut losses = 0;
    for _ in 0..10_000 {
        let scene = Scene::draw(&mut dice);
        let honest = scene.utility(std::slice::from_ref(&scene.truth));
        assert!(honest >= 0);
        for _ in 0..10 {
            let lie = scene.misreport(&mut dice);
            let gain = scene.utility(std::slice::from_ref(&lie)) - honest;
            assert!(
                gain <= 0,
                "{gain} by {lie:?}: {:?} {:?}",
                scene.truth,
                scene.rivals
            );
            losses += i32::from(gain < 0);
        }
    }
    assert!(losses > 10_000, "the lies were not trivial: {losses}");
}

#[test]
fn no_split_of_10_000_gains_within_a_sponsor_but_some_do_between_strangers() {
    let mut dice = Dice(42);
    let (mut leaks, mut leaked) = (0, 0);
    for _ in 0..2_500 {
        let scene = Scene::draw(&mut dice);
        let honest = scene.utility(std::slice::from_ref(&scene.truth));
        for _ in 0..4 {
            let mut accounts = scene.split(&mut dice);
            let strangers = scene.utility(&accounts) - honest;
            leaks += i32::from(strangers > 0);
            leaked += strangers.max(0);
            accounts.iter_mut().for_each(|a| a.sponsor = Some(9));
            let gain = scene.utility(&accounts) - honest;
            assert!(
                gain <= 0,
                "{gain} by {accounts:?}: {:?} {:?}",
                scene.truth,
                scene.rivals
            );
        }
    }
    assert!(
        leaks > 50,
        "{leaks} splits gained {leaked} without the rule"
    );
}
