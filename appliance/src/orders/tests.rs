use super::*;

fn parsed(text: &str) -> Result<Orders, OrdersError> {
    Orders::parse(text.as_bytes())
}

fn at(minute: u32) -> Clock {
    Clock {
        minute,
        ..Clock::default()
    }
}

/// What the node's tests write, with every key.
const FILE: &str = include_str!("../../tests/data/owner.json");

#[test]
fn every_key_that_the_node_writes_is_read() {
    let all = Orders {
        owner: "0a".to_owned(),
        count: 10,
        price: Some(Credits(3_500_000)),
        buy: Some(Credits(10_000_000)),
        units: Some(2),
        reserve_vcpu: Some(1),
        reserve_memory_mib: Some(1_024),
        reserve_disk_mib: Some(512),
        hours: Some(Hours {
            from: 22 * 60,
            to: 6 * 60,
        }),
        sell: Some(false),
        reset: Some("0a".to_owned()),
    };
    assert_eq!(parsed(FILE), Ok(all));
}

#[test]
fn what_is_told_counts_before_the_configuration_and_the_rest_stays() {
    let text = r#"{"owner":"0a","count":7,"drain":true,"price":"3.5","buy":null,"units":2,"reserve_vcpu":1,
        "reserve_memory_mib":512,"reserve_disk_mib":null,"hours":null,"sell":null}"#;
    let orders = parsed(text).unwrap();
    assert_eq!((orders.owner.as_str(), orders.count), ("0a", 7));
    let disk = Sell {
        class: Some("small".to_owned()),
        units: Some(9),
        reserve_disk_mib: Some(99),
        price: Some(Credits(1)),
        ..Sell::default()
    };
    let sold = Sell {
        class: Some("small".to_owned()),
        units: Some(2),
        reserve_vcpu: 1,
        reserve_memory_mib: 512,
        reserve_disk_mib: Some(99),
        price: Some(Credits(3_500_000)),
        buy: None,
        off: false,
    };
    assert_eq!(orders.over(&disk, at(0)), sold);
    assert_eq!(Orders::default().over(&disk, at(0)), disk);
    let on = parsed(r#"{"sell":true}"#).unwrap();
    let disk = Sell { off: true, ..disk };
    assert!(!on.over(&disk, at(0)).off && Orders::default().over(&disk, at(0)).off);
    assert!(parsed(r#"{"sell":false}"#).unwrap().over(&sold, at(0)).off);
}

#[test]
fn hours_may_go_over_midnight_and_a_wrong_clock_is_outside() {
    let sells = |hours: &str, minute: u32| {
        let orders = parsed(&format!(r#"{{"hours":"{hours}"}}"#)).unwrap();
        let off = orders.over(&Sell::default(), at(minute)).off;
        assert_eq!(off, orders.closed(at(minute)).is_some());
        !off
    };
    for (minute, night, day) in [
        (0, true, false),
        (5 * 60 + 59, true, false),
        (6 * 60, false, true),
        (12 * 60, false, true),
        (21 * 60 + 59, false, true),
        (22 * 60, true, false),
        (23 * 60 + 59, true, false),
    ] {
        assert_eq!(sells("22:00-06:00", minute), night, "{minute}");
        assert_eq!(sells("06:00-22:00", minute), day, "{minute}");
    }
    let orders = parsed(r#"{"hours":"00:00-23:59"}"#).unwrap();
    let wrong = Clock {
        before_image: true,
        ..at(5)
    };
    assert_eq!(orders.closed(wrong).unwrap().to_string(), "00:00-23:59");
    assert_eq!(orders.closed(at(5)), None);
}

#[test]
fn hostile_files_are_refused_as_a_whole() {
    for text in [
        "",
        "nonsense",
        "[]",
        "null",
        r#"{"count":-1}"#,
        r#"{"count":1.5}"#,
        r#"{"price":3}"#,
        r#"{"price":"1","price":"2"}"#,
        "{\"price\":\"1\"} trailing",
    ] {
        let error = parsed(text).unwrap_err();
        assert!(matches!(error, OrdersError::Syntax { .. }), "{text}");
    }
    // A key of a later version says nothing to this one.
    let later = parsed(r#"{"price":"1","invitation":"gridbay1x"}"#).unwrap();
    assert_eq!(later, parsed(r#"{"price":"1"}"#).unwrap());
    for (text, key) in [
        (r#"{"price":"-1"}"#, "price"),
        (r#"{"price":"1","sell":true,"buy":"0.5"}"#, "buy"),
        (r#"{"units":0}"#, "units"),
        (r#"{"reserve_vcpu":4294967295}"#, "reserve_vcpu"),
        (
            r#"{"reserve_memory_mib":18446744073709551615}"#,
            "reserve_memory_mib",
        ),
        (r#"{"hours":"22-6"}"#, "hours"),
        (r#"{"hours":"24:00-01:00"}"#, "hours"),
        (r#"{"hours":"01:00-01:00"}"#, "hours"),
        (r#"{"hours":"1:0-2:0"}"#, "hours"),
    ] {
        match parsed(text) {
            Err(OrdersError::Value { key: told, .. }) => assert_eq!(told, key, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let large = vec![b' '; FILE_BYTES + 1];
    assert_eq!(Orders::parse(&large), Err(OrdersError::TooLarge));
    let nested = "[".repeat(FILE_BYTES);
    assert!(parsed(&nested).is_err());
    assert!(Orders::parse(&[0xff, 0xfe]).is_err());
}
