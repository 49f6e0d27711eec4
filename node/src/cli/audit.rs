//! `audit`: who changed what on this node, from the files in its data folder, whether it runs or
//! not.

use super::context::Context;
use super::error::CliError;
use super::exit::Exit;
use super::moment::Moment;
use super::text;
use crate::audit::{Break, Line, Who, read_log};
use crate::ui::{self, Table};
use clap::Args;
use serde::Serialize;

/// Show who changed what on this node, and whether the log of that is whole
#[derive(Clone, Debug, Args)]
pub(super) struct AuditArgs {
    /// From when on: a day or a minute in UTC, as in 2026-01-31 or 2026-01-31T12:30, or how long
    /// ago, as in 30d [default: all that is kept]
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
}

/// What `audit` tells programs.
#[derive(Debug, Serialize)]
struct Told {
    /// Its lines, up to where it is broken.
    lines: Vec<Line>,
    /// Where it stops being whole, in words.
    broken: Option<String>,
}

impl AuditArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        let what = "the audit log cannot be read";
        let since = self.since.map_or(0, Moment::ms);
        let read = read_log(at.home.path(), since).map_err(|error| {
            let next = "read it as the user who runs the node";
            CliError::new(Exit::FAILED, what, error.to_string(), next)
        })?;
        let read = read.ok_or_else(|| {
            let why = format!("no node has run in {}", at.home.path().display());
            CliError::new(Exit::NOT_FOUND, what, why, "name its folder with --data")
        })?;
        let told = Told {
            lines: read.lines,
            broken: read.broken.as_ref().map(in_words),
        };
        at.show(&told, |told| page(&told.lines))?;
        match told.broken {
            None => Ok(Exit::OK),
            Some(broken) => {
                if at.format.is_text() {
                    ui::note(&broken);
                }
                Ok(Exit::FAILED)
            }
        }
    }
}

fn in_words(broken: &Break) -> String {
    match broken {
        Break::Changed(after) => {
            format!("the log is broken: what follows line {after} is no line of the node's")
        }
        Break::Gap(after) => {
            format!("the log is broken: what follows line {after} does not belong there")
        }
        Break::End(after, last) => {
            format!("the log is broken: it ends with line {after}, and there was a line {last}")
        }
    }
}

fn page(lines: &[Line]) -> String {
    Table::of(
        lines,
        &[
            (">LINE", &|l| l.seq.to_string()),
            ("TIME", &|l| text::zoned(l.time_ms)),
            ("WHO", &|l| who(&l.who)),
            ("OUTCOME", &|l| {
                format!("{:?}", l.outcome).to_ascii_lowercase()
            }),
            ("WHAT", &|l| l.place.clone().unwrap_or_default() + &after(l)),
        ],
    )
}

/// The action, behind its address where that says more; and the fields that are told of it.
fn after(line: &Line) -> String {
    let what = match &line.place {
        None => line.what.clone(),
        Some(_) => format!(" ({})", line.what),
    };
    let fields = line.detail.iter();
    let fields: String = fields.map(|(k, v)| format!(" {k}={v}")).collect();
    what + &fields
}

fn who(who: &Who) -> String {
    match who {
        Who::Socket { uid, pid } => match pid {
            Some(pid) => format!("user {uid} by process {pid}"),
            None => format!("user {uid}"),
        },
        Who::Token { name, scope } => match (name, scope) {
            (Some(name), Some(scope)) => format!("token {name} ({scope})"),
            (None, Some(_)) => "api.token".to_owned(),
            _ => "token".to_owned(),
        },
        Who::User { user } => format!("{user} of a project"),
        Who::Session { session, scope } => format!("session {session} ({scope})"),
        Who::Owner { node } => format!("owner at {node}"),
        Who::Node => "node".to_owned(),
    }
}
