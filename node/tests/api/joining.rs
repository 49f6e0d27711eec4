//! Joining by an invitation that the ledger takes, and by such as it does not.

use crate::asking::world_of;
use crate::world::{World, credits, secret};
use gridbay_core::Core;
use gridbay_core::input::Command;
use gridbay_node::api::types::{CloseRequest, NodeState};
use gridbay_node::doctor::Kind;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::invitation::{Grant, Invitation, SignedGrant};

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_that_the_ledger_does_not_take_is_told_in_words() {
    // The key of the node's account is nobody's yet; its validator makes the blocks.
    let world = world_of(6).await;
    let find = |core: &Core| core.state().account_of(&secret(1).public());
    let inviter = world.body.query(find).await.unwrap().unwrap();
    let join = async |token: u8, valid_until: u64, newcomer: u8| {
        let grant = Grant {
            inviter,
            key: secret(1).public(),
            token: secret(token).public(),
            endowment: credits("1"),
            valid_until,
        };
        let network = world.genesis.network();
        let invitation = Invitation {
            network,
            grant: SignedGrant::new(&network, grant, &secret(1)),
            token_seed: [token; 32],
            bootstrap: vec![],
        };
        let keys = vec![AccountKey {
            key: secret(newcomer).public(),
            roles: Roles::ALL,
        }];
        let invitation = Box::new(invitation);
        let command = Command::Join { invitation, keys };
        world.body.command(command).await.unwrap();
    };
    let told = async |word: &'static str| {
        world
            .until(|| async {
                let status = world.backend.node().await.unwrap();
                status.joining.filter(|why| why.contains(word))
            })
            .await
    };
    join(40, 0, 6).await;
    let expired = told("is not valid at").await;
    assert!(
        expired.ends_with("ask for an invitation that is valid now"),
        "{expired}"
    );
    // Somebody else uses the token first.
    join(41, 100_000, 7).await;
    let used = told("was used").await;
    assert!(used.ends_with("ask for a new invitation"), "{used}");
    let findings = world.backend.doctor().await.unwrap();
    let kinds: Vec<Kind> = findings.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [Kind::Invitation]);
    join(42, 100_000, 6).await;
    let status = world
        .until(|| async {
            let status = world.backend.node().await.unwrap();
            status.account.is_some().then_some(status)
        })
        .await;
    assert_eq!(status.joining, None);
    close(&world, inviter).await;
    // The account may come back with another invitation.
    join(43, 100_000, 6).await;
    world
        .until(|| async {
            let status = world.backend.node().await.unwrap();
            (status.state == NodeState::Ready).then_some(())
        })
        .await;
    world.body.stop();
}

/// Closes the node's account, which has one credit, in favour of another.
async fn close(world: &World, to: AccountId) {
    let closed = world.backend.close_account(CloseRequest { to }).await;
    let closed = closed.unwrap();
    assert_eq!((closed.to, closed.amount), (to, credits("1")));
    let status = world.backend.node().await.unwrap();
    assert_eq!((status.state, status.account), (NodeState::Closed, None));
}
