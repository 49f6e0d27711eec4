use super::*;
use gridbay_protocol::splitmix::splitmix64;

const ME: AccountId = AccountId([1; 32]);
const OTHER: AccountId = AccountId([2; 32]);

fn order(n: u8) -> OrderId {
    OrderId([n; 32])
}

fn name(_: &ClassId) -> String {
    "small".to_owned()
}

fn entry(n: u64, from: Purse, to: Purse, micros: u64, reason: Reason, of: Option<u8>) -> Entry {
    Entry {
        place: (n, 0),
        time_ms: n * 43_200_000,
        posting: Posting {
            from,
            to,
            amount: Credits::from_micros(micros).unwrap(),
            reason,
            order: of.map(order),
        },
    }
}

#[test]
fn an_invoice_has_both_sides_and_leaves_locks_out() {
    let class = Purse::Class(ClassId([4; 32]));
    let (mine, escrow) = (Purse::Account(ME), Purse::Escrow(order(7)));
    let entries = [
        entry(0, Purse::Account(OTHER), mine, 90, Reason::Transfer, None),
        entry(0, mine, escrow, 50, Reason::Lock, Some(7)),
        entry(1, escrow, class, 30, Reason::Charge, Some(7)),
        entry(2, class, mine, 4, Reason::Refund, Some(7)),
        entry(2, escrow, mine, 20, Reason::Release, Some(7)),
        // Units of its own are sold, and a buyer complains.
        entry(2, class, Purse::Retained(ME), 11, Reason::Retained, None),
        entry(3, Purse::Retained(ME), mine, 8, Reason::Earning, None),
        entry(
            3,
            Purse::Retained(ME),
            Purse::Account(OTHER),
            3,
            Reason::Refund,
            Some(9),
        ),
    ];
    let orders = [order(7)].into();
    let purses = Purses {
        account: ME,
        orders: &orders,
    };
    let sums = sums(&purses, &entries, name).unwrap();
    let [bought] = &sums.bought[..] else {
        panic!("{sums:?}")
    };
    let micros = |credits: Credits| credits.micros();
    assert_eq!((micros(bought.paid), micros(bought.returned)), (30, 4));
    assert_eq!((bought.order, bought.cost), (order(7), Signed(26)));
    let sold: Vec<_> = sums.sold.iter().map(|s| (&s.of[..5], s.income.0)).collect();
    assert_eq!(sold, [("class", 11), ("order", -3)]);
    assert_eq!(sums.other.len(), 1);
    assert_eq!(
        (sums.other[0].reason, micros(sums.other[0].received)),
        (Reason::Transfer, 90)
    );
    let days: Vec<_> = sums.days.iter().map(|d| (&d.day[..], d.change.0)).collect();
    assert_eq!(days, [("1970-01-01", 60), ("1970-01-02", 4 + 11 - 3)]);
}

/// A purse by its number.
fn purse(n: u64) -> Purse {
    match n % 10 {
        0 | 1 => Purse::Account(ME),
        2 => Purse::Account(OTHER),
        3 => Purse::Retained(ME),
        4 => Purse::Retained(OTHER),
        5 => Purse::Class(ClassId([4; 32])),
        6 => Purse::Bank,
        // The first two of these are own orders.
        n => Purse::Escrow(order(n as u8)),
    }
}

/// Whatever moved, balances walked back agree with the purses, and each way to sum comes to the
/// same.
#[test]
fn sums_are_the_difference_of_the_balances() {
    let orders = [order(7), order(8)].into();
    let purses = Purses {
        account: ME,
        orders: &orders,
    };
    let reasons = [Reason::Transfer, Reason::Charge, Reason::Earning];
    for seed in 0..200 {
        let mut state = seed;
        let mut draw = |below: u64| splitmix64(&mut state) % below;
        let mut balances: BTreeMap<Purse, i128> = BTreeMap::new();
        let mut entries = Vec::new();
        for n in 0..60 {
            let (from, to, micros) = (purse(draw(10)), purse(draw(10)), 1 + draw(1_000_000));
            if from == to {
                continue;
            }
            *balances.entry(from).or_default() -= i128::from(micros);
            *balances.entry(to).or_default() += i128::from(micros);
            let reason = reasons[draw(3) as usize];
            let of = Some(6 + draw(4) as u8).filter(|of| *of > 6);
            entries.push(entry(n, from, to, micros, reason, of));
        }
        let at = |purse: Purse| balances.get(&purse).copied().unwrap_or(0);
        let closing = Amounts {
            free: at(Purse::Account(ME)),
            held: at(Purse::Escrow(order(7))) + at(Purse::Escrow(order(8))),
            retained: at(Purse::Retained(ME)),
        };
        let mut opening = closing;
        for entry in entries.iter().rev() {
            purses.undo(&mut opening, &entry.posting);
        }
        assert_eq!(opening, Amounts::default(), "seed {seed}");
        let sums = sums(&purses, &entries, name).unwrap();
        let total = closing.money().unwrap().total.0;
        let days: i64 = sums.days.iter().map(|d| d.change.0).sum();
        let parts = sums.days.iter().map(|d| d.income.0 + d.other.0 - d.cost.0);
        let bought: i64 = sums.bought.iter().map(|b| b.cost.0).sum();
        let sold: i64 = sums.sold.iter().map(|s| s.income.0).sum();
        let net = |o: &Other| o.received.micros() as i64 - o.spent.micros() as i64;
        let other: i64 = sums.other.iter().map(net).sum();
        let each_way = (days, parts.sum::<i64>(), sold + other - bought);
        assert_eq!(each_way, (total, total, total), "seed {seed}");
    }
}
