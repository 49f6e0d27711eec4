//! The setting `jobs.outbound`: how far jobs that ask for it get out of this machine.

use super::read::text;
use crate::executor::Outbound;
use toml::Value;

/// A policy by its word.
pub(super) fn policy(value: &Value) -> Result<Outbound, String> {
    let word = text(value)?;
    let mut all = Outbound::ALL.into_iter();
    all.find(|policy| policy.to_string() == word)
        .ok_or_else(|| format!("`{word}` is neither none nor web"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_named_and_nothing_else_is_one() {
        let of = |word: &str| policy(&Value::String(word.to_owned()));
        assert_eq!(of("none"), Ok(Outbound::None));
        assert_eq!(of("web"), Ok(Outbound::Web));
        for bad in ["", "all", "Web", "on"] {
            assert!(of(bad).unwrap_err().contains("web"), "{bad}");
        }
        assert!(policy(&Value::Boolean(true)).is_err());
    }
}
