//! Whose settings count, and whether their invitation is one for this node: steps 4 to 6 and 8.

use super::ownfile;
use super::turn::{SHOWN, Turn, told};
use crate::action::{Action, Kind};
use crate::config::{Config, Files, Token};
use crate::node::NodeStatus;
use crate::seen::Source;
use crate::state::{Fault, State};
use crate::text::clean;

/// Settings that are in force.
pub(super) struct InForce {
    pub(super) config: Config,
    /// The files to keep once they are accepted; `None` if they are kept already.
    pub(super) new: Option<Files>,
}

impl<'a> Turn<'a> {
    pub(super) fn sources(&self) -> impl Iterator<Item = &'a Files> + use<'a> {
        let sources = self.seen.sources.iter();
        sources.filter_map(|source| source.files.as_ref().ok())
    }

    /// Step 4. An empty file is none. One that cannot be used is an error, but for a node that has
    /// settings already, if these do not wait for a better invitation.
    pub(super) fn settings(&mut self) -> Result<InForce, State> {
        let seen = self.seen;
        let says = |files: &&Files| {
            let invite = files.invite.as_deref();
            invite.is_some_and(|bytes| !bytes.trim_ascii().is_empty())
        };
        let given = self.sources().find(says);
        let kept = || match &seen.kept.invite {
            Some(bytes) => Config::parse(bytes).unwrap_or_default(),
            None => Config::default(),
        };
        let Some(files) = given else {
            return Ok(InForce {
                config: kept(),
                new: None,
            });
        };
        let bytes = files.invite.as_deref().unwrap_or_default();
        match Config::parse(bytes) {
            Ok(config) => {
                let mut files = files.clone();
                files.network = files.network.or_else(|| seen.kept.network.clone());
                let is_new = seen.kept != files;
                Ok(InForce {
                    config,
                    new: is_new.then_some(files),
                })
            }
            Err(error) => {
                let fault = Fault::new(error.to_string(), error.hint());
                let refused = |node: &NodeStatus| node.account.is_none() && node.joining.is_some();
                if !seen.folder.joined || seen.node.as_ref().is_some_and(refused) {
                    return Err(State::Error { fault });
                }
                self.notes.push(fault);
                self.accepted = false;
                Ok(InForce {
                    config: kept(),
                    new: None,
                })
            }
        }
    }

    /// Step 5, for a folder without a network.
    pub(super) fn join(&mut self, config: &Config) -> State {
        let Some(token) = &config.invitation else {
            return State::Waiting {
                how: waiting(&self.seen.sources),
            };
        };
        self.ask(Kind::Join, token.secret(), [Action::Join(token.clone())]);
        match self.memory.tries.failure(Kind::Join, token.secret()) {
            Some(failure) => State::Error {
                fault: told("the invitation was not taken", failure),
            },
            None => State::Joining {
                what: "takes the invitation and makes keys".to_owned(),
            },
        }
    }

    /// Steps 5 and 6, for a folder with a network: the settings to go by. A machine that is a
    /// member goes by files that hold its own invitation, which its owner has: anybody may make
    /// another one of the same network, or leave it out, and have the owner attach the disk.
    pub(super) fn admit(&mut self, in_force: InForce) -> Config {
        let InForce { config, new } = in_force;
        let own = config.invitation == self.seen.folder.invitation;
        if own || new.is_none() {
            self.keep(new);
            return config;
        }
        let node = self.seen.node.as_ref();
        let to_come = node.is_some_and(|node| node.account.is_none());
        let Some(token) = config.invitation.as_ref().filter(|_| to_come) else {
            self.accepted = false;
            self.notes.push(Fault::new(
                "the disk's settings are not used: they are not with the invitation by which this \
                 machine joined",
                "write that invitation into its invite.toml, or take the disk out; another \
                 network begins with a reset",
            ));
            return self.before();
        };
        if self.memory.admitted.as_ref() == Some(token) {
            self.keep(new);
            return config;
        }
        self.accepted = false;
        self.ask(Kind::Join, token.secret(), [Action::Join(token.clone())]);
        if let Some(failure) = self.memory.tries.failure(Kind::Join, token.secret()) {
            let why = clean(&failure.why, SHOWN);
            self.notes.push(Fault::new(
                format!("the disk's settings are not used: {why}"),
                "take that disk out; a move to another network begins with a reset",
            ));
        }
        self.before()
    }

    /// The settings accepted last.
    fn before(&self) -> Config {
        let kept = self.seen.kept.invite.as_deref();
        kept.and_then(|bytes| Config::parse(bytes).ok())
            .unwrap_or_default()
    }

    fn keep(&mut self, new: Option<Files>) {
        match new {
            None => self.memory.tries.settled(Kind::Keep),
            Some(files) => {
                let invite = files.invite.as_deref().unwrap_or_default();
                let subject = String::from_utf8_lossy(invite).into_owned();
                self.ask(Kind::Keep, &subject, [Action::Keep(files)]);
            }
        }
    }

    /// Steps 7 and 8: whether the node's files are as they should be.
    pub(super) fn prepare(&mut self, config: &Config) -> bool {
        let runs = self.seen.unit.active == "active";
        let restart = runs.then_some(Action::RestartNode);
        if let Some(text) = ownfile::wanted(self.seen.folder.settings.as_deref(), config) {
            let write = Action::WriteSettings(text.clone());
            self.ask(Kind::Settings, &text, [write].into_iter().chain(restart));
            return false;
        }
        self.memory.tries.settled(Kind::Settings);
        if let Some(token) = self.renewal(config) {
            let renew = Action::Renew(token.clone());
            self.ask(
                Kind::Renew,
                token.secret(),
                [renew].into_iter().chain(restart),
            );
        }
        true
    }

    /// The invitation that is to take the place of a refused one.
    fn renewal(&self, config: &Config) -> Option<Token> {
        let node = self.seen.node.as_ref()?;
        let refused = node.account.is_none() && node.joining.is_some();
        let token = config.invitation.as_ref()?;
        let is_new = self.seen.folder.invitation.as_ref() != Some(token);
        let judged = self.memory.admitted.as_ref() == Some(token);
        (refused && is_new && judged).then(|| token.clone())
    }
}

/// How to provide an invitation, and why the places that are there do not.
fn waiting(sources: &[Source]) -> Fault {
    let why = sources.iter().find_map(|source| match &source.files {
        Err(problem) => Some(format!("{}: {problem}", source.origin)),
        Ok(files) => files
            .invite
            .is_some()
            .then(|| format!("{}: its settings hold no invitation", source.origin)),
    });
    let reason = match why {
        Some(why) => format!("there is no invitation ({})", clean(&why, SHOWN)),
        None => "there is no invitation".to_owned(),
    };
    Fault::new(
        reason,
        "a member runs `gridbay invite --image invite.img`; attach that file as a disk, or put \
         invite.toml on a disk labelled GRIDBAY, or give the credential gridbay.invite",
    )
}
