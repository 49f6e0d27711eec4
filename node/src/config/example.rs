//! All settings as the file that an owner begins with.

use super::home::Home;
use super::schema::KEYS;

const HEAD: &str = "\
# Settings of a gridbay node. Each line without a space after its sign is a setting with its default;
# without the sign it is in force once the node starts again. `gridbay config show` tells which are.
";

/// Every setting with its purpose and its default, all of it in comments.
pub fn example(home: &Home) -> String {
    let about = |key: &super::schema::Key| {
        let default = key.default(home);
        format!("\n# {}\n#{} = {default}\n", key.help, key.name)
    };
    let settings: String = KEYS.iter().map(about).collect();
    format!("{HEAD}{settings}")
}

/// The same for a new node: its name is in force, and its web pages are on, on a free port.
pub fn named(home: &Home, name: &str) -> String {
    let set = [("name", name), ("api.listen", "127.0.0.1:0")];
    let line = |line: &str| {
        let is_of = |key: &str| line.strip_prefix('#').is_some_and(|l| l.starts_with(key));
        match set.iter().find(|(key, _)| is_of(&format!("{key} = "))) {
            Some((key, value)) => format!("{key} = {}\n", toml::Value::String((*value).to_owned())),
            None => format!("{line}\n"),
        }
    };
    example(home).lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Origin, Sources};

    #[test]
    fn a_name_is_in_force_whatever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        for name in ["ada", "a\"b\\c"] {
            std::fs::write(home.config_file(), named(&home, name)).unwrap();
            let config = Config::load(home.clone(), &Sources::default()).unwrap();
            assert_eq!(config.name, name);
            assert!(config.api.listen.is_some_and(|at| at.ip().is_loopback()));
        }
    }

    #[test]
    fn its_lines_are_the_defaults_and_are_accepted() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let defaults = Config::show(&home, &Sources::default()).unwrap();
        let text = example(&home);
        let is_setting = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
        let lines = text.lines().filter(is_setting).map(|line| &line[1..]);
        std::fs::write(home.config_file(), lines.collect::<Vec<_>>().join("\n")).unwrap();
        let read = Config::show(&home, &Sources::default()).unwrap();
        assert_eq!(read.len(), defaults.len());
        for (read, default) in read.iter().zip(&defaults) {
            assert_eq!(read.origin, Origin::File, "{}", read.key);
            assert_eq!(read.value, default.value, "{}", read.key);
        }
    }
}
