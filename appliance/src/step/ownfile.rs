//! The node's settings file: the agent owns `name`, `bootstrap` and `owner.key`, and leaves the
//! rest alone.

use crate::config::Config;
use toml::{Table, Value};

/// The file as it is to be, or `None` if it is so already. A file that is no TOML would keep the
/// node from starting: it is written anew.
pub(super) fn wanted(present: Option<&[u8]>, config: &Config) -> Option<String> {
    let text = present.map(|bytes| std::str::from_utf8(bytes).unwrap_or("="));
    let before: Option<Table> = match text {
        None => Some(Table::new()),
        Some(text) => text.parse().ok(),
    };
    let mut after = before.clone().unwrap_or_default();
    let name = config.name.clone().map(Value::from);
    let bootstrap = (!config.bootstrap.is_empty()).then(|| Value::from(config.bootstrap.clone()));
    for (key, value) in [("name", name), ("bootstrap", bootstrap)] {
        match value {
            Some(value) => after.insert(key.to_owned(), value),
            None => after.remove(key),
        };
    }
    set_owner(&mut after, config.owner.as_deref());
    (before.as_ref() != Some(&after)).then(|| after.to_string())
}

/// Sets or removes `owner.key`. Without one, nobody controls the node from afar.
fn set_owner(file: &mut Table, owner: Option<&str>) {
    let mut table = match file.remove("owner") {
        Some(Value::Table(table)) => table,
        _ => Table::new(),
    };
    match owner {
        Some(key) => table.insert("key".to_owned(), Value::from(key)),
        None => table.remove("key"),
    };
    if !table.is_empty() {
        file.insert("owner".to_owned(), Value::Table(table));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_the_agents_keys_change() {
        let named = config("name = \"bay\"");
        let before = b"log = \"info\"\nname = \"old\"\nbootstrap = []\ncluster.port = 7\n";
        let after = wanted(Some(before), &named).unwrap();
        let table: Table = after.parse().unwrap();
        assert_eq!(table["name"].as_str(), Some("bay"));
        assert_eq!(table["cluster"]["port"].as_integer(), Some(7));
        assert!(table.contains_key("log") && !table.contains_key("bootstrap"));
        assert_eq!(wanted(Some(after.as_bytes()), &named), None);
    }

    #[test]
    fn the_owner_is_the_one_of_the_settings_and_nobody_else() {
        let key = "0a".repeat(32);
        let owned = config(&format!("owner = \"{key}\""));
        let before = b"owner.key = \"other\"\nowner.agent = \"x\"\n";
        let after = wanted(Some(before), &owned).unwrap();
        let table: Table = after.parse().unwrap();
        assert_eq!(table["owner"]["key"].as_str(), Some(key.as_str()));
        assert_eq!(table["owner"]["agent"].as_str(), Some("x"));
        assert_eq!(wanted(Some(after.as_bytes()), &owned), None);
        let after = wanted(Some(after.as_bytes()), &Config::default()).unwrap();
        assert_eq!(after, "[owner]\nagent = \"x\"\n");
        let after = wanted(Some(b"owner = 7"), &owned).unwrap();
        assert!(after.contains(&key));
        assert_eq!(
            wanted(Some(b"owner.key = \"x\""), &Config::default()).as_deref(),
            Some("")
        );
    }

    #[test]
    fn no_file_is_made_for_nothing_and_a_broken_one_is_mended() {
        assert_eq!(wanted(None, &Config::default()), None);
        for broken in [&b"name ="[..], b"\xff"] {
            let after = wanted(Some(broken), &config("name = \"a\"")).unwrap();
            assert_eq!(after, "name = \"a\"\n");
            assert!(wanted(Some(broken), &Config::default()).is_some());
        }
    }
}
