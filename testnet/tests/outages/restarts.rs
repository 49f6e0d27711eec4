//! Half of the nodes are killed and started again while a lease runs: the buyer, both sellers, and
//! one that has nothing to do with it; of the four validators never more than one at a time, since
//! they can spare no more.

use super::AGAIN;
use super::common::{Lease, PATIENCE, height, meshed, sell, start};
use gridbay_testnet::network::plan::{Plan, credits, offer};
use std::time::Duration;

const ALL: [&str; 8] = ["v1", "v2", "v3", "v4", "b1", "b2", "b3", "b4"];
/// Killed together, one pair after the other: a seller that votes and one that does not, then a
/// validator and the buyer.
const HALF: [[&str; 2]; 2] = [["v2", "b2"], ["v3", "b1"]];
/// How long each pair stays dead; peers notice.
const DEAD: Duration = Duration::from_secs(3);
const SECONDS: u32 = 30;

#[tokio::test]
async fn half_of_the_nodes_restart_and_a_lease_survives() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = Plan::local("half", 4, 4);
    plan.validators = vec![vec![]; 4];
    plan.validators[1] = vec![offer("small", 1, credits(2), None)];
    let mut network = start(dir.path(), plan).await;
    sell(&network, "b2").await;
    meshed(&network, &ALL).await;
    let mut lease = Lease::begin(&network, "b1", &["v2", "b2"], SECONDS).await;

    for pair in HALF {
        assert!(lease.runs().await, "they are killed under the lease");
        let before = height(&network, "v1").await;
        for name in pair {
            network.kill(name).unwrap();
        }
        tokio::time::sleep(DEAD).await;
        assert!(height(&network, "v1").await > before, "the chain goes on");
        for name in pair {
            network.restart(name).unwrap();
        }
        for name in pair {
            network.ready(name, PATIENCE).await.unwrap();
        }
        let took = meshed(&network, &ALL).await;
        println!("{pair:?} meshed again {took:?} after they were ready");
        assert!(took < AGAIN, "{pair:?}: {took:?}");
    }
    lease.ends_well(SECONDS).await;
}
