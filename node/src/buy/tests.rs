use super::*;
use gridbay_core::buy::{BidTerms, BuyTerms};
use gridbay_core::key::OrderKey;
use gridbay_protocol::genesis::{Genesis, Member};
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::order::{BuyPart, Step};
use gridbay_protocol::units::Price;
use gridbay_sample as sample;
use serde_json::{Value, json};

/// One of each, as the API takes them.
fn all() -> Vec<Value> {
    vec![
        json!({"mechanism": "ausubel", "divisible": false}),
        json!({"mechanism": "buy", "wait_seconds": 60, "surcharge": "0.5",
            "also": [{"class": "large", "nodes": 3}]}),
        json!({"mechanism": "deadline", "soft_seconds": 60, "hard_seconds": 600, "pay": "2",
            "late_pay": "0.5", "shape": "concave", "offer": null, "seller": "beta"}),
        json!({"mechanism": "posted"}),
        json!({"mechanism": "contract", "provider": "b", "value": "2", "penalty": "0.5",
            "hold_seconds": 60, "decay_seconds": 60, "alpha_ppm": 1_000_000, "beta16": 16,
            "window_seconds": 120}),
        json!({"mechanism": "reservation",
            "groups": [{"nodes": 2, "offers": ["07".repeat(32)]}],
            "from": {"in": 60}, "until": {"slot": 9}, "channels": {"low": 1, "high": 8}}),
        json!({"mechanism": "share", "offer": "07".repeat(32), "rate": "2.5",
            "utility": "log", "weights": {"cpu": 3}, "program": null}),
    ]
}

/// A legal line of each, as `gridbay run` takes them.
pub(super) const LINES: &[&str] = &[
    "--buy --wait 5s --surcharge 1",
    "--posted",
    "--hard 2h --soft 1h --pay 5 --late-pay 1 --shape convex --seller a",
    "--reserve --from 2h --until 3h --channel 1-2",
    "--share --rate 5 --utility log",
    "--worth 20 --length 1h",
    "--provider a --jobs 4 --value 1 --hold 1h",
];

fn read(json: Value) -> Result<How, serde_json::Error> {
    serde_json::from_value(json)
}

#[test]
fn the_name_is_the_tag_and_nothing_is_lost() {
    for json in all() {
        let how = read(json.clone()).unwrap();
        assert_eq!(json["mechanism"], how.name());
        assert_eq!(serde_json::to_value(&how).unwrap(), json);
    }
    assert_eq!(
        serde_json::to_value(How::BUY).unwrap(),
        json!({"mechanism": "buy", "wait_seconds": 0, "surcharge": "0"})
    );
    assert_eq!(read(json!({"mechanism": "buy"})).unwrap(), How::BUY);
}

#[test]
fn what_is_missing_or_strange_is_refused() {
    for mut json in all() {
        json["limit"] = json!(1);
        let error = read(json).unwrap_err().to_string();
        assert!(error.starts_with("unknown field `limit`"), "{error}");
    }
    let missing = |json| read(json).unwrap_err().to_string();
    assert_eq!(
        missing(json!({"mechanism": "contract", "provider": "b"})),
        "missing field `value`"
    );
    assert_eq!(
        missing(json!({"divisible": true})),
        "missing field `mechanism`"
    );
    assert!(missing(json!({"mechanism": "barter"})).starts_with("unknown variant `barter`"));
}

#[test]
fn every_way_has_an_outlook_of_its_name() {
    let mut told: Vec<&str> = OUTLOOKS.iter().map(|(name, _)| *name).collect();
    let mut known: Vec<Value> = all().iter().map(|how| how["mechanism"].clone()).collect();
    told.sort_unstable();
    known.sort_by_key(ToString::to_string);
    assert_eq!(json!(told), json!(known));
}

/// A ledger of one class; two slots of two seconds each.
fn ledger() -> (State, ClassId) {
    let public = SecretKey::from_seed(&[1; 32]).public();
    let class = sample::class("small", 1, 512, 10);
    let id = class.key.id();
    let member = Member {
        validator: Some(sample::validator(public, public, [1; 32])),
        ..sample::member("alpha", public, "100".parse().unwrap())
    };
    let genesis = Genesis {
        time_ms: 1_800_000_000_000,
        ..sample::genesis("one", vec![class], vec![member])
    };
    (State::genesis(&genesis).unwrap(), id)
}

#[test]
fn terms_are_shown_per_node_hour() {
    let (state, class) = ledger();
    let shown = |terms| {
        let order = NewOrder {
            key: OrderKey(1),
            entropy: [1; 32],
            name: "x".into(),
            accepted_ms: 0,
            worth: None,
            relay: gridbay_core::buy::Relaying::Free,
            request: None,
            class,
            terms,
            slots: 2,
            tasks: 4,
            spec: JobSpec {
                argv: vec![],
                env: vec![],
                inputs: vec![],
                outputs: vec![],
                wall_seconds: 4,
                network: false,
                internet: false,
                checkpoint: None,
            },
        };
        in_words(&order, &state)
    };
    let ten: Credits = "10".parse().unwrap();
    let budget: Credits = "3".parse().unwrap();
    let sealed = |min| {
        let (units, price) = (4, Price(5_555));
        Terms::Sealed(BidTerms {
            steps: vec![Step { units, price }],
            min,
            budget,
            patience: 9,
        })
    };
    assert_eq!(shown(sealed(4)), (ten, budget, How::BID));
    assert!(shown(sealed(1)).2.is_divisible());
    let limit = Credits::from_micros(4 * 5_555).unwrap();
    let buy = Terms::Buy(BuyTerms {
        parts: vec![BuyPart::anywhere(class, 4)],
        limit,
        patience: 0,
        surcharge: Credits::ZERO,
    });
    let most = limit.checked_mul(3).unwrap();
    assert_eq!(shown(buy), (ten, most, How::BUY));
}
