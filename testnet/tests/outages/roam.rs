//! Two peers in a lab speak, directly after a punch, and go on although the address of either, and
//! of the gateway before either, changes: one pair of those that `gridbay-testnet lab roam` tries.
//!
//! The bar is twice that of the command, since other tests run beside this one, and it must only
//! find connections that do not come back.
//!
//! It takes root, iproute2 and nftables; without them the test says that it was left out.

use super::common::{lab, program};
use gridbay_testnet::Progress;
use gridbay_testnet::lab::matrix::programs::Programs;
use gridbay_testnet::lab::matrix::{Pair, Path};
use gridbay_testnet::lab::program::WORD;
use gridbay_testnet::lab::{Kind, roam};
use std::time::Duration;

const TOPOLOGY: &str = r#"
    [networks.street]
    kind = "open"
    hosts = ["pub1", "pub2"]
    [networks.home]
    kind = "cone"
    hosts = ["alice"]
    [networks.office]
    kind = "cone"
    hosts = ["bob"]
"#;

#[tokio::test]
async fn two_peers_speak_again_after_every_change_of_address() {
    let Some(lab) = lab('m', TOPOLOGY) else {
        return;
    };
    let quiet = Progress::silent();
    let pair = Pair {
        waiting: ("alice".into(), Kind::Cone),
        dialing: ("bob".into(), Kind::Cone),
        neighbours: false,
    };
    let programs = Programs {
        program: program(),
        words: vec![WORD.into()],
        patience: 2 * roam::BAR,
        settle: Duration::from_secs(3),
        logs: None,
    };
    let report = roam::run(&lab, &[pair], &programs, &quiet).unwrap();
    println!("{}", report.lines());
    assert_eq!(report.moved.len(), 4);
    let came_back = |moved: &roam::Moved| moved.before > Path::None && moved.again_ms.is_some();
    assert!(report.moved.iter().all(came_back));
}
