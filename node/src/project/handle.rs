//! Makes, shows and changes users and projects.

use super::Actor;
use super::month::month_of;
use super::types::{
    NewUser, ProjectLimits, ProjectMember, ProjectRecord, ProjectRequest, UserRecord,
};
use crate::api::scope::Role;
use crate::api::types::{JobRequest, Relays};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::{internal, not_found, usage};
use crate::backend::{NodeBackend, wall_ms};
use crate::keys::random;
use crate::store::projects::{Project, ProjectBook, ProjectError, Quotas, User};
use gridbay_core::buyer::ProjectUse;
use gridbay_core::project::ProjectBounds;
use gridbay_protocol::ids::to_hex;

impl NodeBackend {
    /// The book of users and projects, for the listener that lets users in.
    pub fn project_book(&self) -> ProjectBook {
        self.parts.projects.clone()
    }
    /// All users by name.
    pub(crate) fn users(&self) -> Vec<UserRecord> {
        let all = self.parts.projects.users().into_iter();
        all.map(|(name, user)| self.user_record(name, &user))
            .collect()
    }
    /// A new one.
    pub(super) fn make_user(&self, name: &str) -> Answer<NewUser> {
        let random = random().map_err(|error| internal("no fresh randomness", error))?;
        let token = to_hex(&random);
        let made = self.parts.projects.add_user(name, &token, wall_ms());
        let made = made.map_err(|error| failed(&error))?;
        let record = self.user_record(name.to_owned(), &made);
        Ok(NewUser { token, record })
    }
    /// One less.
    pub(super) fn remove_user(&self, name: &str) -> Answer<UserRecord> {
        let gone = self.parts.projects.remove_user(name);
        let gone = gone.map_err(|error| failed(&error))?;
        Ok(self.user_record(name.to_owned(), &gone))
    }
    fn user_record(&self, name: String, user: &User) -> UserRecord {
        UserRecord {
            projects: self.parts.projects.roles(&name).into_keys().collect(),
            name,
            made_ms: user.made_ms,
        }
    }

    /// The projects that the one who asks may see.
    pub(crate) async fn projects(&self, actor: &Actor) -> Answer<Vec<ProjectRecord>> {
        let book = &self.parts.projects;
        let all = book.projects().into_iter();
        let seen = all.filter(|(name, _)| actor.may(book, Some(name), Role::Reader));
        let mut records = Vec::new();
        for (name, project) in seen {
            records.push(self.project_record(name, project).await?);
        }
        Ok(records)
    }
    /// One of them.
    pub(crate) async fn project(&self, name: &str) -> Answer<ProjectRecord> {
        let project = self.parts.projects.projects().remove(name);
        match project {
            Some(project) => self.project_record(name.to_owned(), project).await,
            None => Err(failed(&ProjectError::Unknown("project"))),
        }
    }
    /// A new one.
    pub(super) async fn make_project(&self, request: ProjectRequest) -> Answer<ProjectRecord> {
        let ProjectRequest { name, limits } = request;
        let made = self
            .parts
            .projects
            .add_project(&name, quotas(limits), wall_ms());
        self.told(&name, made).await
    }
    /// Other bounds.
    pub(crate) async fn set_project(
        &self,
        name: &str,
        limits: ProjectLimits,
    ) -> Answer<ProjectRecord> {
        let set = self.parts.projects.set_quotas(name, quotas(limits));
        self.told(name, set).await
    }
    /// One less.
    pub(super) async fn remove_project(&self, name: &str) -> Answer<ProjectRecord> {
        let gone = self.parts.projects.remove_project(name);
        self.told(name, gone).await
    }
    /// A member with a role.
    pub(crate) async fn set_member(
        &self,
        name: &str,
        user: &str,
        role: Role,
    ) -> Answer<ProjectRecord> {
        let set = self.parts.projects.set_member(name, user, role);
        self.told(name, set).await
    }
    /// A member less.
    pub(crate) async fn remove_member(&self, name: &str, user: &str) -> Answer<ProjectRecord> {
        let gone = self.parts.projects.remove_member(name, user);
        self.told(name, gone).await
    }
    async fn told(
        &self,
        name: &str,
        changed: Result<Project, ProjectError>,
    ) -> Answer<ProjectRecord> {
        let project = changed.map_err(|error| failed(&error))?;
        self.project_record(name.to_owned(), project).await
    }
    async fn project_record(&self, name: String, project: Project) -> Answer<ProjectRecord> {
        let month = month_of(wall_ms());
        let (of, time_ms) = (name.clone(), month.clone());
        let used = self
            .query(move |core| {
                let orders = core.buyer().orders().map(|(_, agent)| agent);
                ProjectUse::of(orders, &of, &time_ms)
            })
            .await?;
        let member = |(user, role)| ProjectMember { user, role };
        let quotas = project.quotas;
        Ok(ProjectRecord {
            name,
            made_ms: project.made_ms,
            limits: ProjectLimits {
                budget: quotas.budget,
                jobs: quotas.jobs,
                nodes: quotas.nodes,
            },
            since_ms: month.start,
            spent: used.spent,
            reserved: used.reserved,
            jobs: used.jobs,
            nodes: used.nodes,
            members: project.members.into_iter().map(member).collect(),
        })
    }

    /// The project that a job is for, with its bounds now, if the one who asks may order for it.
    pub(crate) fn project_for(
        &self,
        actor: &Actor,
        request: &JobRequest,
        now_ms: u64,
    ) -> Answer<Option<(String, ProjectBounds)>> {
        let Some(project) = &request.project else {
            return match actor {
                Actor::Node => Ok(None),
                Actor::User(_) => {
                    let hint = "name one of yours in the field project: GET /projects";
                    Err(usage("a job of a user is of a project", hint))
                }
            };
        };
        let book = &self.parts.projects;
        if !actor.may(book, Some(project), Role::Reader) {
            return Err(failed(&ProjectError::Unknown("project")));
        }
        if !actor.may(book, Some(project), Role::Member) {
            let why = format!("readers of project {project} send no jobs");
            let hint = "ask a manager of the project: gridbay project member add";
            return Err(ApiError::new(ErrorCode::Refused, why, hint));
        }
        if matches!(request.relays, Relays::Paid(_)) {
            let why = "relays that cost have no place in a project's budget";
            return Err(usage(why, "leave out --relay-price"));
        }
        let found = book.projects().remove(project);
        let quotas = found
            .ok_or_else(|| failed(&ProjectError::Unknown("project")))?
            .quotas;
        let bounds = ProjectBounds {
            budget: quotas.budget,
            jobs: quotas.jobs,
            nodes: quotas.nodes,
            time_ms: month_of(now_ms),
        };
        Ok(Some((project.clone(), bounds)))
    }
}

fn quotas(limits: ProjectLimits) -> Quotas {
    Quotas {
        budget: limits.budget,
        jobs: limits.jobs,
        nodes: limits.nodes,
    }
}

fn failed(error: &ProjectError) -> ApiError {
    let why = error.to_string();
    match error {
        ProjectError::Name => ApiError::new(ErrorCode::Usage, why, "choose such a name"),
        ProjectError::Taken(_) => ApiError::new(ErrorCode::Conflict, why, "choose another name"),
        ProjectError::Unknown(_) => {
            not_found(why, "see gridbay project list and gridbay user list")
        }
        ProjectError::Full(..) => ApiError::new(ErrorCode::Conflict, why, "remove one"),
        ProjectError::Disk(source) => internal("users and projects stay as they were", source),
    }
}
