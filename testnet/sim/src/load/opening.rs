//! Sealed bids of clients, to be opened right or wrong.

use gridbay_protocol::ids::EntryId;
use gridbay_protocol::order::{Open, Wish};

/// A client's mistake with a sealed bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slip {
    /// Nothing.
    None,
    /// Never opens it.
    Forgets,
    /// Opens it before its time.
    Early,
    /// Opens it when its time is over.
    Late,
    /// Opens it again.
    Twice,
    /// Opens it with another salt.
    Salt,
    /// Sealed a budget below one slot.
    Budget,
    /// Sealed a last height that is past.
    Standing,
    /// Sealed an amendment: of an order of its own as it may be or not, of somebody else's, or of
    /// none.
    Amends,
}

pub(super) const SLIPS: [Slip; 9] = [
    Slip::None,
    Slip::Forgets,
    Slip::Early,
    Slip::Late,
    Slip::Twice,
    Slip::Salt,
    Slip::Budget,
    Slip::Standing,
    Slip::Amends,
];

/// A sealed bid and what is to become of it.
pub(super) struct Opening {
    pub(super) client: usize,
    pub(super) commit: EntryId,
    pub(super) wish: Wish,
    pub(super) salt: [u8; 32],
    pub(super) slip: Slip,
    pub(super) looks: u32,
}

impl Opening {
    /// The opening of the bid, right or wrong.
    pub(super) fn open(&self) -> Open {
        let mut salt = self.salt;
        if self.slip == Slip::Salt {
            salt[0] ^= 1;
        }
        Open {
            commit: self.commit,
            wish: self.wish.clone(),
            salt,
        }
    }
}
