//! Checksums of generated data: each rank writes its own range of numbers, one per line, and prints
//! their POSIX checksum and length (`cksum`). The checksum is computed here from its definition.

use super::Output;
use std::fmt::Write as _;

/// Numbers of one rank.
const NUMBERS: u32 = 50_000;

/// The job.
pub(super) const SCRIPT: &str = r#"# Prints checksum and length of this rank's range of numbers.
set -eu
first=$((GRIDBAY_RANK * 50000 + 1))
last=$(((GRIDBAY_RANK + 1) * 50000))
seq "$first" "$last" | cksum
"#;

/// Compares each rank's line with what it must be.
pub(super) fn judge(outputs: &[Output]) -> Result<String, String> {
    if outputs.is_empty() {
        return Err("no rank printed anything".to_owned());
    }
    for (rank, output) in (0_u32..).zip(outputs) {
        let expected = line(rank);
        let found = output.stdout.trim();
        if found != expected {
            return Err(format!("rank {rank}: `{found}` instead of `{expected}`"));
        }
    }
    Ok(format!("{} checksums", outputs.len()))
}

fn line(rank: u32) -> String {
    let mut data = String::new();
    for number in rank * NUMBERS + 1..=(rank + 1) * NUMBERS {
        let _ = writeln!(data, "{number}");
    }
    format!("{} {}", checksum(data.as_bytes()), data.len())
}

/// The checksum of `cksum`: the remainder of data and length by the polynomial 0x04C11DB7, most
/// significant bit first, complemented.
fn checksum(data: &[u8]) -> u32 {
    let mut crc = 0;
    let mut take = |byte: u8| {
        crc ^= u32::from(byte) << 24;
        for _ in 0..8 {
            let carry = crc >> 31;
            crc = (crc << 1) ^ (carry * 0x04C1_1DB7);
        }
    };
    data.iter().for_each(|byte| take(*byte));
    let mut length = data.len();
    while length > 0 {
        take((length & 0xff) as u8);
        length >>= 8;
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::super::{Work, run_here};
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // The check value of CRC-32/CKSUM is of the digits without the length that cksum appends.
        assert_eq!(checksum(b""), 4_294_967_295);
        assert_eq!(checksum(b"123456789"), 930_766_865);
    }

    #[test]
    fn the_script_prints_what_is_expected_here() {
        let outputs: Vec<Output> = (0..2).map(|r| run_here(Work::Hash, r, 2)).collect();
        assert_eq!(judge(&outputs), Ok("2 checksums".to_owned()));
        let swapped = [outputs[1].clone(), outputs[0].clone()];
        assert!(judge(&swapped).unwrap_err().starts_with("rank 0"));
        assert!(judge(&[]).is_err());
    }
}
