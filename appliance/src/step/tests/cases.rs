//! One test for each way in which a start goes wrong, and for what must not happen afterwards.

use super::*;
use crate::node::Failure;

const DISK: &str = "invitation = \"gridbay1a\"";

fn error(state: &State, reason: &str) {
    assert_eq!(state.name(), "error", "{state:?}");
    assert!(state.reason().contains(reason), "{state:?}");
    assert!(!state.hint().is_empty(), "{state:?}");
}

fn refused(why: &str) -> Result<(), Failure> {
    Err(Failure {
        exit: Some(9),
        why: why.to_owned(),
        next: "ask for another".to_owned(),
    })
}

#[test]
fn without_an_invitation_it_waits_and_says_how_to_give_one() {
    let (state, actions) = Agent::new().step(&booted());
    assert_eq!(state.name(), "waiting");
    assert!(state.hint().contains("gridbay invite --image"));
    assert_eq!(actions, []);
    let mut seen = booted();
    seen.sources = disk("name = \"bay\"");
    let (state, actions) = Agent::new().step(&seen);
    assert!(state.reason().contains("hold no invitation"));
    assert_eq!(actions, []);
    seen.sources[0].files = Err("its user-data does not begin with #gridbay".to_owned());
    assert!(Agent::new().step(&seen).0.reason().contains("user-data"));
}

#[test]
fn a_disk_leads_to_a_node_that_sells() {
    let mut agent = Agent::new();
    let mut seen = booted();
    seen.sources = disk(&format!("{DISK}\nname = \"bay\"\n[sell]\nprice = 4"));
    let (state, actions) = agent.step(&seen);
    assert_eq!(state.name(), "joining");
    assert_eq!(actions, [Action::Join(token("gridbay1a"))]);
    seen.folder = Folder {
        keys: true,
        joined: true,
        invitation: Some(token("gridbay1a")),
        ..Folder::default()
    };
    let (_, actions) = agent.told(&seen, Kind::Join, Ok(()));
    let files = seen.sources[0].files.clone().unwrap();
    let settings = "name = \"bay\"\n".to_owned();
    let expected = [
        Action::Keep(files.clone()),
        Action::WriteSettings(settings.clone()),
    ];
    assert_eq!(actions, expected);
    seen.kept = files;
    seen.folder.settings = Some(settings.into_bytes());
    assert_eq!(agent.step(&seen).1, [Action::StartNode]);
    seen.unit = unit("active");
    assert_eq!(agent.step(&seen).0.name(), "joining");
    let up = ready(DISK);
    (seen.node, seen.classes, seen.offers) = (up.node, up.classes, up.offers);
    let (state, actions) = agent.step(&seen);
    assert_eq!(state.name(), "ready");
    assert!(matches!(&actions[..], [Action::SetOffer(offer)] if offer.units == 1));
    seen.offers = Some(vec![own("4")]);
    let (state, actions) = agent.told(&seen, Kind::Offer, Ok(()));
    assert_eq!(state.reason(), "sells 1 small at 4 an hour");
    assert_eq!(actions, []);
}

#[test]
fn an_empty_credential_leaves_the_word_to_the_disk() {
    let mut seen = booted();
    seen.sources = [disk(" \n"), disk(DISK)].concat();
    let (_, actions) = Agent::new().step(&seen);
    assert_eq!(actions, [Action::Join(token("gridbay1a"))]);
}

#[test]
fn a_garbage_invitation_is_told_and_not_tried() {
    let mut seen = booted();
    for text in [
        "invitation = \"hello\"",
        "invitation = ",
        "invite = 1",
        "\u{1}",
    ] {
        seen.sources = disk(text);
        let (state, actions) = Agent::new().step(&seen);
        error(&state, "invite.toml");
        assert_eq!(actions, []);
    }
}

#[test]
fn a_forged_invitation_is_told_and_tried_ever_more_rarely() {
    let mut agent = Agent::new();
    let mut seen = booted();
    seen.sources = disk(DISK);
    let mut joins = 0;
    for _ in 0..120 {
        let (state, actions) = agent.told(&seen, Kind::Join, refused("the signature is wrong"));
        joins += actions.len();
        if joins > 1 {
            error(&state, "the signature is wrong");
        }
    }
    assert_eq!(joins, 7);
    seen.sources = disk("invitation = \"gridbay1b\"");
    let (state, actions) = agent.step(&seen);
    assert_eq!(state.name(), "joining");
    assert_eq!(actions, [Action::Join(token("gridbay1b"))]);
}

