//! Bytes of frames that are being read, bounded for each connection and over all.
//!
//! A frame is read as its bytes come, and a slow sender decides how long they lie here. So before
//! the body of a frame above [`SMALL`] is read, as many bytes as it announces are put aside: out of
//! its connection's room, and out of that of all connections together. An honest sender has never
//! more on its way to us than [`crate::overlay::Limits::direct_bytes_per_peer`], or one message
//! that is larger than that; so a connection has as much, and a large frame may come alone. Votes
//! are small: they pass whatever large frames there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Frames up to so many bytes need no place. With all streams of a connection that is 1 MiB.
const SMALL: usize = 16 << 10;

/// The bytes that one connection may read at a time, and all of them together.
#[derive(Debug)]
pub(crate) struct Budget {
    own: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
    own_most: usize,
    all_most: usize,
}

/// The room that there is none of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Of the connection.
    Own,
    /// Of all connections.
    All,
}

/// Bytes put aside; dropping gives them back.
#[derive(Debug)]
pub(crate) struct Place {
    taken: Vec<(Arc<AtomicUsize>, usize)>,
}

impl Drop for Place {
    fn drop(&mut self) {
        for (counter, bytes) in &self.taken {
            counter.fetch_sub(*bytes, Ordering::Relaxed);
        }
    }
}

impl Budget {
    /// Bytes for each connection, and for all.
    pub(crate) fn new(own_most: usize, all_most: usize) -> Self {
        Self {
            own: Arc::default(),
            all: Arc::default(),
            own_most,
            all_most,
        }
    }

    /// For another connection.
    pub(crate) fn of_connection(&self) -> Self {
        Self {
            own: Arc::default(),
            ..self.shared()
        }
    }

    /// For another stream of the same connection.
    pub(crate) fn shared(&self) -> Self {
        Self {
            own: self.own.clone(),
            all: self.all.clone(),
            own_most: self.own_most,
            all_most: self.all_most,
        }
    }

    /// Puts bytes aside, if there is room.
    pub(crate) fn place(&self, bytes: usize) -> Result<Place, Lack> {
        let mut place = Place { taken: Vec::new() };
        if bytes <= SMALL {
            return Ok(place);
        }
        let (own, all) = ((&self.own, self.own_most), (&self.all, self.all_most));
        for ((counter, most), lack) in [(own, Lack::Own), (all, Lack::All)] {
            let before = counter.fetch_add(bytes, Ordering::Relaxed);
            place.taken.push((counter.clone(), bytes));
            if before > 0 && before.saturating_add(bytes) > most {
                return Err(lack);
            }
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn a_connection_has_its_share_and_all_together_theirs() {
        let budget = Budget::new(4 * MIB, 6 * MIB);
        let (a, b) = (budget.of_connection(), budget.of_connection());
        let first = a.place(3 * MIB).unwrap();
        assert_eq!(a.shared().place(2 * MIB).err(), Some(Lack::Own));
        let second = b.place(3 * MIB).unwrap();
        assert_eq!(b.place(MIB).err(), Some(Lack::All));
        assert!(b.place(SMALL).is_ok(), "small ones always pass");
        drop(first);
        assert!(b.place(MIB).is_ok());
        drop(second);
        assert_eq!(budget.all.load(Ordering::Relaxed), 0);
        assert_eq!(a.own.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_is_larger_than_the_share_comes_alone() {
        let budget = Budget::new(MIB, 2 * MIB).of_connection();
        let large = budget.place(8 * MIB).unwrap();
        assert!(budget.place(2 * SMALL).is_err());
        drop(large);
        assert!(budget.place(2 * SMALL).is_ok());
    }
}
