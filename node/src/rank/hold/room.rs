//! Connections to a rank, within bounds.
//!
//! Whoever is in the lease's network can connect. Those whose order has not come yet, signed by a
//! key that counts, have seats of their own, a few for each address: strangers take none of the
//! seats of those that may command. Nor can other ranks together take those of the owner's address,
//! from which the data plane lets nobody else send.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gridbay_protocol::keys::PublicKey;

use super::keys::Who;
use crate::rank::order::{Refusal, Why};
use crate::rank::wire::Wire as _;

/// Connections with an order at a time.
const SIGNED: usize = 256;
/// Connections without one yet, of all addresses and of one.
const UNSIGNED: (usize, usize) = (128, 16);

/// Whether there is room for one more of what these have, of which there may be `most`: half of
/// that for an admitted key, and a quarter is the owner's alone.
pub(super) fn has_room<'a>(all: impl Iterator<Item = &'a Who>, by: &Who, most: usize) -> bool {
    let (mut count, mut own, mut admitted) = (0, 0, 0);
    for who in all {
        count += 1;
        own += usize::from(who.key == by.key);
        admitted += usize::from(!who.is_owner);
    }
    count < most && (by.is_owner || (own < most / 2 && admitted < most - most / 4))
}

/// The seats.
#[derive(Default)]
pub(super) struct Room {
    /// The address of the owner's node.
    owner: Option<IpAddr>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    unsigned: BTreeMap<IpAddr, usize>,
    signed: BTreeMap<u64, (Who, TcpStream)>,
    /// Counts them.
    last: u64,
}

/// One connection's seat, until it is dropped.
pub(super) struct Seat {
    room: Arc<Room>,
    kind: Kind,
}

enum Kind {
    Unsigned(IpAddr),
    Signed(u64),
}

impl State {
    fn leave(&mut self, kind: &Kind) {
        match kind {
            Kind::Signed(number) => drop(self.signed.remove(number)),
            Kind::Unsigned(ip) => {
                if let Some(count) = self.unsigned.get_mut(ip) {
                    *count -= 1;
                    if *count == 0 {
                        self.unsigned.remove(ip);
                    }
                }
            }
        }
    }
}

impl Room {
    /// All seats free.
    pub(super) fn new(owner: Option<IpAddr>) -> Room {
        let state = Mutex::default();
        Room { owner, state }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for a connection without an order, if there is one.
    pub(super) fn enter(self: &Arc<Self>, ip: IpAddr) -> Option<Seat> {
        let mut state = self.lock();
        let is_owner = self.owner == Some(ip);
        let others = state
            .unsigned
            .iter()
            .filter(|(ip, _)| self.owner != Some(**ip));
        let all: usize = others.map(|(_, count)| count).sum();
        let count = state.unsigned.get(&ip).copied().unwrap_or(0);
        if (all >= UNSIGNED.0 && !is_owner) || count >= UNSIGNED.1 {
            return None;
        }
        state.unsigned.insert(ip, count + 1);
        let room = Arc::clone(self);
        let kind = Kind::Unsigned(ip);
        Some(Seat { room, kind })
    }

    /// Cuts all connections of a key.
    pub(super) fn cut(&self, key: &PublicKey) {
        for (who, connection) in self.lock().signed.values() {
            if who.key == *key {
                connection.cut();
            }
        }
    }
}

impl Seat {
    /// The connection's order came, signed by a key that counts.
    pub(super) fn sign(&mut self, by: &Who, connection: &TcpStream) -> Result<(), Refusal> {
        let again = connection.again().map_err(|e| Refusal::failed(&e))?;
        let mut state = self.room.lock();
        if !has_room(state.signed.values().map(|(who, _)| who), by, SIGNED) {
            let why = "there are as many connections to this rank as may be";
            return Err(Refusal::new(Why::Busy, why));
        }
        state.leave(&self.kind);
        state.last += 1;
        let number = state.last;
        state.signed.insert(number, (by.clone(), again));
        self.kind = Kind::Signed(number);
        Ok(())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.lock().leave(&self.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn who(seed: u8) -> Who {
        Who {
            key: SecretKey::from_seed(&[seed; 32]).public(),
            name: String::new(),
            is_owner: seed == 1,
        }
    }

    #[test]
    fn admitted_keys_leave_room_for_others_and_for_the_owner() {
        let mut all = Vec::new();
        for (seed, count) in [(2, 16), (3, 8), (4, 0), (1, 8)] {
            let by = who(seed);
            let before = all.len();
            while has_room(all.iter(), &by, 32) {
                all.push(by.clone());
            }
            assert_eq!(all.len() - before, count, "{seed}");
        }
    }

    #[test]
    fn one_address_does_not_take_all_seats() {
        let room = Arc::new(Room::default());
        let (one, two) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let seats: Vec<_> = (0..20).filter_map(|_| room.enter(one)).collect();
        assert_eq!(seats.len(), 16);
        assert!(room.enter(two).is_some());
        drop(seats);
        assert!(room.enter(one).is_some());
    }

    #[test]
    fn all_others_together_leave_the_owner_its_seats() {
        let owner = IpAddr::from([10, 201, 3, 254]);
        let room = Arc::new(Room::new(Some(owner)));
        let others = (0..=255).map(|last| IpAddr::from([10, 201, 0, last]));
        let seats: Vec<_> = others.filter_map(|ip| room.enter(ip)).collect();
        assert_eq!(seats.len(), UNSIGNED.0);
        let own: Vec<_> = (0..20).filter_map(|_| room.enter(owner)).collect();
        assert_eq!(own.len(), UNSIGNED.1);
    }
}
