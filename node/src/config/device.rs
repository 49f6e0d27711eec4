//! The setting `cluster.device`: what jobs' devices in their leases' networks are.

use super::read::text;
use crate::executor::Link;
use toml::Value;

/// A kind of device; `None` for the best that this machine has.
pub(super) fn link(value: &Value) -> Result<Option<Link>, String> {
    let word = text(value)?;
    let named = Link::ALL.into_iter().find(|link| link.to_string() == word);
    match word.as_str() {
        "auto" => Ok(None),
        _ if named.is_some() => Ok(named),
        other => Err(format!("`{other}` is none of auto, tun, veth")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_or_left_to_the_node() {
        let of = |word: &str| link(&Value::String(word.to_owned()));
        assert_eq!(of("auto"), Ok(None));
        assert_eq!(of("tun"), Ok(Some(Link::Tun)));
        assert_eq!(of("veth"), Ok(Some(Link::Veth)));
        assert!(of("tap").unwrap_err().contains("veth"));
        assert!(link(&Value::Integer(1)).is_err());
    }
}
