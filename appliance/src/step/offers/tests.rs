use super::*;

fn class(name: &str, vcpu: u32, memory_mib: u64, disk_mib: u64) -> Class {
    Class {
        name: name.to_owned(),
        vcpu,
        memory_mib,
        disk_mib,
        ..Class::default()
    }
}

fn classes() -> Vec<Class> {
    vec![
        class("small", 1, 1_024, 1_024),
        class("large", 2, 2_048, 1_024),
    ]
}

fn offer(label: u32, own: bool, class: &str, units: u32, reserve: &str) -> Offer {
    Offer {
        label,
        account: format!("seller {label}"),
        own,
        class: class.to_owned(),
        units,
        reserve: Some(Credits::new(reserve).unwrap()),
        buy: None,
        withdrawn: false,
        held_back: false,
    }
}

const MACHINE: Machine = Machine {
    vcpu: 2,
    memory_mib: 2_048,
    disk_mib: 16_384,
};

fn priced(text: &str) -> Sell {
    Sell {
        price: Some(Credits::new(text).unwrap()),
        ..Sell::default()
    }
}

#[test]
fn one_seller_alone_does_not_make_the_price_of_newcomers() {
    let mut offers = vec![
        offer(1, false, "small", 1, "4"),
        offer(2, false, "small", 1, "5"),
        offer(3, false, "small", 1, "0.000001"),
    ];
    let price = |offers: &[Offer]| set(planned(&Sell::default(), MACHINE, offers)).2;
    assert_eq!(price(&offers), "4");
    for label in 4..9 {
        let mut more = offer(label, false, "small", 1, "0.000001");
        more.account.clone_from(&offers[2].account);
        offers.push(more);
    }
    assert_eq!(price(&offers), "4");
}

fn set(plan: Plan) -> (String, u32, String) {
    match plan {
        Plan::Set(new) => (new.class, new.units, new.price.to_string()),
        other => panic!("{other:?}"),
    }
}

fn cannot(plan: Plan) -> Fault {
    match plan {
        Plan::Cannot(fault) => fault,
        other => panic!("{other:?}"),
    }
}

fn planned(sell: &Sell, machine: Machine, offers: &[Offer]) -> Plan {
    plan(sell, machine, &classes(), offers, None)
}

#[test]
fn units_are_what_fits_less_the_reserves() {
    for (vcpu, memory_mib, disk_mib, reserve, units) in [
        (4, 8_192, 16_384, (0, 256), 4),
        (4, 8_192, 16_384, (1, 256), 3),
        (8, 4_096, 16_384, (0, 256), 3),
        (8, 4_096, 16_384, (0, 0), 4),
        (8, 16_384, 3_000, (0, 256), 2),
        (1, 1_024, 16_384, (0, 256), 0),
        (1, 1_024, 16_384, (9, 0), 0),
        (0, 0, 0, (0, 256), 0),
    ] {
        let machine = Machine {
            vcpu,
            memory_mib,
            disk_mib,
        };
        let sell = Sell {
            reserve_vcpu: reserve.0,
            reserve_memory_mib: reserve.1,
            ..Sell::default()
        };
        assert_eq!(
            super::units(&sell, machine, &classes()[0]),
            units,
            "{machine:?}"
        );
    }
    let odd = class("odd", 0, 0, 0);
    assert_eq!(super::units(&Sell::default(), MACHINE, &odd), 0);
}

#[test]
fn the_class_that_sells_most_is_taken_and_kept() {
    let big = Machine {
        vcpu: 4,
        memory_mib: 4_352,
        ..MACHINE
    };
    assert_eq!(set(planned(&priced("4"), big, &[])).0, "small");
    let wide = [
        class("wide", 1, 2_048, 1_024),
        class("large", 2, 2_048, 1_024),
    ];
    let best = plan(&priced("4"), big, &wide, &[], None);
    assert_eq!(set(best), ("large".into(), 2, "4".into()));
    let odd = Machine { vcpu: 3, ..big };
    assert_eq!(set(planned(&priced("4"), odd, &[])).0, "small");
    let own = [offer(3, true, "small", 4, "4")];
    let kept = planned(&priced("4"), big, &own);
    assert_eq!(kept, Plan::Stands("sells 4 small at 4 an hour".to_owned()));
    let named = Sell {
        class: Some("large".to_owned()),
        ..priced("4")
    };
    assert_eq!(planned(&named, big, &own), Plan::Withdraw(3));
}

