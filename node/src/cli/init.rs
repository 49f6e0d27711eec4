//! `init`: from a few answers to a folder that is ready for `node up`, as a member of a network or
//! as one of its founders.
//!
//! On a terminal it asks for options that are missing. The settings file comes last:
//! a folder that could not join has none, and one that has one keeps it.

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::join::JoinArgs;
use super::member::MemberArgs;
use crate::config::{self, Home, parse};
use crate::keys::private_folder;
use crate::ui;
use clap::Args;
use gridbay_protocol::class::name_is_valid;
use gridbay_protocol::units::Credits;
use std::fs::File;
use std::io::{self, BufRead, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

const WHAT: &str = "the folder was not made ready";
/// Wrong answers to one question at the most.
const TRIES: u32 = 5;
/// Stands for standard input.
const STDIN: &str = "-";

/// Make this folder a node of a network: ask what is needed, and write its settings
///
/// On a terminal it asks for options that are missing.
#[derive(Clone, Debug, Args)]
pub(super) struct InitArgs {
    /// Name of the node, or of the institution that founds
    #[arg(long)]
    name: Option<String>,
    /// Join: a file or disk image that holds an invitation, or a genesis file; - reads standard
    /// input
    #[arg(long, value_name = "PATH", conflicts_with = "address")]
    join: Option<PathBuf>,
    /// Found: an address at which others reach this node, as in /ip4/192.0.2.7/udp/7411/quic-v1
    #[arg(long, value_name = "MULTIADDR", value_parser = address)]
    address: Vec<String>,
    /// Found: credits that it starts with [default: as the bank says, or 1000]
    #[arg(long, value_name = "CREDITS", requires = "address", value_parser = parse::credits)]
    endowment: Option<Credits>,
}

/// The part of a folder in a network.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// A member, by an invitation, or a founder with the genesis that was put together.
    Joins(PathBuf),
    /// A founder, who describes itself.
    Founds {
        addresses: Vec<String>,
        endowment: Option<Credits>,
    },
}

impl InitArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        if self.join.is_none() && self.address.is_empty() {
            refuse_node(&at.home)?;
        }
        let stdin = io::stdin();
        let answers = stdin.is_terminal().then(|| stdin.lock());
        let (name, part) = self.decided(&mut Asker(answers), &host())?;
        private_folder(at.home.path()).during(WHAT)?;
        match part {
            Part::Joins(file) => {
                let join = JoinArgs {
                    file: Some(file),
                    with: None,
                };
                join.run(at)?;
            }
            Part::Founds {
                addresses,
                endowment,
            } => describe(at, &name, addresses, endowment)?,
        }
        settle(&at.home, &name)
    }

    /// Its options, and answers for what they do not say.
    fn decided<R: BufRead>(
        self,
        asker: &mut Asker<R>,
        host: &str,
    ) -> Result<(String, Part), CliError> {
        let name = match self.name {
            Some(name) => name,
            None => asker.ask("--name", "name of this node", Some(host), named)?,
        };
        if let Some(file) = self.join {
            return Ok((name, Part::Joins(file)));
        }
        let mut addresses = self.address;
        if addresses.is_empty() {
            let question = "join a network by an invitation, or found one? (join or found)";
            if asker.ask("--join or --address", question, None, joins)? {
                let question = "file with the invitation, or - to paste it";
                let file = asker.ask("--join", question, None, file)?;
                return Ok((name, Part::Joins(file)));
            }
            let question = "address at which others reach it, as in /ip4/192.0.2.7/tcp/7411";
            addresses.push(asker.ask("--address", question, None, address)?);
        }
        let part = Part::Founds {
            addresses,
            endowment: self.endowment,
        };
        Ok((name, part))
    }
}