#[test]
fn a_foreign_disk_replaces_nothing() {
    let mut agent = Agent::new();
    let mut seen = ready(&format!("{DISK}\n[sell]\nprice = 4"));
    seen.offers = Some(vec![own("4")]);
    assert_eq!(agent.step(&seen).1, []);
    seen.sources = disk("invitation = \"gridbay1b\"\nname = \"evil\"\n[sell]\nprice = 1");
    seen.sources[0].files.as_mut().unwrap().network = Some(b"[Match]\n".to_vec());
    // Nor does one that leaves the invitation out, or has another one of the same network.
    for text in [
        "invitation = \"gridbay1b\"\nname = \"evil\"\n[sell]\nprice = 1",
        "name = \"evil\"\n[sell]\nprice = 1",
    ] {
        seen.sources[0].files.as_mut().unwrap().invite = Some(text.as_bytes().to_vec());
        let (state, actions) = agent.step(&seen);
        assert_eq!(actions, []);
        assert_eq!(state.reason(), "sells 1 small at 4 an hour");
        assert!(state.notes()[0].reason.contains("settings are not used"));
        assert!(!state.notes()[0].hint.is_empty());
    }
}

#[test]
fn a_foreign_disk_replaces_nothing_while_the_machine_is_no_member_yet() {
    let mut agent = Agent::new();
    let mut seen = joining();
    seen.sources = disk("invitation = \"gridbay1b\"\nname = \"evil\"");
    assert_eq!(agent.step(&seen).1, [Action::Join(token("gridbay1b"))]);
    let (_, actions) = agent.told(&seen, Kind::Join, refused("belongs to network x"));
    // It is asked again, in case the answer was wrong, and nothing else is done.
    assert_eq!(actions, [Action::Join(token("gridbay1b"))]);
}

#[test]
fn a_garbage_disk_after_joining_replaces_nothing() {
    let mut seen = ready(&format!("{DISK}\n[sell]\nprice = 4"));
    seen.offers = Some(vec![own("4")]);
    seen.sources = disk("[sell]\nprise = 1");
    let (state, actions) = Agent::new().step(&seen);
    assert_eq!(actions, []);
    assert!(state.notes()[0].reason.contains("sell.prise"));
}

#[test]
fn a_used_or_expired_invitation_is_told_until_a_new_one_comes() {
    let mut agent = Agent::new();
    let mut seen = joining();
    seen.node.as_mut().unwrap().joining = Some("invitation of 6da8 was used".to_owned());
    let (state, actions) = agent.step(&seen);
    error(&state, "was used");
    assert_eq!(actions, []);
    seen.sources = disk("invitation = \"gridbay1b\"\n[sell]\nprice = \"banana\"");
    error(&agent.step(&seen).0, "sell.price");
    seen.sources = disk("invitation = \"gridbay1b\"");
    assert_eq!(agent.step(&seen).1, [Action::Join(token("gridbay1b"))]);
    let (_, actions) = agent.told(&seen, Kind::Join, Ok(()));
    let kept = Action::Keep(files("invitation = \"gridbay1b\""));
    let renewed = [kept, Action::Renew(token("gridbay1b")), Action::RestartNode];
    assert_eq!(actions, renewed);
    seen.folder.invitation = Some(token("gridbay1b"));
    seen.kept = files("invitation = \"gridbay1b\"");
    assert_eq!(agent.step(&seen).1, []);
}

#[test]
fn a_corrupt_data_partition_ends_everything() {
    let mut seen = ready(DISK);
    seen.data = Data::Broken(Fault::new("damaged", "e2fsck"));
    let (state, actions) = Agent::new().step(&seen);
    error(&state, "damaged");
    assert_eq!(actions, []);
}

#[test]
fn a_full_data_disk_is_told_and_nothing_is_begun_on_it() {
    for (free, total) in [(63 << 20, GIB), (GIB / 21, GIB), (15 * GIB, 400 * GIB)] {
        let mut seen = booted();
        seen.data = Data::Mounted { free, total };
        seen.sources = disk(DISK);
        let (state, actions) = Agent::new().step(&seen);
        error(&state, "the data disk is full");
        assert_eq!(actions, []);
    }
    let mut seen = ready(DISK);
    seen.data = Data::Mounted {
        free: 1,
        total: GIB,
    };
    seen.unit = unit("inactive");
    let (state, actions) = Agent::new().step(&seen);
    error(&state, "the data disk is full");
    assert_eq!(actions, [Action::StartNode]);
}

