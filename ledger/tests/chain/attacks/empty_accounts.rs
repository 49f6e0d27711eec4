//! A member opens many accounts without money to crowd others out of a class: their number is
//! limited, and without a deposit none can put anything into the book.

use crate::trade::{SALT, bid};
use crate::world::{World, all_roles, credits, key};
use gridbay_ledger::Refusal;
use gridbay_protocol::account::opened_by;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::order::Commit;

#[test]
fn empty_accounts_are_few_and_put_nothing_into_the_book() {
    let mut world = World::new();
    let open = |n: u8| EntryBody::OpenAccount {
        grant: None,
        keys: all_roles(&key(n)),
        endowment: credits(0),
    };
    let opened: Vec<_> = (30..33).map(|n| world.by(2, open(n))).collect();
    world.all(opened.clone());
    let refusal = world.refused(world.by(2, open(33)));
    assert!(
        matches!(refusal, Refusal::AccountQuota { limit: 3, .. }),
        "{refusal}"
    );
    for (n, entry) in (30..33).zip(&opened) {
        let account = opened_by(&entry.id());
        let one = bid(&world, &[(1, 50)], 1);
        let commit = EntryBody::Commit(Commit {
            class: world.class,
            seal: one.seal(&world.network, &account, &SALT),
            bracket: 0,
        });
        let refusal = world.refused(world.sign(account, &key(n), commit));
        assert!(matches!(refusal, Refusal::Funds { .. }), "{refusal}");
    }
    assert_eq!(world.state.totals().orders, 0);
}
