//! `user add|list|remove`: users of this node's projects.

use super::context::Context;
use super::error::{CliError, During as _};
use super::meant::Meant;
use super::text;
use crate::api::types::{NewUser, UserRecord, UserRequest};
use crate::ui::Table;
use clap::Subcommand;

/// Users of this node's projects, who reach it over HTTP.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum UserCommand {
    /// Make a user; the token is shown this once
    Add {
        /// The user's name
        name: String,
    },
    /// List the users
    List,
    /// Remove a user, also from all projects
    Remove {
        /// The user's name
        name: Meant,
    },
}

impl UserCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                UserCommand::Add { name } => {
                    let made = client.post("/users", &UserRequest { name }, None).await;
                    let made: NewUser = made.during("no user was made")?;
                    at.show(&made, |made| format!("{}\n", made.token))
                }
                UserCommand::List => {
                    let all = client.get("/users").await;
                    let all: Vec<UserRecord> = all.during("no list of users")?;
                    at.show(&all, |all| table(all))
                }
                UserCommand::Remove { name } => {
                    let gone = client.delete(&format!("/users/{name}")).await;
                    let gone: UserRecord = gone.during("no user was removed")?;
                    at.tell(&gone, |gone| {
                        format!("{} is no user any more, and of no project\n", gone.name)
                    })
                }
            }
        })
    }
}

fn table(all: &[UserRecord]) -> String {
    Table::of(
        all,
        &[
            ("NAME", &|user| user.name.clone()),
            ("MADE", &|user| text::ago(user.made_ms)),
            ("PROJECTS", &|user| user.projects.join(" ")),
        ],
    )
}