#[test]
fn a_broken_network_or_clock_is_told() {
    let mut seen = joining();
    seen.network = Network::default();
    assert_eq!(after(&seen, 20).name(), "joining");
    error(&after(&seen, 21), "no network interface has an address");
    let mut seen = joining();
    seen.clock.before_image = true;
    error(&after(&seen, 0), "the clock stands before");
    let mut seen = joining();
    seen.node.as_mut().unwrap().peers = 0;
    assert_eq!(after(&seen, 60).name(), "joining");
    error(&after(&seen, 61), "no peer");
    seen.network.route = false;
    assert!(after(&seen, 61).hint().contains("no default route"));
    let mut seen = joining();
    assert_eq!(after(&seen, 100).name(), "joining");
    seen.clock.synchronised = false;
    error(&after(&seen, 61), "no block comes");
    let mut seen = joining();
    seen.node.as_mut().unwrap().troubles = vec![trouble("the clock is wrong")];
    error(&after(&seen, 0), "the clock is wrong");
}

#[test]
fn a_node_that_does_not_stay_up_is_told() {
    let mut seen = joining();
    seen.node = None;
    assert_eq!(after(&seen, 60).name(), "joining");
    error(&after(&seen, 61), "does not answer");
    seen.folder.genesis = false;
    error(&after(&seen, 61), "no node of the network was reached");
    seen.folder.genesis = true;
    seen.unit = unit("failed");
    seen.unit.result = "exit-code".to_owned();
    let (state, actions) = Agent::new().step(&seen);
    error(&state, "failed: exit-code");
    assert_eq!(actions, [Action::StartNode]);
    let mut agent = Agent::new();
    seen.unit = unit("activating");
    assert_eq!(agent.step(&seen).0.name(), "joining");
    seen.unit.restarts = 3;
    let (state, actions) = agent.step(&seen);
    error(&state, "over and over");
    assert_eq!(actions, []);
}

#[test]
fn a_node_that_may_not_sell_says_why() {
    let mut agent = Agent::new();
    let seen = ready(&format!("{DISK}\n[sell]\nprice = 4"));
    assert!(matches!(agent.step(&seen).1[..], [Action::SetOffer(_)]));
    let why = "this machine cannot isolate jobs, so this node sells nothing";
    let (state, _) = agent.told(&seen, Kind::Offer, refused(why));
    assert_eq!(state.name(), "ready");
    assert!(state.notes()[0].reason.contains(why));
    assert_eq!(state.notes()[0].hint, "ask for another");
}

#[test]
fn a_machine_that_is_too_small_is_ready_and_says_so() {
    let mut seen = ready(DISK);
    seen.machine.memory_mib = 512;
    let (state, actions) = Agent::new().step(&seen);
    assert_eq!((state.name(), actions.len()), ("ready", 0));
    assert!(state.notes()[0].reason.contains("needs 768 MiB of memory"));
}

#[test]
fn memory_that_the_host_takes_is_not_sold_and_counts_again_once_it_stays() {
    let mut agent = Agent::new();
    let mut seen = ready(&format!("{DISK}\n[sell]\nprice = 4"));
    seen.offers = Some(vec![own("4")]);
    assert_eq!(agent.step(&seen).1, []);
    let own_label = own("4").label;
    seen.machine.memory_mib = 700;
    if let Some(node) = &mut seen.node {
        node.units_leased = 1;
    }
    assert_eq!(agent.step(&seen).1, [Action::Withdraw(own_label)]);
    seen.offers = Some(vec![]);
    let (state, _) = agent.told(&seen, Kind::Withdraw, Ok(()));
    let told = format!("{state:?}");
    assert!(told.contains("leased units go on: 1"), "{told}");
    // It comes back in pieces, and then stays.
    for mib in (700..=2_048).step_by(128) {
        seen.machine.memory_mib = mib;
        assert_eq!(agent.step(&seen).1, [], "{mib}");
    }
    let waits = (0..20)
        .take_while(|_| agent.step(&seen).1.is_empty())
        .count();
    assert_eq!(waits, 9);
}

