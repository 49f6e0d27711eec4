//! Keys of 256 bits and how far they lie apart: XOR, read as a number.

use crate::rng::Rng;

/// A node's or a record's place in the key space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key([u64; 4]);

/// How far two keys lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distance([u64; 4]);

impl Key {
    /// A key by chance.
    pub fn draw(rng: &mut Rng) -> Key {
        Key(std::array::from_fn(|_| rng.bits()))
    }

    /// The distance to another key.
    pub fn distance(&self, other: &Key) -> Distance {
        Distance(std::array::from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

impl Distance {
    /// The bucket of a peer so far away: bits that both keys have in common at their beginning, 0
    /// to 255. None for the key itself.
    pub fn bucket(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(64 * word + self.0[word].leading_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_symmetric_and_its_bucket_counts_common_bits() {
        let mut rng = Rng::new(1, "keys");
        let (a, b) = (Key::draw(&mut rng), Key::draw(&mut rng));
        assert_eq!(a.distance(&b), b.distance(&a));
        assert_eq!(a.distance(&a).bucket(), None);
        for bit in [0, 1, 63, 64, 200, 255] {
            let mut near = a;
            near.0[bit / 64] ^= 1 << (63 - bit % 64);
            assert_eq!(a.distance(&near).bucket(), Some(bit));
        }
    }

    #[test]
    fn a_longer_common_beginning_is_nearer() {
        let zero = Key([0; 4]);
        let far = zero.distance(&Key([1 << 63, 0, 0, 0]));
        let near = zero.distance(&Key([0, u64::MAX, u64::MAX, u64::MAX]));
        assert!(near < far);
    }
}
