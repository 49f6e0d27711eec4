//! The internet checksum, in the machine's own byte order until it is written.

/// Adds bytes to a sum; all but the last piece must have an even length.
pub(super) fn add(mut sum: u64, bytes: &[u8]) -> u64 {
    let mut wide = bytes.chunks_exact(32);
    for chunk in &mut wide {
        for word in chunk.chunks_exact(4) {
            sum += u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        }
    }
    let mut pairs = wide.remainder().chunks_exact(2);
    for pair in &mut pairs {
        sum += u64::from(u16::from_ne_bytes([pair[0], pair[1]]));
    }
    if let [last] = pairs.remainder() {
        sum += u64::from(u16::from_ne_bytes([*last, 0]));
    }
    sum
}

/// The sum as 2 bytes, not yet inverted.
pub(super) fn fold(mut sum: u64) -> [u8; 2] {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (sum as u16).to_ne_bytes()
}

/// The sum as 2 bytes, inverted: what stands in a header.
pub(super) fn finish(sum: u64) -> [u8; 2] {
    fold(sum).map(|byte| !byte)
}

/// The sum over the addresses, the protocol and the length of what follows the IP header.
pub(super) fn pseudo(packet: &[u8], protocol: u8, length: usize) -> u64 {
    let addresses = if packet[0] >> 4 == 4 {
        &packet[12..20]
    } else {
        &packet[8..40]
    };
    let sum = add(0, addresses);
    add(add(sum, &[0, protocol]), &(length as u32).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(bytes: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for pair in bytes.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    proptest! {
        #[test]
        fn the_fast_sum_is_the_plain_one(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(finish(add(0, &bytes)), naive(&bytes).to_be_bytes());
        }
    }
}