/// A folder of a network needs no answers: nothing of it would change.
fn refuse_node(home: &Home) -> Result<(), CliError> {
    if !home.genesis().exists() && !home.invitation().exists() {
        return Ok(());
    }
    let folder = home.path().display();
    let why = format!("{folder} is a node already");
    let next = format!(
        "start it: gridbay --data {folder} node up; for another node name another folder with --data"
    );
    Err(CliError::new(Exit::REFUSED, WHAT, why, next))
}

/// Writes a founder's description beside its keys, and says what comes next.
fn describe(
    at: &Context,
    name: &str,
    addresses: Vec<String>,
    endowment: Option<Credits>,
) -> Result<(), CliError> {
    let file = at.home.path().join("member.json");
    let member = MemberArgs {
        name: name.to_owned(),
        addresses,
        endowment,
        credit_line: Credits::ZERO,
        weight: 1,
        power: 1,
        no_validator: false,
        out: Some(file.clone()),
    };
    member.run(at)?;
    let (file, folder) = (file.display(), at.home.path().display());
    ui::note(&format!("{file} describes {name}, without a secret"));
    ui::note("one founder puts all descriptions together: gridbay found --member FILE...");
    ui::note(&format!(
        "each takes the genesis: gridbay --data {folder} join --file genesis.cbor"
    ));
    Ok(())
}

/// Writes the settings with their purposes, unless there are some.
fn settle(home: &Home, name: &str) -> Result<(), CliError> {
    let path = home.config_file();
    let written = File::create_new(&path)
        .and_then(|mut file| file.write_all(config::named(home, name).as_bytes()));
    match written {
        Ok(()) => ui::note(&format!("{} has the settings", path.display())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            ui::note(&format!("{} was there and stays as it is", path.display()));
        }
        Err(error) => {
            let why = format!("{}: {error}", path.display());
            return Err(CliError::new(
                Exit::FAILED,
                WHAT,
                why,
                "see to the disk, try again",
            ));
        }
    }
    let folder = home.path().display();
    ui::note(&format!("start it: gridbay --data {folder} node up"));
    Ok(())
}

/// Somebody who answers, or nobody.
struct Asker<R>(Option<R>);

