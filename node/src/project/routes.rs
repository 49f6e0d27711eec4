//! Users and projects.

use super::Actor;
use super::types::{
    MemberRequest, NewUser, ProjectLimits, ProjectRecord, ProjectRequest, UserRecord, UserRequest,
};
use crate::api::ApiError;
use crate::api::document::Routes;
use crate::api::document::parts::Made;
use crate::api::extract::{Body, Listed, Params, Place, Reply};
use crate::api::page::Window;
use crate::backend::Node;
use axum::extract::State;
use axum::{Extension, Json};

/// Addresses of these nouns.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("projects")
        .get("/users", "Lists the users of this node", users)
        .post(
            "/users",
            "Makes a user, whose token is shown this once",
            user,
        )
        .delete(
            "/users/{name}",
            "Removes a user, also from all projects",
            remove_user,
        )
        .get(
            "/projects",
            "Lists projects: all of them, or those of the user who asks",
            list,
        )
        .post("/projects", "Makes a project", make)
        .get(
            "/projects/{name}",
            "Shows a project: bounds, use and members",
            show,
        )
        .put("/projects/{name}", "Sets the bounds of a project", set)
        .delete(
            "/projects/{name}",
            "Removes a project; its orders go on",
            remove,
        )
        .put(
            "/projects/{name}/members/{user}",
            "Gives a user a role in a project",
            admit,
        )
        .delete(
            "/projects/{name}/members/{user}",
            "Takes a user out of a project",
            dismiss,
        )
}

async fn users(State(node): State<Node>, Params(window): Params<Window>) -> Listed<UserRecord> {
    let asked = window.of("users")?;
    Ok(asked.of_all(node.users(), |user| user.name.clone()))
}

async fn user(
    State(node): State<Node>,
    Body(request): Body<UserRequest>,
) -> Result<Made<NewUser>, ApiError> {
    node.make_user(&request.name).map(Made)
}

async fn remove_user(State(node): State<Node>, Place(name): Place<String>) -> Reply<UserRecord> {
    node.remove_user(&name).map(Json)
}

async fn list(
    State(node): State<Node>,
    Extension(actor): Extension<Actor>,
    Params(window): Params<Window>,
) -> Listed<ProjectRecord> {
    let asked = window.of("projects")?;
    let all = node.projects(&actor).await?;
    Ok(asked.of_all(all, |project| project.name.clone()))
}

async fn make(
    State(node): State<Node>,
    Body(request): Body<ProjectRequest>,
) -> Result<Made<ProjectRecord>, ApiError> {
    node.make_project(request).await.map(Made)
}

async fn show(State(node): State<Node>, Place(name): Place<String>) -> Reply<ProjectRecord> {
    node.project(&name).await.map(Json)
}

async fn set(
    State(node): State<Node>,
    Place(name): Place<String>,
    Body(limits): Body<ProjectLimits>,
) -> Reply<ProjectRecord> {
    node.set_project(&name, limits).await.map(Json)
}

async fn remove(State(node): State<Node>, Place(name): Place<String>) -> Reply<ProjectRecord> {
    node.remove_project(&name).await.map(Json)
}

async fn admit(
    State(node): State<Node>,
    Place((name, user)): Place<(String, String)>,
    Body(request): Body<MemberRequest>,
) -> Reply<ProjectRecord> {
    node.set_member(&name, &user, request.role).await.map(Json)
}

async fn dismiss(
    State(node): State<Node>,
    Place((name, user)): Place<(String, String)>,
) -> Reply<ProjectRecord> {
    node.remove_member(&name, &user).await.map(Json)
}
