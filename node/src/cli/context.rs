//! The common context of commands: the data folder, the settings, the form of the output.

use super::error::{CliError, During as _};
use super::exit::Exit;
use crate::api::client::Client;
use crate::config::{Config, Home, Sources};
use crate::ui::{self, Layout};
use clap::ValueEnum;
use gridbay_protocol::genesis::Genesis;
use serde::Serialize;
use std::fs;
use std::future::Future;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two looks at what is watched.
const AGAIN: Duration = Duration::from_secs(2);
/// Makes a terminal empty.
const EMPTY: &[u8] = b"\x1b[H\x1b[2J";

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people; tables fit into the terminal.
    #[default]
    Table,
    /// For people; tables are as wide as they are.
    Wide,
    /// Tables as values separated by commas; of what is no table, names and values.
    Csv,
    /// For programs: one JSON value on standard output.
    Json,
}

impl Format {
    /// Whether it is text, which people read.
    pub fn is_text(self) -> bool {
        self != Format::Json
    }
}

/// Options of every command.
#[derive(Clone, Debug, clap::Args)]
pub struct Global {
    /// The node's data folder [default: ~/.gridbay]
    #[arg(long, global = true, env = "GRIDBAY_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Form of the output
    #[arg(
        short = 'o',
        long = "format",
        global = true,
        value_enum,
        default_value = "table"
    )]
    pub format: Format,
    /// Of tables print the first column alone, without headings: the ids
    #[arg(short = 'q', long, global = true, conflicts_with = "format")]
    pub quiet: bool,
    /// A setting for this command, over file and environment; see `config show`
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// A command's surroundings.
#[derive(Clone, Debug)]
pub struct Context {
    /// Data folder.
    pub home: Home,
    /// Form of the output.
    pub format: Format,
    pub(super) sources: Sources,
}

impl Context {
    /// From the global options.
    pub fn new(global: Global) -> Result<Context, CliError> {
        let data = global.data.or_else(Home::default_path).ok_or_else(|| {
            CliError::new(
                Exit::USAGE,
                "no data folder",
                "neither --data, GRIDBAY_DATA nor HOME is set",
                "name a folder with --data",
            )
        })?;
        let layout = match (global.quiet, global.format) {
            (true, _) => Layout::Ids,
            (false, Format::Table) => Layout::of_terminal(),
            (false, Format::Csv) => Layout::Csv,
            (false, Format::Wide | Format::Json) => Layout::Whole,
        };
        layout.choose();
        Ok(Context {
            home: Home::new(data),
            format: global.format,
            sources: Sources::of_process(global.set),
        })
    }
    /// The checked configuration.
    pub fn config(&self) -> Result<Config, CliError> {
        Config::load(self.home.clone(), &self.sources).during("the settings cannot be used")
    }
    /// A client of the node of this folder.
    pub fn client(&self) -> Result<Client, CliError> {
        Ok(Client::new(self.config()?.api.socket))
    }
    /// Runs a command that talks to the node.
    pub fn wait<T>(&self, work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                CliError::new(
                    Exit::FAILED,
                    "the command did not start",
                    error.to_string(),
                    "free memory or file handles",
                )
            })?;
        runtime.block_on(work)
    }
    /// Shows a result in the form asked for.
    pub fn show<T: Serialize>(
        &self,
        value: &T,
        table: impl FnOnce(&T) -> String,
    ) -> Result<(), CliError> {
        let text = match self.format {
            Format::Table | Format::Wide | Format::Csv => table(value),
            Format::Json => {
                let json = serde_json::to_string_pretty(value).map_err(|error| {
                    CliError::fault("the result has no JSON form", error.to_string())
                })?;
                format!("{}\n", ui::seen_json(&json))
            }
        };
        Ok(ui::out(text.as_bytes())?)
    }
    /// Shows a result that is no list: as records of names and values where values between commas
    /// are asked for, and not at all where ids are.
    pub fn tell<T: Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), CliError> {
        self.show(value, |value| match Layout::chosen() {
            Layout::Within(_) | Layout::Whole => text(value),
            Layout::Ids => String::new(),
            // What has a form for programs has names in it.
            Layout::Csv => serde_json::to_value(value)
                .map(|value| ui::csv::named(&value))
                .unwrap_or_default(),
        })
    }
    /// Shows something once, or again and again until it is interrupted: on a terminal in place of
    /// what was there.
    pub(super) async fn shown(
        &self,
        again: bool,
        mut show: impl AsyncFnMut() -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        loop {
            if again && std::io::stdout().is_terminal() {
                ui::out(EMPTY)?;
            }
            show().await?;
            if !again {
                return Ok(());
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
    /// The genesis of the network: of a file, or of this data folder.
    pub fn genesis(&self, file: Option<&Path>) -> Result<Genesis, CliError> {
        let place = self.home.genesis();
        read_genesis(file.unwrap_or(&place))
    }
}

/// Reads and checks a genesis file.
pub(super) fn read_genesis(path: &Path) -> Result<Genesis, CliError> {
    let what = "the genesis cannot be read";
    let shown = path.display();
    let bytes = fs::read(path).map_err(|error| {
        let next = "join a network first, or name the file with --genesis";
        CliError::new(Exit::NOT_FOUND, what, format!("{shown}: {error}"), next)
    })?;
    decode_genesis(&bytes, path)
}

/// The genesis that a file holds.
pub(super) fn decode_genesis(bytes: &[u8], path: &Path) -> Result<Genesis, CliError> {
    let what = "the genesis cannot be read";
    Genesis::decode(bytes).map_err(|error| {
        let why = format!("{}: {}", path.display(), super::error::chain(&error));
        CliError::new(Exit::REFUSED, what, why, "ask a member for the file")
    })
}
