//! Settings as written, with where each was written.
//!
//! Four layers, later ones win: default, file, environment, flag. A key that no setting has is
//! refused in the file and as a flag; in the environment it is passed over, because jobs are given
//! variables of the same prefix.

use super::home::Home;
use super::schema::{self, KEYS, Key};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use toml::{Table, Value};

/// The sources of settings besides the file.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// Values of `--set`: `key=value`.
    pub flags: Vec<String>,
}

impl Sources {
    /// The process's environment and some flags. Variables that are not Unicode are passed over.
    pub fn of_process(flags: Vec<String>) -> Sources {
        let env = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("GRIDBAY_"))
            .collect();
        Sources { env, flags }
    }
}

/// Why a configuration is refused.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("{}, line {line}: {problem}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1; 0 if unknown.
        line: usize,
        problem: String,
    },
    /// No setting has this name.
    #[error("no setting is called {name} ({origin})")]
    UnknownKey { name: String, origin: Origin },
    /// A flag that is not `key=value`.
    #[error("`{0}` is no key=value")]
    NotASetting(String),
    /// A value that cannot be used.
    #[error("{key} ({origin}): {problem}")]
    Value {
        key: &'static str,
        origin: Origin,
        problem: String,
    },
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The configuration file.
    File,
    /// An environment variable.
    Env,
    /// A flag of this command.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Origin::Default => "default",
            Origin::File => "file",
            Origin::Env => "env",
            Origin::Flag => "flag",
        })
    }
}

/// Every setting's value and origin, not yet checked.
#[derive(Clone, Debug)]
pub struct RawConfig(BTreeMap<&'static str, (Value, Origin)>);

impl RawConfig {
    /// Reads all layers.
    pub fn read(home: &Home, sources: &Sources) -> Result<RawConfig, ConfigError> {
        let mut raw = RawConfig(
            KEYS.iter()
                .map(|key| (key.name, (key.default(home), Origin::Default)))
                .collect(),
        );
        raw.read_file(home)?;
        for key in KEYS {
            if let Some(text) = sources.env.get(&key.variable()) {
                raw.set_text(key, text, Origin::Env)?;
            }
        }
        for setting in &sources.flags {
            let (name, text) = setting
                .split_once('=')
                .ok_or_else(|| ConfigError::NotASetting(setting.clone()))?;
            raw.set_text(known(name.trim(), Origin::Flag)?, text, Origin::Flag)?;
        }
        Ok(raw)
    }
    /// Value and origin of a key of the schema.
    pub fn get(&self, name: &'static str) -> (&Value, Origin) {
        let (value, origin) = self
            .0
            .get(name)
            .expect("every key of the schema has a value");
        (value, *origin)
    }

    fn read_file(&mut self, home: &Home) -> Result<(), ConfigError> {
        let path = home.config_file();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(ConfigError::Unreadable { path, source }),
        };
        let table: Table = toml::from_str(&text).map_err(|error| ConfigError::Syntax {
            line: error
                .span()
                .map_or(0, |at| 1 + text[..at.start].matches('\n').count()),
            problem: error.message().to_owned(),
            path,
        })?;
        for (name, value) in flatten(table) {
            let key = known(&name, Origin::File)?;
            self.0.insert(key.name, (value, Origin::File));
        }
        Ok(())
    }
    fn set_text(&mut self, key: &Key, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let value = key.read(text).map_err(|problem| ConfigError::Value {
            key: key.name,
            origin,
            problem,
        })?;
        self.0.insert(key.name, (value, origin));
        Ok(())
    }
}

fn known(name: &str, origin: Origin) -> Result<&'static Key, ConfigError> {
    schema::find(name).ok_or_else(|| ConfigError::UnknownKey {
        name: name.to_owned(),
        origin,
    })
}

/// Tables become dotted names, one level deep: no setting lies deeper. A setting that is a table
/// stays one.
fn flatten(table: Table) -> Vec<(String, Value)> {
    let mut flat = Vec::new();
    for (name, value) in table {
        match value {
            Value::Table(inner) if schema::find(&name).is_none() => flat.extend(
                inner
                    .into_iter()
                    .map(|(key, value)| (format!("{name}.{key}"), value)),
            ),
            value => flat.push((name, value)),
        }
    }
    flat
}
