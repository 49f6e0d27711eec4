//! Who controls the node from afar: `owner.key`, `owner.agent`.

use super::read::{read, text};
use super::{ConfigError, RawConfig};
use gridbay_protocol::keys::PublicKey;
use std::path::PathBuf;
use toml::Value;

/// Who controls the node from afar, and who does beside it what it cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerConfig {
    /// Key of the owner's account; `None` for nobody.
    pub key: Option<PublicKey>,
    /// Folder in which the agent of an appliance tells its status.
    pub agent: PathBuf,
}

pub(super) fn check(raw: &RawConfig) -> Result<OwnerConfig, ConfigError> {
    Ok(OwnerConfig {
        key: read(raw, "owner.key", key)?,
        agent: read(raw, "owner.agent", text)?.into(),
    })
}

fn key(value: &Value) -> Result<Option<PublicKey>, String> {
    let word = text(value)?;
    match word.as_str() {
        "none" => Ok(None),
        word => word
            .parse()
            .map(Some)
            .map_err(|_| "want none, or what gridbay appliance key prints at the owner's".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    #[test]
    fn an_owner_is_a_key_or_nobody() {
        let of = |word: &str| key(&Value::String(word.to_owned()));
        let owner = SecretKey::from_seed(&[1; 32]).public();
        assert_eq!(of("none"), Ok(None));
        assert_eq!(of(&owner.to_hex()), Ok(Some(owner)));
        for bad in ["", "off", "00", &"0".repeat(64)] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
