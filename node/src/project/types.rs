//! Users and projects as JSON.

use crate::api::scope::Role;
use crate::api::types::{amount, optional_amount};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /users`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserRequest {
    /// Name.
    #[schema(
        min_length = 1,
        max_length = 64,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$"
    )]
    pub name: String,
}

/// `GET /users`: a user, without the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserRecord {
    /// Name.
    pub name: String,
    /// When it was made.
    pub made_ms: u64,
    /// The projects that it is a member of.
    pub projects: Vec<String>,
}

/// A new user. The token is shown this once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewUser {
    /// What requests carry behind `Authorization: Bearer`.
    pub token: String,
    /// The rest about it.
    pub record: UserRecord,
}

/// The bounds of a project; `null` for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectLimits {
    /// Credits for the orders of a calendar month, UTC.
    #[serde(default, with = "optional_amount")]
    pub budget: Option<Credits>,
    /// Jobs at once.
    #[serde(default)]
    pub jobs: Option<u32>,
    /// Nodes at once.
    #[serde(default)]
    pub nodes: Option<u32>,
}

/// `POST /projects`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRequest {
    /// Name.
    #[schema(
        min_length = 1,
        max_length = 64,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$"
    )]
    pub name: String,
    /// Its bounds.
    pub limits: ProjectLimits,
}

/// `PUT /projects/{name}/members/{user}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberRequest {
    /// The user's role from now on.
    pub role: Role,
}

/// `GET /projects`, `GET /projects/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectRecord {
    /// Name.
    pub name: String,
    /// When it was made.
    pub made_ms: u64,
    /// Its bounds.
    pub limits: ProjectLimits,
    /// From when on orders count against the budget: the first moment of this month.
    pub since_ms: u64,
    /// Charged less refunded for orders of this month that are over.
    #[serde(with = "amount")]
    pub spent: Credits,
    /// The most that those which are not over can cost.
    #[serde(with = "amount")]
    pub reserved: Credits,
    /// Jobs that are not over.
    pub jobs: u32,
    /// Their nodes.
    pub nodes: u32,
    /// Its members.
    pub members: Vec<ProjectMember>,
}

/// A member of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectMember {
    /// The user's name.
    pub user: String,
    /// The user's role.
    pub role: Role,
}
