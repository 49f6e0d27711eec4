//! Who may send through this node to whom (a relay for datagrams).
//!
//! 1. A grant is for two ends, each with a ticket of its own: 16 secret bytes that stand in front
//!    of each datagram it sends to the relay.
//! 2. An end is where its ticket was last used from. What it sends goes to the other end, without
//!    the ticket and otherwise untouched; as long as that one has not been heard of, nowhere.
//! 3. Bytes are counted in each direction, of the datagrams as they are sent on.
//! 4. Each grant draws on an allowance, which several may share: so many bytes in a period. Beyond
//!    it nothing is sent on until the next period begins.
//! 5. Without a known ticket, or an allowance, nothing is sent to anybody.

use std::collections::HashMap;
use std::net::SocketAddr;

use crate::path::Ticket;

/// Ended allowances that are remembered at the most.
const ENDED: usize = 4_096;

/// What grants draw on; its owner makes the names up.
pub type Purse = [u8; 32];

/// A permission for two ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// One for each end, different from all others.
    pub tickets: [Ticket; 2],
    /// The allowance that it draws on, in both directions together.
    pub purse: Purse,
}

/// What may go through in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The period; a new one begins with nothing used.
    pub period: u64,
    /// Bytes in it at the most, of all grants that draw on it.
    pub bytes_max: u64,
}

#[derive(Clone, Copy, Debug)]
struct Used {
    allowance: Allowance,
    bytes: u64,
}

/// What went through under a grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relayed {
    /// From the end with the first ticket, and from the other one.
    pub bytes: [u64; 2],
    /// In the same order.
    pub datagrams: [u64; 2],
}

struct Entry {
    grant: Grant,
    ends: [Option<SocketAddr>; 2],
    relayed: Relayed,
}

/// All grants of a relay.
#[derive(Default)]
pub struct Relay {
    entries: HashMap<Ticket, Entry>,
    second: HashMap<Ticket, Ticket>,
    purses: HashMap<Purse, Used>,
}

impl Relay {
    /// Sets an allowance; what was used of it counts on within its period.
    pub fn allow(&mut self, purse: Purse, allowance: Allowance) {
        let fresh = Used {
            allowance,
            bytes: 0,
        };
        let used = self.purses.entry(purse).or_insert(fresh);
        if used.allowance.period != allowance.period {
            used.bytes = 0;
        }
        used.allowance = allowance;
    }

    /// Ends an allowance: grants that draw on it carry nothing any more. What was used of it is
    /// remembered, so that one that is set again in its period does not begin anew.
    pub fn disallow(&mut self, purse: &Purse) {
        if let Some(used) = self.purses.get_mut(purse) {
            used.allowance.bytes_max = 0;
        }
        let ended = |used: &Used| used.allowance.bytes_max == 0;
        if self.purses.values().filter(|used| ended(used)).count() > ENDED {
            self.purses.retain(|of, used| of == purse || !ended(used));
        }
    }

    /// Bytes that are left of an allowance in its period.
    pub fn left(&self, purse: &Purse) -> u64 {
        let used = self.purses.get(purse);
        used.map_or(0, |u| u.allowance.bytes_max.saturating_sub(u.bytes))
    }

    /// Admits two ends; false if a ticket is known already, or both are the same.
    pub fn admit(&mut self, grant: Grant) -> bool {
        let [first, second] = grant.tickets;
        let known = |t: &Ticket| self.entries.contains_key(t) || self.second.contains_key(t);
        if first == second || known(&first) || known(&second) {
            return false;
        }
        self.second.insert(second, first);
        let entry = Entry {
            grant,
            ends: [None; 2],
            relayed: Relayed::default(),
        };
        self.entries.insert(first, entry);
        true
    }

    /// Ends a grant; returns what went through. Whoever knows another's ticket ends nothing.
    pub fn revoke(&mut self, grant: &Grant) -> Option<Relayed> {
        let relayed = self.relayed(grant)?;
        let [first, second] = &grant.tickets;
        self.entries.remove(first);
        self.second.remove(second);
        Some(relayed)
    }

    /// What went through so far under a grant.
    pub fn relayed(&self, grant: &Grant) -> Option<Relayed> {
        let entry = self.entries.get(&grant.tickets[0]);
        let entry = entry.filter(|entry| entry.grant == *grant);
        entry.map(|entry| entry.relayed)
    }

