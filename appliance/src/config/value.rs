//! Values that people write: amounts, sizes, names, tokens, addresses.

use crate::text::PREFIX;
use std::fmt;

/// Longest token taken. One that names sixteen nodes has about five thousand characters.
const TOKEN_CHARS: usize = 32 * 1024;
/// Longest name of a host.
const NAME_CHARS: usize = 63;
/// Longest name of a class.
const CLASS_CHARS: usize = 64;
/// Longest address.
const ADDRESS_CHARS: usize = 256;
const MICROS: u64 = 1_000_000;

/// The text of an invitation: a secret, which no debug output shows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token(String);

impl Token {
    /// A token as written, in any case: QR codes hold capitals.
    pub fn new(text: &str) -> Result<Token, String> {
        let text = text.trim().to_ascii_lowercase();
        let wrong = "want the text that gridbay invite prints: gridbay1, then letters and digits";
        let rest = text.strip_prefix(PREFIX).ok_or(wrong)?;
        if rest.is_empty() || !rest.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(wrong.to_owned());
        }
        if text.len() > TOKEN_CHARS {
            return Err(format!("it has more than {TOKEN_CHARS} characters"));
        }
        Ok(Token(text))
    }
    /// The secret itself.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// An amount of credits, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Credits(pub u64);

impl Credits {
    /// An amount as written: digits, at most six decimals.
    pub fn new(text: &str) -> Result<Credits, String> {
        let wrong = || "want credits per node-hour, as in \"2.5\"".to_owned();
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(rest) || rest.len() > 6 {
            return Err(wrong());
        }
        let whole: u64 = whole.parse().map_err(|_| wrong())?;
        let micros: u64 = format!("{rest:0<6}").parse().map_err(|_| wrong())?;
        let whole = whole.checked_mul(MICROS);
        let all = whole.and_then(|whole| whole.checked_add(micros));
        all.map(Credits).ok_or_else(wrong)
    }
    /// Whether two amounts are one but for rounding: the ledger keeps prices per slot.
    pub fn is_near(self, other: Credits) -> bool {
        self.0.abs_diff(other.0) <= (self.0 / 1_000).max(100)
    }
}

impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / MICROS, self.0 % MICROS);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let text = format!("{whole}.{rest:06}");
        f.write_str(text.trim_end_matches('0'))
    }
}

/// A size in MiB, as in `512MiB` or `4GiB`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let wrong = || "want a size, as in \"512MiB\" or \"4GiB\"".to_owned();
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (count, unit) = text.split_at(end.ok_or_else(wrong)?);
    let count: u64 = count.parse().map_err(|_| wrong())?;
    let factor = match unit.trim_start() {
        "MiB" => 1,
        "GiB" => 1 << 10,
        "TiB" => 1 << 20,
        _ => return Err(wrong()),
    };
    count.checked_mul(factor).ok_or_else(wrong)
}

/// The name of a host.
pub(super) fn host(text: &str) -> Result<String, String> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    let good = (1..=NAME_CHARS).contains(&text.len())
        && text.bytes().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-');
    match good {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "want 1 to {NAME_CHARS} letters, digits and hyphens, no hyphen at the ends"
        )),
    }
}

/// A key. Whether it is a point of its curve is for the node to say.
pub(super) fn key_digits(text: &str) -> Result<String, String> {
    let good = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    match good {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("want the 64 digits of a key".to_owned()),
    }
}

/// The name of a class. A leading hyphen would be an option of the command that gets it.
pub(super) fn class(text: &str) -> Result<String, String> {
    let good = (1..=CLASS_CHARS).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_graphic())
        && !text.starts_with('-');
    match good {
        true => Ok(text.to_owned()),
        false => Err("want the name of a class, see gridbay market prices".to_owned()),
    }
}

/// A node's address.
pub(super) fn address(text: &str) -> Result<String, String> {
    let good = text.len() <= ADDRESS_CHARS
        && text.starts_with('/')
        && text.bytes().all(|b| b.is_ascii_graphic())
        && text.contains("/p2p/");
    match good {
        true => Ok(text.to_owned()),
        false => {
            Err("want addresses such as \"/ip4/192.0.2.7/udp/7411/quic-v1/p2p/12D3...\"".to_owned())
        }
    }
}
