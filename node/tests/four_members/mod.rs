//! The smallest network of four validators that a genesis may have: nobody has money.

use gridbay_protocol::genesis::{Genesis, Member};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::units::Credits;
use gridbay_sample as sample;

/// The key of a seed.
pub(crate) fn key(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}

/// Member n has a validator with key n, and an account key of its own.
pub(crate) fn genesis() -> Genesis {
    let member = |n: u8| Member {
        validator: Some(sample::validator(
            key(n).public(),
            key(n + 50).public(),
            [n; 32],
        )),
        ..sample::member(&format!("m{n}"), key(n + 100).public(), Credits::ZERO)
    };
    let members = (1..=4).map(member).collect();
    Genesis {
        beacon: Hash32([0; 32]),
        ..sample::genesis("lab", vec![sample::class("small", 1, 1, 1)], members)
    }
}