#[test]
fn a_disk_that_is_gone_or_the_same_changes_nothing() {
    let mut agent = Agent::new();
    let mut seen = ready(&format!("{DISK}\nname = \"bay\"\n[sell]\nprice = 4"));
    seen.folder.settings = Some(b"name = \"bay\"\n".to_vec());
    seen.offers = Some(vec![own("4")]);
    for _ in 0..3 {
        assert_eq!(agent.step(&seen).1, []);
    }
    seen.sources.clear();
    for _ in 0..3 {
        let (state, actions) = agent.step(&seen);
        assert_eq!((state.name(), actions.len()), ("ready", 0));
    }
}

#[test]
fn another_price_on_the_disk_changes_the_offer_alone() {
    let mut agent = Agent::new();
    let mut seen = ready(&format!("{DISK}\n[sell]\nprice = 4"));
    seen.offers = Some(vec![own("4")]);
    assert_eq!(agent.step(&seen).1, []);
    seen.sources = disk(&format!("{DISK}\n[sell]\nprice = \"2.5\""));
    let (_, actions) = agent.step(&seen);
    match &actions[..] {
        [Action::Keep(kept), Action::SetOffer(offer)] => {
            assert_eq!(Ok(kept), seen.sources[0].files.as_ref());
            assert_eq!(offer.price.to_string(), "2.5");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_name_on_the_disk_restarts_the_node_once() {
    let mut agent = Agent::new();
    let mut seen = ready(DISK);
    seen.sources = disk(&format!("{DISK}\nname = \"new\""));
    let (_, actions) = agent.step(&seen);
    let write = Action::WriteSettings("name = \"new\"\n".to_owned());
    assert_eq!(actions[1..], [write, Action::RestartNode]);
    seen.kept = seen.sources[0].files.clone().unwrap();
    seen.folder.settings = Some(b"name = \"new\"\n".to_vec());
    let (_, actions) = agent.step(&seen);
    assert!(!actions.contains(&Action::RestartNode));
}

#[test]
fn lost_keys_are_told_and_not_made_anew() {
    let mut seen = ready(DISK);
    seen.folder.keys = false;
    seen.unit = unit("inactive");
    let (state, actions) = Agent::new().step(&seen);
    error(&state, "its keys are gone");
    assert_eq!(actions, []);
}

#[test]
fn a_draining_node_is_left_alone() {
    let mut seen = ready(DISK);
    seen.drain_asked = true;
    seen.unit = unit("inactive");
    let (state, actions) = Agent::new().step(&seen);
    assert_eq!((state.name(), actions.len()), ("draining", 0));
    let mut seen = ready(DISK);
    seen.node.as_mut().unwrap().state = "draining".to_owned();
    let (state, actions) = Agent::new().step(&seen);
    assert_eq!((state.name(), actions.len()), ("draining", 0));
}

#[test]
fn a_node_that_is_closed_or_halted_is_an_error() {
    let mut seen = ready(DISK);
    for (name, reason) in [("closed", "was closed"), ("halted", "is halted")] {
        seen.node.as_mut().unwrap().state = name.to_owned();
        error(&after(&seen, 0), reason);
    }
}

#[test]
fn network_settings_of_the_disk_are_put_in_place_first() {
    let file = b"[Match]\nName=en*\n".to_vec();
    let mut seen = booted();
    seen.sources = disk(DISK);
    seen.sources[0].files.as_mut().unwrap().network = Some(file.clone());
    let (_, actions) = Agent::new().step(&seen);
    assert_eq!(actions[0], Action::Network(file.clone()));
    seen.network_in_use = Some(file.clone());
    let (_, actions) = Agent::new().step(&seen);
    assert_eq!(actions, [Action::Join(token("gridbay1a"))]);
    // Once the disk is gone, the copy counts.
    let mut seen = ready(DISK);
    seen.sources.clear();
    seen.kept.network = Some(file.clone());
    assert!(Agent::new().step(&seen).1.contains(&Action::Network(file)));
    seen.kept.network = Some(b"[NetDev]".to_vec());
    let (state, actions) = Agent::new().step(&seen);
    assert_eq!(actions, []);
    assert!(state.notes()[0].reason.contains("network.network"));
}