    /// Where a datagram of so many bytes goes; none for an unknown ticket, a used-up allowance, or
    /// an end that is not known yet, which `Ok(None)` tells apart.
    pub fn forward(
        &mut self,
        ticket: &Ticket,
        source: SocketAddr,
        bytes: usize,
    ) -> Result<Option<SocketAddr>, UnknownTicket> {
        let (first, side) = match self.second.get(ticket) {
            Some(first) => (*first, 1),
            None => (*ticket, 0),
        };
        let entry = self.entries.get_mut(&first).ok_or(UnknownTicket)?;
        let bytes = bytes as u64;
        let purse = self.purses.get_mut(&entry.grant.purse);
        let purse = purse.ok_or(UnknownTicket)?;
        if purse.bytes.saturating_add(bytes) > purse.allowance.bytes_max {
            return Err(UnknownTicket);
        }
        entry.ends[side] = Some(source);
        let to = entry.ends[1 - side];
        if to.is_some() {
            purse.bytes += bytes;
            entry.relayed.bytes[side] += bytes;
            entry.relayed.datagrams[side] += 1;
        }
        Ok(to)
    }
}

/// The ticket is not known, or its allowance is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTicket;

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    const PURSE: Purse = [7; 32];

    fn grant(first: u8) -> Grant {
        Grant {
            tickets: [[first; 16], [first + 1; 16]],
            purse: PURSE,
        }
    }

    fn relay(bytes_max: u64) -> Relay {
        let mut relay = Relay::default();
        let period = 1;
        relay.allow(PURSE, Allowance { period, bytes_max });
        assert!(relay.admit(grant(1)));
        assert!(!relay.admit(grant(1)));
        relay
    }

    #[test]
    fn two_ends_find_each_other_and_are_counted() {
        let mut relay = relay(1000);
        assert_eq!(relay.forward(&[1; 16], address(1), 10), Ok(None));
        assert_eq!(
            relay.forward(&[2; 16], address(2), 20),
            Ok(Some(address(1)))
        );
        assert_eq!(
            relay.forward(&[1; 16], address(3), 30),
            Ok(Some(address(2)))
        );
        assert_eq!(
            relay.forward(&[2; 16], address(2), 1),
            Ok(Some(address(3))),
            "moved"
        );
        let relayed = relay.relayed(&grant(1)).expect("a grant");
        assert_eq!((relayed.bytes, relayed.datagrams), ([30, 21], [1, 2]));
        let mut anothers = [grant(1), grant(1)];
        anothers[0].purse = [8; 32];
        anothers[1].tickets[1] = [9; 16];
        for other in &anothers {
            assert!(!relay.admit(other.clone()));
            assert_eq!((relay.relayed(other), relay.revoke(other)), (None, None));
        }
        assert_eq!(relay.revoke(&grant(1)), Some(relayed));
        assert_eq!(relay.forward(&[2; 16], address(2), 1), Err(UnknownTicket));
    }

    #[test]
    fn unknown_tickets_and_used_up_allowances_get_nothing() {
        let mut relay = relay(100);
        assert_eq!(relay.forward(&[3; 16], address(1), 1), Err(UnknownTicket));
        relay.forward(&[1; 16], address(1), 1).expect("known");
        for _ in 0..5 {
            relay
                .forward(&[2; 16], address(2), 20)
                .expect("within the bound");
        }
        assert_eq!(relay.forward(&[2; 16], address(2), 1), Err(UnknownTicket));
        assert_eq!(relay.forward(&[1; 16], address(1), 1), Err(UnknownTicket));
        assert_eq!(relay.left(&PURSE), 0);
    }

    #[test]
    fn grants_share_an_allowance_and_a_period_begins_anew() {
        let mut relay = relay(100);
        assert!(relay.admit(grant(3)));
        let carry = |relay: &mut Relay, ticket: u8, bytes| {
            let at = address(u16::from(ticket));
            relay.forward(&[ticket; 16], at, bytes).is_ok()
        };
        assert!(
            [1, 2, 3, 4]
                .map(|t| carry(&mut relay, t, 0))
                .iter()
                .all(|ok| *ok)
        );
        assert!(carry(&mut relay, 1, 60) && carry(&mut relay, 3, 40));
        assert!(!carry(&mut relay, 4, 1) && !carry(&mut relay, 2, 1));
        let allow = |relay: &mut Relay, period, bytes_max| {
            relay.allow(PURSE, Allowance { period, bytes_max });
        };
        allow(&mut relay, 1, 120);
        assert_eq!(relay.left(&PURSE), 20, "more of the same period");
        allow(&mut relay, 2, 50);
        assert!(carry(&mut relay, 4, 50) && !carry(&mut relay, 1, 1));
        relay.disallow(&PURSE);
        assert!(!carry(&mut relay, 4, 1));
        allow(&mut relay, 2, 50);
        assert!(!carry(&mut relay, 4, 1), "it was used up in this period");
        allow(&mut relay, 3, 50);
        assert!(carry(&mut relay, 4, 1), "a new one");
    }
}
