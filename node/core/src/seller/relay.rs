//! What this node carries for others as a relay, as its owner's terms and the ledger allow
//! ([`crate::relay`]).
//!
//! 1. A wish counts if its signer may trade for the account that holds the lease to be carried.
//! 2. A lease pays if it is the same account's, its job here is a relay's and has its unit. It pays
//!    for so many bytes in a slot for each unit; the end of job or lease ends the grant.
//! 3. Where nothing pays, an account has so many bytes in a day, on all its leases together, and
//!    [`FREE`] accounts do.
//! 4. A grant for which nobody asked for [`LAPSE_MS`], or whose lease is over, ends.

use super::{Job, Seller};
use crate::agent::{AgentReply, RunId, StartRefusal};
use crate::effect::Effect;
use crate::input::{AnswerToken, Now};
use crate::relay::{Grant, Purse, RelayTerms, Signed, Wish, is_relay};
use gridbay_ledger::State;
use gridbay_protocol::account::Roles;
use gridbay_protocol::ids::{AccountId, LeaseId};
use std::collections::{BTreeMap, BTreeSet};

/// Accounts that are given something in a day at the most: what a node gives has a bound in all.
const FREE: usize = 256;
/// Leases that one purse carries for at the most.
const CARRIED: usize = 16;
/// Milliseconds without a wish after which a grant ends.
const LAPSE_MS: u64 = 30_000;
const DAY_MS: u64 = 86_400_000;

/// The grants of this node.
#[derive(Debug, Default)]
pub(super) struct Relays {
    terms: RelayTerms,
    granted: BTreeMap<(Purse, LeaseId), Granted>,
    /// Milliseconds since 1970, when somebody last asked.
    wall_ms: u64,
    /// The day, and the accounts that were given something in it.
    given: (u64, BTreeSet<AccountId>),
}

#[derive(Debug)]
struct Granted {
    grant: Grant,
    /// Height of the last wish.
    asked_at: u64,
}

impl Seller {
    /// Sets what this node carries for others.
    pub(crate) fn relays(&mut self, terms: RelayTerms) {
        self.relays.terms = terms;
    }

    /// Whether its units may be leased to relay.
    pub(super) fn sells_relaying(&self) -> bool {
        self.relays.terms.unit_slot > 0
    }

    /// A buyer wants this node as a relay.
    pub(crate) fn relay(
        &mut self,
        state: &State,
        token: AnswerToken,
        wish: &Signed<Wish>,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        self.relays.wall_ms = now.wall_ms;
        let (wish, purse) = match self.check_wish(state, wish) {
            Ok(purse) => (&wish.said, purse),
            Err(why) => {
                let reply = AgentReply::Refused(why);
                return effects.push(Effect::Answer { token, reply });
            }
        };
        let (period, bytes) = self.allowance(state, &purse);
        let grant = Grant {
            purse,
            carries: wish.carries,
            period,
            bytes,
            pairs: wish.pairs.clone(),
        };
        if let Purse::Free(account) = purse {
            if self.relays.given.0 != period {
                self.relays.given = (period, BTreeSet::new());
            }
            self.relays.given.1.insert(account);
        }
        let granted = Granted {
            grant: grant.clone(),
            asked_at: state.height(),
        };
        self.relays.granted.insert((purse, wish.carries), granted);
        let token = Some(token);
        effects.push(Effect::Relay { token, grant });
    }

    fn check_wish(&self, state: &State, signed: &Signed<Wish>) -> Result<Purse, StartRefusal> {
        let wish = &signed.said;
        if !wish.is_valid() || wish.relay != self.node {
            return Err(StartRefusal::Invalid);
        }
        let account = holder(state, &wish.carries).ok_or(StartRefusal::NoLease)?;
        let roles = state.account(&account).and_then(|a| a.roles(&wish.key));
        let may_trade = roles.is_some_and(|r| r.contains(Roles::TRADE));
        if !may_trade || signed.verify(&state.network(), &wish.key).is_err() {
            return Err(StartRefusal::NotBuyer);
        }
        let purse = match wish.paid_by {
            Some(lease) if holder(state, &lease) != Some(account) => {
                return Err(StartRefusal::NotBuyer);
            }
            Some(lease) => Purse::Lease(lease),
            None => Purse::Free(account),
        };
        if self.allowance(state, &purse).1 == 0 {
            return Err(StartRefusal::NoUnit);
        }
        let granted = &self.relays.granted;
        let of_purse = granted.keys().filter(|(of, _)| *of == purse).count();
        let (day, given) = &self.relays.given;
        let today = *day == self.relays.wall_ms / DAY_MS;
        let all = today && given.len() >= FREE;
        let full = matches!(purse, Purse::Free(account) if all && !given.contains(&account));
        let known = granted.contains_key(&(purse, wish.carries));
        match full || !known && of_purse >= CARRIED {
            true => Err(StartRefusal::NoRoom),
            false => Ok(purse),
        }
    }

    /// The period that a purse is in, and its bytes; none if nothing pays.
    fn allowance(&self, state: &State, purse: &Purse) -> (u64, u64) {
        let terms = &self.relays.terms;
        match purse {
            Purse::Free(_) => (self.relays.wall_ms / DAY_MS, terms.free_day),
            Purse::Lease(lease) => {
                let runs = |(id, job): &(&RunId, &Job)| {
                    id.lease == *lease && is_relay(&job.memo.spec) && job.serves()
                };
                let units = self.jobs.iter().filter(runs).count() as u64;
                let slot = state.lease(lease).map_or(0, |l| l.slot);
                (slot, terms.unit_slot.saturating_mul(units))
            }
        }
    }

    /// Ends grants that nothing pays any more, and begins the new slot of those that it does.
    pub(super) fn keep_relays(&mut self, state: &State, effects: &mut Vec<Effect>) {
        let height = state.height();
        let lapse = LAPSE_MS / state.policy().block_interval_ms.max(1);
        let mut due = Vec::new();
        for (key, granted) in &self.relays.granted {
            let (purse, carries) = key;
            let (period, bytes) = self.allowance(state, purse);
            let over = holder(state, carries).is_none() || height > granted.asked_at + lapse;
            if over || bytes == 0 {
                due.push((*key, None));
            } else if (period, bytes) != (granted.grant.period, granted.grant.bytes) {
                due.push((*key, Some((period, bytes))));
            }
        }
        for (key, allowance) in due {
            let granted = self.relays.granted.get_mut(&key);
            if let (Some(granted), Some((period, bytes))) = (granted, allowance) {
                (granted.grant.period, granted.grant.bytes) = (period, bytes);
                let grant = granted.grant.clone();
                effects.push(Effect::Relay { token: None, grant });
            } else {
                self.relays.granted.remove(&key);
                let (purse, carries) = key;
                effects.push(Effect::EndRelay { purse, carries });
            }
        }
    }
}

/// The account that holds a lease.
fn holder(state: &State, lease: &LeaseId) -> Option<AccountId> {
    let lease = state.lease(lease)?;
    Some(state.user(&lease.order)?.account)
}
