//! Statements: what they list against what balances say.

use super::asking::{request, world};
use super::world::{World, credits};
use gridbay_node::api::ErrorCode;
use gridbay_node::api::types::{JobId, JobState, Signed, Statement, TransferRequest};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::Reason;

/// The statement of all up to now, and nothing has moved meanwhile.
async fn whole(world: &World) -> Statement {
    let backend = &world.backend;
    let found = world.until(|| async {
        let balance = backend.balance(None).await.unwrap();
        let whole = backend.statement(None, None, None).await.unwrap();
        (whole.height == balance.height).then_some((whole, balance))
    });
    let (whole, balance) = found.await;
    assert_eq!(whole.closing.balance, balance.balance);
    assert_eq!(whole.closing.held, Signed::from(balance.held));
    assert_eq!(whole.closing.retained, Signed::from(balance.retained));
    whole
}

fn check_sums(of: &Statement) {
    let change = of.closing.total.0 - of.opening.total.0;
    let days: i64 = of.days.iter().map(|d| d.change.0).sum();
    let cost: i64 = of.bought.iter().map(|b| b.cost.0).sum();
    let income: i64 = of.sold.iter().map(|s| s.income.0).sum();
    let other =
        |o: &gridbay_node::api::types::Other| Signed::from(o.received).0 - Signed::from(o.spent).0;
    let other: i64 = of.other.iter().map(other).sum();
    assert_eq!((days, income + other - cost), (change, change), "{of:?}");
    let moved: i64 = of.movements.iter().map(|l| l.movement.amount.0).sum();
    assert_eq!(moved, of.closing.balance.0 - of.opening.balance.0, "{of:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_sums_to_the_difference_of_the_balances() {
    let world = world().await;
    let backend = &world.backend;
    let (amount, memo) = (credits("5"), None);
    let to = world.genesis.account(&world.genesis.members[1]);
    let transfer = TransferRequest { to, amount, memo };
    backend.transfer(None, transfer).await.unwrap();
    world.offer().await;
    let id = JobId::from_bytes([0xab; 8]);
    backend.submit(id.clone(), request(2)).await.unwrap();
    world.job_in(&id, JobState::Won).await;
    // While money lies in escrow and is paid for a slot that still runs.
    check_sums(&whole(&world).await);
    // The node sells to itself: until it has earned something as well.
    world
        .until(|| async {
            let now = backend.statement(None, None, None).await.unwrap();
            (!now.sold.is_empty()).then_some(())
        })
        .await;
    backend.cancel(id.clone()).await.unwrap();
    world.job_in(&id, JobState::Cancelled).await;
    let all = whole(&world).await;
    check_sums(&all);
    assert_eq!(all.opening.total, Signed::from(credits("100")));
    let [bought] = &all.bought[..] else {
        panic!("{all:?}")
    };
    assert_eq!(bought.job, Some(id));
    assert!(bought.cost > Signed(0) && bought.paid >= bought.returned);
    assert_eq!(all.sold[0].of, "class small");
    assert_eq!(
        (all.other.len(), all.other[0].reason),
        (1, Reason::Transfer)
    );
    assert_eq!(all.other[0].spent, credits("5"));

    // Two parts are the whole.
    let middle = all.movements[all.movements.len() / 2].movement.time_ms;
    let first = backend.statement(None, None, Some(middle)).await.unwrap();
    let second = backend.statement(None, Some(middle), Some(all.to_ms));
    let second = second.await.unwrap();
    check_sums(&first);
    check_sums(&second);
    assert_eq!((first.opening, second.closing), (all.opening, all.closing));
    assert_eq!(first.closing, second.opening);
    let both = [first.movements, second.movements].concat();
    assert_eq!(both, all.movements);

    let refused = backend.statement(None, Some(9), Some(9)).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::Usage);
    let nobody = backend
        .statement(Some(AccountId([1; 32])), None, None)
        .await;
    assert_eq!(nobody.unwrap_err().code, ErrorCode::NotFound);
}
