//! Plans, looked at as lists of operations.

use super::*;

fn lab(kind: Kind) -> Topology {
    let text = format!("[networks.home]\nkind = \"{kind}\"\nhosts = [\"a\", \"b\"]\n");
    Topology::parse(&text).unwrap()
}

/// Addresses of a machine in the order given.
fn addresses(ops: &[Op], machine: &str) -> Vec<String> {
    let of = |op: &Op| match op {
        Op::Address { at, net, .. } if at == machine => Some(net.to_string()),
        _ => None,
    };
    ops.iter().filter_map(of).collect()
}

#[test]
fn every_kind_gets_its_machines_addresses_and_rulesets() {
    for (kind, machines, host, rulesets) in [
        (Kind::Open, 3, vec!["45.1.1.2/30", "2a45:1:1::2/64"], 0),
        (Kind::Cone, 4, vec!["10.1.0.10/24"], 1),
        (Kind::Fullcone, 4, vec!["10.1.0.10/24"], 1),
        (Kind::Restricted, 4, vec!["10.1.0.10/24"], 1),
        (Kind::Symmetric, 4, vec!["10.1.0.10/24"], 1),
        (Kind::Hairpin, 4, vec!["10.1.0.10/24"], 1),
        (Kind::Double, 5, vec!["10.1.0.10/24"], 2),
        (
            Kind::Firewall,
            4,
            vec!["45.1.250.10/24", "2a45:1:fa::a/64"],
            1,
        ),
        (
            Kind::Tcp443,
            4,
            vec!["45.1.250.10/24", "2a45:1:fa::a/64"],
            1,
        ),
    ] {
        let ops = up(&lab(kind));
        let count = |is: fn(&Op) -> bool| ops.iter().filter(|op| is(op)).count();
        assert_eq!(
            count(|op| matches!(op, Op::Machine { .. })),
            machines,
            "{kind}"
        );
        assert_eq!(
            count(|op| matches!(op, Op::Ruleset { .. })),
            rulesets,
            "{kind}"
        );
        assert_eq!(addresses(&ops, "a"), host, "{kind}");
        let lab = lab(kind);
        let link = lab.link_of("a").unwrap();
        let shown: Vec<_> = host_addresses(&link, 0, 0)
            .iter()
            .map(|a| a.to_string())
            .collect();
        assert!(host.iter().zip(&shown).all(|(net, a)| net.starts_with(a)));
    }
}

#[test]
fn machines_come_before_settings_and_settings_before_cables() {
    let ops = up(&Topology::every_kind());
    let last = |is: fn(&Op) -> bool| ops.iter().rposition(is).unwrap();
    let first = |is: fn(&Op) -> bool| ops.iter().position(is).unwrap();
    let is_machine = |op: &Op| matches!(op, Op::Machine { .. });
    let is_setting = |op: &Op| matches!(op, Op::Setting { key, .. } if key.starts_with("ipv"));
    let is_cable = |op: &Op| matches!(op, Op::Cable { .. });
    let is_other = |op: &Op| matches!(op, Op::On { .. } | Op::Address { .. });
    assert!(last(is_machine) < first(is_setting));
    assert!(last(is_setting) < first(is_cable));
    assert!(last(is_cable) < first(is_other));
}

#[test]
fn a_router_that_moves_keeps_its_inner_side_and_forgets() {
    let lab = lab(Kind::Cone);
    let link = lab.link_of("home").unwrap();
    let next = Turn {
        generation: 1,
        zone: 2,
    };
    let ops = new_link_address(&link, FIRST, next);
    assert_eq!(addresses(&ops, "home"), ["45.1.2.2/30"]);
    assert_eq!(addresses(&ops, WAN), ["45.1.2.1/30"]);
    let Some(Op::Ruleset { text, .. }) = ops.last() else {
        panic!("{ops:?}");
    };
    assert!(text.contains("ct zone set 2") && text.contains("snat ip to 45.1.2.2"));
    let gone = ops.iter().filter(|op| matches!(op, Op::NoAddress { .. }));
    assert_eq!(gone.count(), 2);
}

#[test]
fn public_hosts_behind_a_router_that_moves_are_still_reached() {
    let lab = lab(Kind::Firewall);
    let link = lab.link_of("a").unwrap();
    let next = Turn {
        generation: 3,
        zone: 2,
    };
    let ops = new_link_address(&link, FIRST, next);
    let routes = ops.iter().filter_map(|op| match op {
        Op::Route {
            at,
            to: Some(to),
            via,
        } if at == WAN => Some(format!("{to} {via}")),
        _ => None,
    });
    let routes: Vec<_> = routes.collect();
    assert_eq!(
        routes,
        ["45.1.250.0/24 45.1.4.2", "2a45:1:fa::/64 2a45:1:4::2"]
    );
    let moved = new_host_address(&link, "b", 1, 0, 1);
    assert_eq!(
        addresses(&moved, "b"),
        ["45.1.250.71/24", "2a45:1:fa::47/64"]
    );
}
