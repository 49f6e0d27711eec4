//! `project create|list|show|set|remove|member`: what a group of users may spend.

use super::context::Context;
use super::error::{CliError, During as _};
use super::meant::Meant;
use super::text;
use crate::api::scope::Role;
use crate::api::types::{MemberRequest, ProjectLimits, ProjectRecord, ProjectRequest};
use crate::config::parse;
use crate::ui::Table;
use clap::{Args, Subcommand};
use gridbay_protocol::units::Credits;

/// Projects: what a group of users may spend and have at once.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ProjectCommand {
    /// Make a project
    Create {
        /// Its name
        name: String,
        #[command(flatten)]
        limits: Limits,
    },
    /// List the projects
    List,
    /// Show a project: bounds, use and members
    Show {
        /// Its name
        name: Meant,
    },
    /// Change bounds of a project; the others stay
    Set {
        /// Its name
        name: Meant,
        #[command(flatten)]
        limits: Limits,
    },
    /// Remove a project; its orders go on
    Remove {
        /// Its name
        name: Meant,
    },
    /// Admit users to a project, and dismiss them
    #[command(subcommand)]
    Member(MemberCommand),
}

/// Members of a project.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum MemberCommand {
    /// Give a user a role in a project
    Add {
        /// The project
        project: Meant,
        /// The user
        user: Meant,
        /// What the user may do: reader, member or manager
        #[arg(long, value_parser = Role::parse)]
        role: Role,
    },
    /// Take a user out of a project
    Remove {
        /// The project
        project: Meant,
        /// The user
        user: Meant,
    },
}

/// Bounds; `none` takes one away.
#[derive(Clone, Debug, Args)]
pub(super) struct Limits {
    /// Credits for the orders of a calendar month, UTC; none for no bound
    #[arg(long, value_name = "CREDITS", value_parser = bound::<Credits>)]
    budget: Option<Bound<Credits>>,
    /// Jobs at once; none for no bound
    #[arg(long, value_parser = bound::<u32>)]
    jobs: Option<Bound<u32>>,
    /// Nodes at once; none for no bound
    #[arg(long, value_parser = bound::<u32>)]
    nodes: Option<Bound<u32>>,
}

/// A bound, or none.
#[derive(Clone, Copy, Debug)]
struct Bound<T>(Option<T>);

/// A text that stands for a bound.
trait Parsed: Sized {
    fn parsed(text: &str) -> Result<Self, String>;
}

impl Parsed for Credits {
    fn parsed(text: &str) -> Result<Credits, String> {
        parse::credits(text)
    }
}

impl Parsed for u32 {
    fn parsed(text: &str) -> Result<u32, String> {
        text.parse()
            .map_err(|_| format!("`{text}` is neither a number nor none"))
    }
}

fn bound<T: Parsed>(text: &str) -> Result<Bound<T>, String> {
    match text {
        "none" => Ok(Bound(None)),
        text => T::parsed(text).map(|value| Bound(Some(value))),
    }
}

impl Limits {
    /// These, and the old ones where nothing is said.
    fn over(&self, old: ProjectLimits) -> ProjectLimits {
        ProjectLimits {
            budget: self.budget.map_or(old.budget, |bound| bound.0),
            jobs: self.jobs.map_or(old.jobs, |bound| bound.0),
            nodes: self.nodes.map_or(old.nodes, |bound| bound.0),
        }
    }
}

impl ProjectCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            let one: ProjectRecord = match self {
                ProjectCommand::Create { name, limits } => {
                    let limits = limits.over(ProjectLimits::default());
                    let asked = ProjectRequest { name, limits };
                    let made = client.post("/projects", &asked, None).await;
                    made.during("no project was made")?
                }
                ProjectCommand::List => {
                    let all = client.get("/projects").await;
                    let all: Vec<ProjectRecord> = all.during("no list of projects")?;
                    return at.show(&all, |all| table(all));
                }
                ProjectCommand::Show { name } => {
                    let found = client.get(&format!("/projects/{name}")).await;
                    found.during("no such project is shown")?
                }
                ProjectCommand::Set { name, limits } => {
                    let place = format!("/projects/{name}");
                    let what = "the project stays as it was";
                    let old: ProjectRecord = client.get(&place).await.during(what)?;
                    client
                        .put(&place, &limits.over(old.limits))
                        .await
                        .during(what)?
                }
                ProjectCommand::Remove { name } => {
                    let gone = client.delete(&format!("/projects/{name}")).await;
                    let gone: ProjectRecord = gone.during("no project was removed")?;
                    return at.tell(&gone, |gone| {
                        format!("{} is no project any more\n", gone.name)
                    });
                }
                ProjectCommand::Member(MemberCommand::Add {
                    project,
                    user,
                    role,
                }) => {
                    let place = format!("/projects/{project}/members/{user}");
                    let set = client.put(&place, &MemberRequest { role }).await;
                    set.during("the project stays as it was")?
                }
                ProjectCommand::Member(MemberCommand::Remove { project, user }) => {
                    let place = format!("/projects/{project}/members/{user}");
                    let gone = client.delete(&place).await;
                    gone.during("the project stays as it was")?
                }
            };
            at.tell(&one, page)
        })
    }
}

/// An amount of a bound, as in `3 of 10`.
fn of<T: ToString>(used: impl ToString, bound: Option<T>) -> String {
    match bound {
        Some(bound) => format!("{} of {}", used.to_string(), bound.to_string()),
        None => format!("{}, without a bound", used.to_string()),
    }
}

fn page(project: &ProjectRecord) -> String {
    let (limits, members) = (&project.limits, &project.members);
    let taken = project.spent.checked_add(project.reserved);
    let fields = text::fields(&[
        ("name", project.name.clone()),
        ("since", text::moment(project.since_ms)),
        ("taken", of(taken.unwrap_or(Credits::MAX), limits.budget)),
        ("spent", project.spent.to_string()),
        ("reserved", project.reserved.to_string()),
        ("jobs", of(project.jobs, limits.jobs)),
        ("nodes", of(project.nodes, limits.nodes)),
    ]);
    if members.is_empty() {
        return fields;
    }
    let members = Table::of(
        members,
        &[
            ("USER", &|member| member.user.clone()),
            ("ROLE", &|member| member.role.name().to_owned()),
        ],
    );
    format!("{fields}\n{members}")
}

fn table(all: &[ProjectRecord]) -> String {
    Table::of(
        all,
        &[
            ("NAME", &|project| project.name.clone()),
            (">BUDGET", &|project| text::or_dash(project.limits.budget)),
            (">SPENT", &|project| project.spent.to_string()),
            (">RESERVED", &|project| project.reserved.to_string()),
            ("->JOBS", &|project| project.jobs.to_string()),
            ("->NODES", &|project| project.nodes.to_string()),
            ("->MEMBERS", &|project| project.members.len().to_string()),
        ],
    )
}
