//! Who is obeyed. Pure: the time comes in, and the secret at the start.
//!
//! 1. Each peer may ask so often; beyond that it is told so, unread.
//! 2. Anybody gets a challenge, whether this node has an owner or not.
//! 3. An order is obeyed if its signature is good for this network, this node and its challenge,
//!    the key is the owner's, the challenge was made here for this asker within the last minute,
//!    and no other order came with it.
//! 4. Whatever is wrong with an order, the answer is the same word. The kinds are counted for this
//!    node's user.
//! 5. Only what the owner has signed is parsed, and only the owner is told that it makes no sense.

use super::limits::{BURST, EACH, FRESH, PEERS, USED};
use super::types::Order;
use gridbay_core::steer::signed::{Challenge, Place, Signed};
use gridbay_core::steer::wire::Question;
use gridbay_protocol::buckets::Buckets;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;
use std::time::Duration;

named! {
    /// What became of a question.
    pub enum Kind {
        /// A challenge was given.
        Challenge = "challenge",
        /// An order of the owner was taken.
        Order = "order",
        /// The owner's order makes no sense to this version.
        Odd = "odd",
        /// The peer asks too often.
        Often = "often",
        /// The bytes are no question.
        Malformed = "malformed",
        /// The signature is not good here.
        Signature = "signature",
        /// The key is not the owner's, or there is none.
        Stranger = "stranger",
        /// The challenge is another run's or another asker's, or too old.
        Stale = "stale",
        /// An order came with this challenge already.
        Used = "used",
    }
}

/// What is to be done about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Give this challenge.
    Challenge(Challenge),
    /// Carry out this order.
    Obey(Order),
    /// Tell the owner that its order makes no sense.
    Odd,
    /// Say no.
    Refuse(Kind),
}

impl Verdict {
    /// Its kind.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Verdict::Challenge(_) => Kind::Challenge,
            Verdict::Obey(_) => Kind::Order,
            Verdict::Odd => Kind::Odd,
            Verdict::Refuse(kind) => *kind,
        }
    }
}

/// Judges questions.
pub(super) struct Judge {
    owner: Option<PublicKey>,
    place: Place,
    secret: [u8; 32],
    /// Challenges given so far.
    count: u64,
    /// Challenges that carried an order, and when they were made.
    used: BTreeMap<u64, Duration>,
    rates: Buckets<PublicKey, Duration>,
}

impl Judge {
    /// Of a node with such an owner; the secret is made for this run.
    pub(super) fn new(owner: Option<PublicKey>, place: Place, secret: [u8; 32]) -> Judge {
        Judge {
            owner,
            place,
            secret,
            count: 0,
            used: BTreeMap::new(),
            rates: Buckets::new(PEERS),
        }
    }

    /// Judges a question of a peer, at a time of this run.
    pub(super) fn judge(&mut self, from: &PublicKey, bytes: &[u8], now: Duration) -> Verdict {
        let whole = EACH * BURST;
        let may = self.rates.holds(from, EACH, whole, now);
        if !may {
            return Verdict::Refuse(Kind::Often);
        }
        self.rates.take(*from, EACH, now);
        match Question::decode(bytes) {
            None => Verdict::Refuse(Kind::Malformed),
            Some(Question::Challenge) => {
                self.count = self.count.saturating_add(1);
                let challenge = Challenge::new(&self.secret, from, now, self.count);
                Verdict::Challenge(challenge)
            }
            Some(Question::Order(signed)) => match self.check(from, &signed, now) {
                Err(kind) => Verdict::Refuse(kind),
                Ok(()) => serde_json::from_str(&signed.order).map_or(Verdict::Odd, Verdict::Obey),
            },
        }
    }

    fn check(&mut self, from: &PublicKey, signed: &Signed, now: Duration) -> Result<(), Kind> {
        if !signed.is_signed(&self.place) {
            return Err(Kind::Signature);
        }
        if self.owner != Some(signed.key) {
            return Err(Kind::Stranger);
        }
        let (challenge, made) = (
            &signed.challenge,
            Duration::from_millis(signed.challenge.at_ms),
        );
        let age = now.saturating_sub(made);
        if !challenge.is_for(&self.secret, from) || age > FRESH {
            return Err(Kind::Stale);
        }
        self.used
            .retain(|_, made| now.saturating_sub(*made) <= FRESH);
        if self.used.contains_key(&challenge.count) {
            return Err(Kind::Used);
        }
        if self.used.len() >= USED {
            return Err(Kind::Often);
        }
        self.used.insert(challenge.count, made);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
