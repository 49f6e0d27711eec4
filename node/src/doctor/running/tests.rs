//! The findings of each set of facts.

use super::*;

fn peers(n: u8, path: Path) -> Vec<PeerFact> {
    let peer = |i| PeerFact {
        path,
        network: Some([1, i, 0, 0, 0, 0]),
        subscribed: true,
        mesh: true,
        relays: false,
    };
    (0..n).map(peer).collect()
}

fn well() -> Running {
    Running {
        uptime: 100,
        peers: peers(6, Path::Quic),
        quic: true,
        quic_connections: 9,
        reach: Reach::Public,
        block_age: Some((5, 10)),
        places: (10, 10, 0),
        ..Running::default()
    }
}

fn trouble(kind: trouble::Kind) -> Trouble {
    Trouble {
        kind,
        since_ms: 0,
        what: "w".to_owned(),
        hint: "h".to_owned(),
    }
}

type Change = fn(&mut Running);

#[test]
fn each_illness_is_found_and_nothing_else() {
    let table: [(Kind, Change); 20] = [
        (Kind::Invitation, |f| f.invitation = Some("used".to_owned())),
        (Kind::Disk, |f| {
            f.troubles = vec![trouble(trouble::Kind::Disk)]
        }),
        (Kind::DiskShort, |f| {
            f.troubles = vec![trouble(trouble::Kind::Room)]
        }),
        (Kind::Clock, |f| {
            f.troubles = vec![trouble(trouble::Kind::Clock)]
        }),
        (Kind::Solver, |f| {
            f.troubles = vec![trouble(trouble::Kind::Solver)]
        }),
        (Kind::NoPeers, |f| f.peers.clear()),
        (Kind::ListenerMissing, |f| f.missing = vec!["a".to_owned()]),
        (Kind::NoRelay, |f| f.reach = Reach::Private),
        (Kind::NoBlocks, |f| {
            f.stall = Some("no block for 42 s".to_owned());
            f.block_age = Some((42, 10));
        }),
        (Kind::Behind, |f| f.behind = true),
        (Kind::Behind, |f| f.block_age = Some((31, 10))),
        (Kind::ExternalRefuted, |f| f.refuted = vec!["a".to_owned()]),
        (Kind::PromiseUnheard, |f| f.unheard = vec!["a".to_owned()]),
        (Kind::UdpBlocked, |f| {
            f.peers = peers(6, Path::Tcp);
            f.quic_connections = 0;
        }),
        (Kind::OnePrefix, |f| {
            f.peers.iter_mut().for_each(|p| p.network = Some([1; 6]));
        }),
        (Kind::ManyBans, |f| f.banned = BANS),
        (Kind::ManyBans, |f| f.score_falls = 61),
        (Kind::MeshSmall, |f| {
            f.peers.iter_mut().for_each(|p| p.mesh = false);
        }),
        (Kind::RelayFull, |f| f.places = (10, 10, 1)),
        (Kind::SymmetricNat, |f| {
            f.nat = Nat::Symmetric;
            f.reach = Reach::Private;
            f.relays = 1;
        }),
    ];
    for (kind, change) in table {
        let mut facts = well();
        change(&mut facts);
        let found = running(&facts);
        let kinds: Vec<Kind> = found.iter().map(|f| f.kind).collect();
        assert_eq!(kinds, [kind], "{facts:?}");
        let [finding] = found.as_slice() else {
            panic!()
        };
        let texts = [&finding.what, &finding.why, &finding.mend];
        assert!(texts.iter().all(|t| !t.is_empty()), "{finding:?}");
    }
}

#[test]
fn what_is_no_illness_is_passed_over() {
    let table: [(&str, Change); 8] = [
        ("invited, and not yet at the head", |f| {
            f.invitation = Some("too early".to_owned());
            f.behind = true;
            f.uptime = YOUNG - 1;
        }),
        ("well", |_| {}),
        ("young", |f| {
            f.peers.clear();
            f.uptime = YOUNG - 1;
        }),
        ("behind relays", |f| {
            f.reach = Reach::Private;
            f.relays = 2;
        }),
        ("on one machine", |f| {
            f.reach = Reach::Local;
            f.quic_connections = 0;
            f.peers = peers(6, Path::Tcp);
            f.peers.iter_mut().for_each(|p| p.network = Some([1; 6]));
        }),
        ("few neighbours", |f| {
            f.peers = peers(3, Path::Quic);
            f.peers.iter_mut().for_each(|p| p.network = Some([1; 6]));
        }),
        ("one peer over TCP", |f| {
            f.quic_connections = 0;
            f.peers = peers(1, Path::Tcp);
        }),
        ("relays nothing", |f| f.places = (0, 0, 3)),
    ];
    for (name, change) in table {
        let mut facts = well();
        change(&mut facts);
        assert_eq!(running(&facts), [], "{name}");
    }
}

#[test]
fn a_private_node_is_told_what_its_router_lacks() {
    let texts = [
        (Router::Off, "upnp=on"),
        (Router::None, "UPnP"),
        (Router::Inner, "provider"),
        (Router::Forwards, "firewall"),
    ];
    for (router, word) in texts {
        let facts = Running {
            reach: Reach::Private,
            router,
            ..well()
        };
        let found = running(&facts);
        assert!(found[0].mend.contains(word), "{found:?}");
    }
}
