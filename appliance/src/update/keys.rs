//! Keys of updates: whom an image trusts, and with what a builder signs.
//!
//! 1. An image trusts the public keys in `/usr/lib/gridbay/update-keys`: 64 hex digits a line.
//!    Empty lines and those that begin with a number sign are passed over; any other line makes the
//!    whole list unusable, since a list that is half understood trusts somebody by chance.
//! 2. A builder's secret key is a file with 64 hex digits in one line, which nobody else may read.
//! 3. Signatures are checked strictly, and a weak key is none.

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

/// Most keys of an image.
const MANY: usize = 16;

/// Why a file of keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A line is no public key.
    #[error("line {line} of the update keys is no key of 64 hex digits")]
    Line {
        /// Line, from 1 on.
        line: usize,
    },
    /// There are too many.
    #[error("there are more than {MANY} update keys")]
    Many,
    /// It is no secret key.
    #[error("it is no secret key of 64 hex digits; gridbay-appliance new-key FILE makes one")]
    Secret,
}

/// The keys that an image trusts.
pub fn trusted(text: &[u8]) -> Result<Vec<VerifyingKey>, KeyError> {
    let mut keys = Vec::new();
    for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        keys.push(public(line).ok_or(KeyError::Line { line: number })?);
        if keys.len() > MANY {
            return Err(KeyError::Many);
        }
    }
    Ok(keys)
}

fn public(line: &[u8]) -> Option<VerifyingKey> {
    let bytes: [u8; 32] = HEXLOWER.decode(line).ok()?.try_into().ok()?;
    let key = VerifyingKey::from_bytes(&bytes).ok()?;
    (!key.is_weak()).then_some(key)
}

/// A builder's key, from its file's text.
pub fn secret(text: &[u8]) -> Result<SigningKey, KeyError> {
    let bytes = HEXLOWER.decode(text.trim_ascii_end());
    let seed: Option<[u8; 32]> = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    seed.map(|seed| SigningKey::from_bytes(&seed))
        .ok_or(KeyError::Secret)
}

/// The text of a key's file.
pub fn secret_text(key: &SigningKey) -> String {
    format!("{}\n", HEXLOWER.encode(key.as_bytes()))
}

/// The public half, as an image has it.
pub fn public_text(key: &SigningKey) -> String {
    HEXLOWER.encode(key.verifying_key().as_bytes())
}

/// A signature in hex.
pub fn sign(key: &SigningKey, text: &[u8]) -> String {
    HEXLOWER.encode(&key.sign(text).to_bytes())
}

/// Whether one of these keys signed a text.
pub fn is_signed(keys: &[VerifyingKey], text: &[u8], signature: &str) -> bool {
    let bytes = HEXLOWER.decode(signature.as_bytes());
    let bytes: Option<[u8; 64]> = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    let signature = bytes.map(|bytes| Signature::from_bytes(&bytes));
    signature.is_some_and(|signature| {
        keys.iter()
            .any(|key| key.verify_strict(text, &signature).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_strictly() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let public = public_text(&key);
        let list = format!("# ours\n\n {public} \r\n");
        assert_eq!(trusted(list.as_bytes()), Ok(vec![key.verifying_key()]));
        assert_eq!(trusted(b""), Ok(Vec::new()));
        let weak = format!("01{}", "0".repeat(62));
        for bad in ["zz", &public[1..], &public.to_uppercase(), &weak, "\u{0}"] {
            let list = format!("{public}\n{bad}");
            assert_eq!(trusted(list.as_bytes()), Err(KeyError::Line { line: 2 }));
        }
        let many = format!("{public}\n").repeat(MANY + 1);
        assert_eq!(trusted(many.as_bytes()), Err(KeyError::Many));
        let text = secret_text(&key);
        assert_eq!(secret(text.as_bytes()).unwrap().as_bytes(), &[7; 32]);
        for bad in ["", "07", &text[1..], "x"] {
            assert_eq!(secret(bad.as_bytes()).unwrap_err(), KeyError::Secret);
        }
    }

    #[test]
    fn a_signature_is_of_one_key_and_one_text() {
        let (own, other) = ([1; 32], [2; 32]);
        let keys = [SigningKey::from_bytes(&own).verifying_key()];
        let by = |seed: &[u8; 32]| sign(&SigningKey::from_bytes(seed), b"text");
        assert!(is_signed(&keys, b"text", &by(&own)));
        assert!(!is_signed(&keys, b"text", &by(&other)));
        assert!(!is_signed(&keys, b"texT", &by(&own)));
        assert!(!is_signed(&[], b"text", &by(&own)));
        assert!(!is_signed(&keys, b"text", &by(&own)[2..]));
    }
}