impl<R: BufRead> Asker<R> {
    /// Asks until an answer is one; nothing stands for the default. Without anybody it is the
    /// default, and without that a mistake of the command.
    fn ask<T>(
        &mut self,
        option: &str,
        question: &str,
        default: Option<&str>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, CliError> {
        let wrong = |why: String, next: &str| CliError::new(Exit::USAGE, WHAT, why, next);
        let Some(answers) = &mut self.0 else {
            let default = default.ok_or_else(|| {
                let why = format!("{option} is not given, and standard input is no terminal");
                wrong(why, "give it; see gridbay init --help")
            })?;
            return read(default).map_err(|why| wrong(why, "see gridbay init --help"));
        };
        for _ in 0..TRIES {
            let shown = default.map_or(String::new(), |default| format!(" [{default}]"));
            ui::err(format!("{question}{shown}: ").as_bytes())?;
            let mut line = String::new();
            let bytes = answers.read_line(&mut line).map_err(|error| {
                CliError::new(Exit::FAILED, WHAT, error.to_string(), "try again")
            })?;
            if bytes == 0 {
                let why = "the answers ended".to_owned();
                return Err(CliError::new(
                    Exit::INTERRUPTED,
                    WHAT,
                    why,
                    "answer by options instead, see gridbay init --help",
                ));
            }
            let given = Some(line.trim()).filter(|line| !line.is_empty());
            match read(given.or(default).unwrap_or("")) {
                Ok(answer) => return Ok(answer),
                Err(why) => ui::note(&format!("{why}; once more")),
            }
        }
        Err(wrong(
            format!("{TRIES} answers were wrong"),
            "see gridbay init --help",
        ))
    }
}

fn named(text: &str) -> Result<String, String> {
    match name_is_valid(text) {
        true => Ok(text.to_owned()),
        false => Err("want 1 to 64 letters without spaces".to_owned()),
    }
}

fn joins(text: &str) -> Result<bool, String> {
    match text {
        "join" | "j" => Ok(true),
        "found" | "f" => Ok(false),
        _ => Err("want join or found".to_owned()),
    }
}

fn file(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    match text == STDIN || path.is_file() {
        true => Ok(path.to_owned()),
        false => Err(format!("there is no file `{text}`")),
    }
}

fn address(text: &str) -> Result<String, String> {
    parse::address(text).map(|_| text.to_owned())
}

/// This machine's name.
fn host() -> String {
    let name = nix::unistd::gethostname().ok();
    let name = name.and_then(|name| name.into_string().ok());
    name.filter(|name| named(name).is_ok())
        .unwrap_or_else(|| "node".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        init: InitArgs,
    }

    fn decided(words: &[&str], answers: Option<&str>) -> Result<(String, Part), CliError> {
        let words = std::iter::once(&"init").chain(words);
        let init = Line::try_parse_from(words).unwrap().init;
        init.decided(&mut Asker(answers.map(str::as_bytes)), "host")
    }

    #[test]
    fn answers_say_what_options_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let token = dir.path().join("invitation");
        std::fs::write(&token, "x").unwrap();
        let token = token.to_str().unwrap();
        let joins = |name: &str| (name.to_owned(), Part::Joins(token.into()));
        let answers = format!("\nperhaps\njoin\nno-such-file\n{token}\n");
        assert_eq!(decided(&[], Some(&answers)).unwrap(), joins("host"));
        let words = ["--name", "ada", "--join", token];
        assert_eq!(decided(&words, None).unwrap(), joins("ada"));
        assert_eq!(decided(&words[2..], None).unwrap(), joins("host"));
        let here = "/ip4/192.0.2.7/tcp/7411";
        let founds = |endowment: Option<&str>| {
            let endowment = endowment.map(|credits| credits.parse().unwrap());
            let addresses = vec![here.to_owned()];
            let part = Part::Founds {
                addresses,
                endowment,
            };
            ("ada".to_owned(), part)
        };
        let answers = format!("ada\nfound\nnowhere\n{here}\n");
        assert_eq!(decided(&[], Some(&answers)).unwrap(), founds(None));
        let words = ["--name", "ada", "--address", here, "--endowment", "5"];
        assert_eq!(decided(&words, None).unwrap(), founds(Some("5")));
    }

    #[test]
    fn without_anybody_to_ask_the_missing_option_is_named() {
        let error = decided(&[], None).unwrap_err();
        assert_eq!(error.exit, Exit::USAGE);
        assert!(
            error.why.starts_with("--join or --address is not given"),
            "{error}"
        );
        let ended = decided(&["--name", "a"], Some("")).unwrap_err();
        assert_eq!(
            (ended.exit, ended.why.as_str()),
            (Exit::INTERRUPTED, "the answers ended")
        );
        let wrong = decided(&["--name", "a"], Some(&"x\n".repeat(9))).unwrap_err();
        assert!(wrong.why.contains("5 answers were wrong"), "{wrong}");
    }

    #[test]
    fn a_folder_of_a_network_is_told_from_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        settle(&home, "ada").unwrap();
        assert!(refuse_node(&home).is_ok(), "it has settings alone");
        std::fs::write(home.genesis(), "x").unwrap();
        let refused = refuse_node(&home).unwrap_err();
        assert!(refused.why.ends_with(" is a node already"), "{refused}");
        assert!(refused.next.contains("node up"), "{refused}");
    }

    #[test]
    fn settings_that_are_there_stay() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        settle(&home, "ada").unwrap();
        let first = std::fs::read_to_string(home.config_file()).unwrap();
        assert!(first.contains("\nname = \"ada\"\n") && first.contains("\n#listen = "));
        settle(&home, "bob").unwrap();
        assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), first);
    }
}