#[test]
fn the_price_has_an_order_of_sources() {
    let mut market = classes();
    let others = [
        offer(0, false, "small", 2, "6"),
        offer(0, false, "small", 2, "5"),
    ];
    let sell = Sell::default();
    let told = |classes: &[Class], offers: &[Offer], sell: &Sell| {
        set(plan(sell, MACHINE, classes, offers, None)).2
    };
    assert_eq!(told(&market, &others, &sell), "5");
    market[0].last = Some(Credits::new("7").unwrap());
    assert_eq!(told(&market, &others, &sell), "7");
    let own = [offer(1, true, "small", 2, "9")];
    assert_eq!(told(&market, &own, &sell), "9");
    assert_eq!(told(&market, &own, &priced("2")), "2");
    let none = cannot(planned(&sell, MACHINE, &[]));
    assert!(none.reason.contains("no price") && none.hint.contains("price"));
}

#[test]
fn an_offer_stands_in_spite_of_rounding_and_changes_with_its_price() {
    let own = |reserve| [offer(1, true, "small", 1, reserve)];
    let sell = priced("0.1");
    assert!(matches!(
        planned(&sell, MACHINE, &own("0.1")),
        Plan::Stands(_)
    ));
    assert!(matches!(
        planned(&sell, MACHINE, &own("0.099996")),
        Plan::Stands(_)
    ));
    let Plan::Set(wanted) = planned(&sell, MACHINE, &own("0.09")) else {
        panic!("a tenth less is another price");
    };
    let again = plan(&sell, MACHINE, &classes(), &own("0.09"), Some(&wanted));
    assert!(matches!(again, Plan::Stands(_)));
    let buy = Sell {
        buy: Some(Credits::new("5").unwrap()),
        ..priced("0.1")
    };
    assert!(matches!(planned(&buy, MACHINE, &own("0.1")), Plan::Set(_)));
}

#[test]
fn nothing_is_sold_when_told_so_and_what_is_on_sale_is_withdrawn() {
    let off = Sell {
        off: true,
        ..Sell::default()
    };
    assert!(matches!(planned(&off, MACHINE, &[]), Plan::Stands(_)));
    let mut own = [offer(5, true, "small", 1, "1")];
    assert_eq!(planned(&off, MACHINE, &own), Plan::Withdraw(5));
    own[0].withdrawn = true;
    own[0].held_back = true;
    let held = planned(&priced("9"), MACHINE, &own);
    assert_eq!(
        held,
        Plan::Stands("holds its offers back for now".to_owned())
    );
    own[0].held_back = false;
    assert!(matches!(planned(&off, MACHINE, &own), Plan::Stands(_)));
}

#[test]
fn a_machine_that_is_too_small_is_told_what_it_lacks() {
    let tiny = Machine {
        vcpu: 1,
        memory_mib: 512,
        disk_mib: 1_024,
    };
    let fault = cannot(planned(&Sell::default(), tiny, &[]));
    assert_eq!(
        fault.reason,
        "too small for any class, it needs 768 MiB of memory and 256 MiB of \
         disk more"
    );
    let named = Sell {
        class: Some("large".to_owned()),
        ..Sell::default()
    };
    let fault = cannot(planned(&named, tiny, &[]));
    assert!(fault.reason.contains("large, it needs 1 processors"));
    let kept = Sell {
        reserve_memory_mib: 1_024,
        ..Sell::default()
    };
    let fault = cannot(planned(&kept, tiny, &[]));
    assert!(
        fault.reason.contains("1536 MiB of memory"),
        "{}",
        fault.reason
    );
    assert_eq!(
        planned(&named, tiny, &[offer(2, true, "large", 1, "1")]),
        Plan::Withdraw(2)
    );
    let unknown = Sell {
        class: Some("huge".to_owned()),
        ..Sell::default()
    };
    assert!(
        cannot(planned(&unknown, tiny, &[]))
            .hint
            .contains("small, large")
    );
    let empty = cannot(plan(&Sell::default(), tiny, &[], &[], None));
    assert!(empty.reason.contains("no class"));
}
