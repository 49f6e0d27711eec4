//! `offer set --mechanism share`: how a pool is shared.

use crate::config::parse;
use clap::Args;
use gridbay_protocol::mechanism::share::SIXTEENTHS_MAX;
use gridbay_protocol::offer::PoolTerms;

/// Options of a pool.
#[derive(Clone, Debug, Args)]
pub(super) struct PoolArgs {
    /// Under share: the most of a pool that one sponsor's users may hold, 0 to 1
    #[arg(long, value_name = "PART", default_value = "0.5", value_parser = cap)]
    cap: u32,
    /// Under share: how much more a larger budget gets, in sixteenths: 0/16 equal shares, 16/16 in
    /// proportion to budgets
    #[arg(long, value_name = "N/16", default_value = "8/16", value_parser = alpha)]
    alpha: u32,
}

impl PoolArgs {
    /// As terms of an offer.
    pub(super) fn terms(&self) -> PoolTerms {
        PoolTerms {
            cap_ppm: self.cap,
            sixteenths: self.alpha,
        }
    }
}

/// A part of one in millionths: `0.5`, `1`.
fn cap(text: &str) -> Result<u32, String> {
    match parse::part(text)? {
        0 => Err(format!("`{text}` is no part of a pool: write 0.5")),
        ppm => Ok(ppm),
    }
}

fn alpha(text: &str) -> Result<u32, String> {
    let wrong = || format!("`{text}` is no exponent: write 8/16");
    let sixteenths = text.strip_suffix("/16").and_then(|n| n.parse().ok());
    let in_range = sixteenths.filter(|n| *n <= SIXTEENTHS_MAX);
    in_range.ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_and_exponents() {
        assert_eq!((cap("0.5"), cap("1")), (Ok(500_000), Ok(1_000_000)));
        assert_eq!((alpha("8/16"), alpha("16/16")), (Ok(8), Ok(16)));
        for bad in ["0", "1.1", "", "half", "-0.5"] {
            assert!(cap(bad).is_err(), "{bad}");
        }
        for bad in ["17/16", "8", "1/2", "", "x/16"] {
            assert!(alpha(bad).is_err(), "{bad}");
        }
    }
}
