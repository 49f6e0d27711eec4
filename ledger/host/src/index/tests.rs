//! Lookups in the index, and a file that fails under a running node.

use super::*;
use gridbay_ledger::{Draft, State};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::genesis::{Genesis, Member, Policy};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::units::Credits;
use gridbay_protocol::validator::validator_id;
use gridbay_sample as sample;

/// The first block of a ledger, without entries.
fn first_block() -> CheckedBlock {
    let key = |n: u8| SecretKey::from_seed(&[n; 32]);
    let chain = Chain::new(&[7; 32], 100);
    let founder = Member {
        validator: Some(sample::validator(
            key(2).public(),
            key(3).public(),
            chain.tip(),
        )),
        ..sample::member("founder", key(1).public(), Credits::ZERO)
    };
    let genesis = Genesis {
        policy: Policy::local(),
        ..sample::genesis(
            "index",
            vec![sample::class("small", 1, 512, 10)],
            vec![founder],
        )
    };
    let state = State::genesis(&genesis).expect("a legal genesis");
    let proposer = validator_id(&key(2).public());
    let tip = state.beacon_tip(&proposer).expect("it has a tip");
    let draft = Draft {
        proposer,
        time_ms: state.time_ms() + 250,
        reveal: chain
            .clone()
            .preimage(&tip)
            .expect("the chain is long enough"),
        last_commit: None,
        evidence: vec![],
        entries: vec![],
        hints: vec![],
    };
    state.propose(draft).block
}

#[test]
fn an_index_that_could_not_be_read_stops_the_node_and_is_made_anew() {
    let place = tempfile::tempdir().unwrap();
    let mut index = Index::open(Some(place.path()));
    let block = first_block();
    assert!(index.is_whole());
    let nothing = Sought {
        valid_until: 9,
        id: EntryId([1; 32]),
    };
    index.rows.fail();
    assert_eq!(index.entries(&[nothing]), [None]);
    assert!(!index.is_whole(), "what it does not find may be there");
    assert!(matches!(index.add(&block, &[]), Err(Fault::Disk(_))));
    drop(index);
    let mut index = Index::open(Some(place.path()));
    assert!(index.is_whole());
    index.add(&block, &[]).unwrap();
    assert_eq!((index.applied(), index.block(&block.id())), (1, Some(1)));
}

#[test]
fn an_index_from_a_snapshot_on_does_not_know_what_was_before() {
    let mut index = Index::open(None);
    assert!(index.is_whole());
    index.begin_after(7, BlockId([1; 32]));
    assert!(!index.is_whole());
}

#[test]
fn postings_are_found_by_account_and_by_order_among_other_lines() {
    let place = tempfile::tempdir().unwrap();
    let (account, order) = (AccountId([3; 32]), OrderId([4; 32]));
    let lock = Posting {
        from: Purse::Account(account),
        to: Purse::Escrow(order),
        amount: Credits::from_micros(5).unwrap(),
        reason: Reason::Lock,
        order: Some(order),
    };
    let transfer = Posting {
        to: Purse::Bank,
        reason: Reason::Transfer,
        order: None,
        ..lock
    };
    let end = Effect::Order {
        order,
        end: OrderEnd::Served,
    };
    let effects = [Effect::Posting(lock), end, Effect::Posting(transfer)];
    for mut index in [Index::open(Some(place.path())), Index::open(None)] {
        let owner = (order_key(&order), account.as_bytes().to_vec());
        index.rows.write(vec![owner]);
        index.add(&first_block(), &effects).unwrap();
        let time_ms = first_block().header().time_ms;
        assert_eq!(index.times(&[2, 1]), [None, Some(time_ms)]);
        let history = index.history(&account, (2, 0), 9);
        let told: Vec<&Effect> = history.iter().map(|item| &item.effect).collect();
        assert_eq!(told, effects.iter().rev().collect::<Vec<_>>());
        let lines = [
            ((1, 2), Some(transfer)),
            ((1, 1), None),
            ((1, 0), Some(lock)),
        ];
        assert_eq!(index.postings(&account, (2, 0), 9), lines);
        assert_eq!(index.postings(&account, (1, 2), 1), lines[1..2]);
        let about = [((1, 0), lock)];
        assert_eq!(index.postings_about(&order, (2, 0), 9), about);
        assert_eq!(index.postings_about(&order, (1, 0), 9), []);
        assert_eq!(index.postings_about(&OrderId([5; 32]), (2, 0), 9), []);
    }
}

#[test]
fn an_index_of_an_earlier_form_is_made_anew() {
    let place = tempfile::tempdir().unwrap();
    let mut index = Index::open(Some(place.path()));
    let block = first_block();
    let earlier = [&1u64.to_be_bytes()[..], block.id().as_bytes()].concat();
    let account = AccountId([3; 32]);
    let line = key(b'a', &[account.as_bytes(), &[0; 8], &[0; 4]]);
    index.rows.write(vec![
        (b"g".to_vec(), earlier.clone()),
        (b"h".to_vec(), earlier.clone()),
        (b"k".to_vec(), earlier.clone()),
        (b"l".to_vec(), earlier),
        (line, vec![]),
        (at(b'f', (1, 1)), vec![0xa1; 9]),
    ]);
    drop(index);
    let mut index = Index::open(Some(place.path()));
    assert_eq!((index.applied(), index.reach()), (0, 0));
    assert!(index.rows.last(&[], &[0xff], 9).is_empty());
    index.add(&block, &[]).unwrap();
    assert_eq!(index.applied(), 1);
}

#[test]
fn the_history_of_full_blocks_is_read_in_pages_of_any_length() {
    let (account, other) = (AccountId([3; 32]), AccountId([4; 32]));
    let effect = |n: u32| match n % 5 {
        0 => Effect::Order {
            order: OrderId([9; 32]),
            end: OrderEnd::Served,
        },
        _ => Effect::Posting(Posting {
            from: Purse::Account(if n.is_multiple_of(3) { other } else { account }),
            to: Purse::Bank,
            amount: Credits::from_micros(u64::from(n)).unwrap(),
            reason: Reason::Transfer,
            order: None,
        }),
    };
    let effects: Vec<Effect> = (0..300).map(effect).collect();
    let of_account = |n: &u32| !n.is_multiple_of(5) && !n.is_multiple_of(3);
    let place = tempfile::tempdir().unwrap();
    for mut index in [Index::open(Some(place.path())), Index::open(None)] {
        index.add(&first_block(), &effects).unwrap();
        let rows = [b'a', b'f'].map(|kind| index.rows.last(&[kind], &[kind + 1], 300).len());
        assert!(rows[0] < 6 && rows[1] < 40, "{rows:?}: they share rows");
        let wanted: Vec<u32> = (0..300).rev().filter(of_account).collect();
        for limit in [1, 7, 63, 64, 65, 1000] {
            let (mut told, mut before) = (Vec::new(), (2, 0));
            loop {
                let page = index.history(&account, before, limit);
                let Some(last) = page.last() else { break };
                before = (last.height, last.position);
                let page = page.into_iter();
                told.extend(page.map(|item| (item.position, item.effect)));
            }
            let wanted = wanted.iter().map(|n| (*n, effect(*n)));
            assert!(wanted.eq(told), "{limit} a page");
        }
        let bytes: Vec<_> = effects.iter().map(codec::encode).collect();
        assert_eq!(index.effects(1), bytes);
        assert_eq!(index.effects(2), Vec::<Vec<u8>>::new());
    }
}
