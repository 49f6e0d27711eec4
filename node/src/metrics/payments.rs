//! Movements of own money, as blocks bring them.

use super::text::Text;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Movements of own money since this node started.
#[derive(Debug, Default)]
pub(super) struct Payments(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The account, and the place (height, position) up to which its history was counted.
    seen: Option<(AccountId, (u64, u32))>,
    /// Movements and their micro-credits, by direction and reason.
    sums: BTreeMap<(&'static str, Reason), (u64, u128)>,
    /// Micro-credits that trade came to, in the order of [`TRADE`].
    trade: [u128; TRADE.len()],
}

/// What trade comes to, whether it passes the free balance or not: orders pay from their escrows,
/// and earnings may be held first.
const TRADE: [&str; 3] = [
    "gridbay_payments_charged_credits_total",
    "gridbay_payments_refunded_credits_total",
    "gridbay_payments_earned_credits_total",
];

/// The place in [`TRADE`] of a posting from the account's history, in which the only escrows are
/// those of its own orders and of those that pay it.
fn trade(posting: &Posting, account: AccountId) -> Option<usize> {
    let (own, retained) = (Purse::Account(account), Purse::Retained(account));
    let here = posting.to == own || posting.to == retained;
    match (posting.reason, posting.from, posting.to) {
        (Reason::Charge, Purse::Escrow(_), _) => Some(0),
        (Reason::Refund, from, Purse::Escrow(_)) if from != retained => Some(1),
        (Reason::Refund, ..) if here => Some(1),
        (
            Reason::Earning | Reason::Retained | Reason::Cancellation,
            Purse::Class(_) | Purse::Escrow(_),
            _,
        ) if here => Some(2),
        _ => None,
    }
}

impl Payments {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place up to which the account's history was counted; without one, it counts from the
    /// end of this height on.
    pub(super) fn since(&self, account: AccountId, height: u64) -> (u64, u32) {
        let mut inner = self.lock();
        match inner.seen {
            Some((whose, place)) if whose == account => place,
            _ => {
                let place = (height, u32::MAX);
                inner.seen = Some((account, place));
                place
            }
        }
    }

    /// Counts movements of the account, each with its place, of which the last is `upto`.
    pub(super) fn add(&self, account: AccountId, upto: (u64, u32), postings: &[Posting]) {
        let mut inner = self.lock();
        inner.seen = Some((account, upto));
        let own = Purse::Account(account);
        for posting in postings {
            if let Some(place) = trade(posting, account) {
                inner.trade[place] += u128::from(posting.amount.micros());
            }
            let direction = match (posting.from == own, posting.to == own) {
                (true, false) => "out",
                (false, true) => "in",
                _ => continue,
            };
            let sum = inner.sums.entry((direction, posting.reason)).or_default();
            sum.0 += 1;
            sum.1 += u128::from(posting.amount.micros());
        }
    }

    pub(super) fn metrics(&self, text: &mut Text) {
        let (sums, trade) = {
            let inner = self.lock();
            (inner.sums.clone(), inner.trade)
        };
        for (name, micros) in TRADE.iter().zip(trade) {
            text.value(name, credits(micros));
        }
        let name = "gridbay_payments_total";
        text.head(name);
        for ((direction, reason), (count, _)) in &sums {
            text.labelled(name, labels(direction, &word(*reason)), count);
        }
        let name = "gridbay_payments_credits_total";
        text.head(name);
        for ((direction, reason), (_, micros)) in &sums {
            text.labelled(name, labels(direction, &word(*reason)), credits(*micros));
        }
    }
}

/// Micro-credits as exact credits.
fn credits(micros: u128) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn labels<'a>(direction: &'a str, reason: &'a str) -> [(&'a str, &'a str); 2] {
    [("direction", direction), ("reason", reason)]
}

/// A reason as it is told.
fn word(reason: Reason) -> String {
    format!("{reason:?}").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{ClassId, OrderId};
    use gridbay_protocol::units::Credits;

    #[test]
    fn sums_are_exact_and_others_money_is_not_in_them() {
        let (me, other) = (AccountId([1; 32]), AccountId([2; 32]));
        let payments = Payments::default();
        assert_eq!(payments.since(me, 7), (7, u32::MAX));
        assert_eq!(payments.since(me, 9), (7, u32::MAX), "nothing is left out");
        let posting = |from, to, micros, reason| Posting {
            from,
            to,
            amount: Credits::from_micros(micros).unwrap(),
            reason,
            order: None,
        };
        let (mine, escrow) = (Purse::Account(me), Purse::Escrow(OrderId([3; 32])));
        let class = Purse::Class(ClassId([4; 32]));
        payments.add(
            me,
            (9, 4),
            &[
                posting(mine, escrow, 1, Reason::Lock),
                posting(mine, escrow, 2_500_000, Reason::Lock),
                posting(escrow, mine, 3, Reason::Release),
                posting(escrow, Purse::Account(other), 5, Reason::Earning),
                posting(escrow, class, 70, Reason::Charge),
                posting(class, mine, 20, Reason::Refund),
                posting(class, Purse::Retained(me), 8, Reason::Retained),
                posting(Purse::Retained(me), mine, 6, Reason::Earning),
                posting(Purse::Retained(me), escrow, 2, Reason::Refund),
            ],
        );
        assert_eq!(payments.since(me, 12), (9, 4));
        let mut text = Text::default();
        payments.metrics(&mut text);
        let values: Vec<_> = text.0.lines().filter(|l| !l.starts_with('#')).collect();
        assert_eq!(
            values,
            [
                "gridbay_payments_charged_credits_total 0.000070",
                "gridbay_payments_refunded_credits_total 0.000020",
                "gridbay_payments_earned_credits_total 0.000008",
                "gridbay_payments_total{direction=\"in\",reason=\"release\"} 1",
                "gridbay_payments_total{direction=\"in\",reason=\"earning\"} 1",
                "gridbay_payments_total{direction=\"in\",reason=\"refund\"} 1",
                "gridbay_payments_total{direction=\"out\",reason=\"lock\"} 2",
                "gridbay_payments_credits_total{direction=\"in\",reason=\"release\"} 0.000003",
                "gridbay_payments_credits_total{direction=\"in\",reason=\"earning\"} 0.000006",
                "gridbay_payments_credits_total{direction=\"in\",reason=\"refund\"} 0.000020",
                "gridbay_payments_credits_total{direction=\"out\",reason=\"lock\"} 2.500001",
            ]
        );
    }
}
