//! Spends the same money twice: two entries that its balance bears only one of, each told to one
//! half of the validators at the same moment. Transfers of most of what it has, sealed bids of one
//! class and round, and buys that lock all of it.
//!
//! Attacks I1 and I4, and the inclusion rule: each half counts on another entry. Every block is
//! executed entry by entry, so the second of a pair is refused wherever it comes, and an entry that
//! does not fit any more is no omission.

use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::order::{Buy, BuyPart, Commit};
use gridbay_protocol::units::Credits;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct DoubleSpender {
    deeds: u64,
}

fn whole(puppet: &Puppet<'_>) -> u64 {
    let own = puppet.core.account().unwrap_or_default();
    u64::try_from(puppet.state().balance(&own).free).unwrap_or(0)
}

/// One of two requests that exclude one another.
fn request(puppet: &mut Puppet<'_>, kind: u64) -> Option<EntryBody> {
    let classes: Vec<_> = puppet
        .state()
        .classes()
        .iter()
        .map(|c| c.key.id())
        .collect();
    let class = *classes.first()?;
    Some(match kind {
        0 => {
            let strangers = puppet.strangers();
            EntryBody::Transfer {
                to: *puppet.rng.pick(&strangers)?,
                amount: Credits::from_micros(whole(puppet) * 6 / 10)?,
                memo: Hash32(puppet.rng.bytes32()),
            }
        }
        1 => EntryBody::Commit(Commit {
            class,
            seal: Hash32(puppet.rng.bytes32()),
            bracket: 3,
        }),
        _ => EntryBody::Buy(Buy {
            parts: vec![BuyPart::anywhere(class, 1)],
            slots: 1,
            limit: Credits::from_micros(whole(puppet) * 6 / 10)?,
            stands_until: 0,
            surcharge: Credits::ZERO,
            work: Hash32(puppet.rng.bytes32()),
        }),
    })
}

impl Lie for DoubleSpender {
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        // Most of the money is gone soon; commitments and buys cost less.
        let kind = puppet.rng.range(0, 9).min(2);
        if whole(puppet) < 10 || !puppet.rng.chance(500_000) {
            return vec![];
        }
        let one = request(puppet, kind).and_then(|body| puppet.entry(body));
        let two = request(puppet, kind).and_then(|body| puppet.entry(body));
        let (Some(one), Some(two)) = (one, two) else {
            return vec![];
        };
        let voters = puppet.voters();
        let (first, second) = voters.split_at(puppet.rng.index(voters.len() + 1));
        self.deeds += 1;
        let mut out = puppet.tell(first, &one);
        out.extend(puppet.tell(second, &two));
        // Sometimes one half hears the other entry right afterwards.
        if puppet.rng.chance(300_000) {
            out.extend(puppet.tell(first, &two));
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
