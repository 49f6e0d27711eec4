//! What a token, a session of the web pages, or a user of projects may do, and what each address
//! needs.

use axum::extract::{MatchedPath, Request};

named! {
    /// What a token or a session may do; each scope includes those before it.
    pub enum Scope {
        /// See everything and change nothing.
        Read = "read",
        /// Send and end orders as well, and run programs on what they lease.
        Trade = "trade",
        /// Set offers as well, drain and resume, choose peers.
        Operate = "operate",
        /// Everything: also move money, invite, stop the node, and make tokens.
        Admin = "admin",
    }
}

impl Scope {
    /// In words that follow "may".
    pub(crate) fn about(self) -> &'static str {
        match self {
            Scope::Read => "see, and change nothing",
            Scope::Trade => "send and end orders, and no more",
            Scope::Operate => "trade and set offers, and no more",
            Scope::Admin => "do everything",
        }
    }
    /// The scope of a name, for the command line.
    pub(crate) fn parse(text: &str) -> Result<Scope, String> {
        let named = Scope::ALL.into_iter().find(|scope| scope.name() == text);
        named.ok_or_else(|| {
            let names: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
            format!("want one of {}", names.join(", "))
        })
    }
}

named! {
    /// A user's rights in a project; each role includes those before it.
    pub enum Role {
        /// See the project and its jobs.
        Reader = "reader",
        /// Send and end jobs as well.
        Member = "member",
        /// Choose the members as well.
        Manager = "manager",
    }
}

impl Role {
    /// The role of a name, for the command line.
    pub(crate) fn parse(text: &str) -> Result<Role, String> {
        let named = Role::ALL.into_iter().find(|role| role.name() == text);
        named.ok_or_else(|| {
            let names: Vec<_> = Role::ALL.iter().map(|role| role.name()).collect();
            format!("want one of {}", names.join(", "))
        })
    }
}

/// The needs of an address: of a token or session, and of a user of projects, to whom an address
/// without a role is closed.
type Need = (&'static str, &'static str, Scope, Option<Role>);

/// Addresses by method and path: all that take something other than `GET`, and those that users of
/// projects may ask. What is asked with `POST` and changes nothing is free to readers.
pub(crate) const NEEDS: &[Need] = &[
    ("get", "/openapi.json", Scope::Read, Some(Role::Reader)),
    ("get", "/prices", Scope::Read, Some(Role::Reader)),
    ("get", "/offers", Scope::Read, Some(Role::Reader)),
    ("get", "/jobs", Scope::Read, Some(Role::Reader)),
    ("get", "/jobs/{id}", Scope::Read, Some(Role::Reader)),
    ("get", "/jobs/{id}/why", Scope::Read, Some(Role::Reader)),
    ("get", "/jobs/{id}/logs", Scope::Read, Some(Role::Reader)),
    (
        "get",
        "/jobs/{id}/files/{rank}/{*path}",
        Scope::Read,
        Some(Role::Reader),
    ),
    ("get", "/events", Scope::Read, Some(Role::Reader)),
    ("get", "/projects", Scope::Read, Some(Role::Reader)),
    ("get", "/projects/{name}", Scope::Read, Some(Role::Reader)),
    ("get", "/tokens", Scope::Admin, None),
    ("get", "/users", Scope::Admin, None),
    ("post", "/quote", Scope::Read, Some(Role::Member)),
    ("post", "/prospects", Scope::Read, None),
    ("post", "/bids/suggest", Scope::Read, None),
    ("post", "/find", Scope::Read, None),
    ("post", "/peers/ping", Scope::Read, None),
    ("post", "/peers/find", Scope::Read, None),
    ("put", "/content", Scope::Trade, Some(Role::Member)),
    ("post", "/jobs", Scope::Trade, Some(Role::Member)),
    (
        "post",
        "/jobs/{id}/cancel",
        Scope::Trade,
        Some(Role::Member),
    ),
    ("post", "/bids/{id}/amend", Scope::Trade, None),
    ("post", "/contracts/{id}/sign", Scope::Trade, None),
    ("post", "/contracts/{id}/close", Scope::Trade, None),
    ("post", "/leases/{id}/stream", Scope::Trade, None),
    ("post", "/leases/{id}/connect", Scope::Trade, None),
    ("post", "/leases/{id}/disconnect", Scope::Trade, None),
    ("post", "/clusters", Scope::Trade, None),
    ("post", "/clusters/{id}/end", Scope::Trade, None),
    ("post", "/clusters/{id}/admit", Scope::Trade, None),
    ("post", "/clusters/{id}/dismiss", Scope::Trade, None),
    ("post", "/clusters/{id}/enter", Scope::Trade, None),
    ("post", "/clusters/{id}/leave", Scope::Trade, None),
    ("post", "/clusters/{id}/ranks/{rank}", Scope::Trade, None),
    ("put", "/offers", Scope::Operate, None),
    ("delete", "/offers/{label}", Scope::Operate, None),
    ("post", "/alerts/test", Scope::Operate, None),
    ("post", "/node/drain", Scope::Operate, None),
    ("post", "/node/resume", Scope::Operate, None),
    ("post", "/peers/connect", Scope::Operate, None),
    ("post", "/peers/mark", Scope::Operate, None),
    ("post", "/node/stop", Scope::Admin, None),
    ("post", "/invitations", Scope::Admin, None),
    ("post", "/ledger/transfer", Scope::Admin, None),
    ("post", "/ledger/transfers", Scope::Admin, None),
    ("post", "/ledger/close", Scope::Admin, None),
    ("post", "/appliances/add", Scope::Admin, None),
    ("post", "/appliances/remove", Scope::Admin, None),
    ("post", "/appliances/order", Scope::Admin, None),
    ("put", "/content/update", Scope::Admin, None),
    ("post", "/web/links", Scope::Admin, None),
    ("post", "/tokens", Scope::Admin, None),
    ("delete", "/tokens/{name}", Scope::Admin, None),
    ("post", "/users", Scope::Admin, None),
    ("delete", "/users/{name}", Scope::Admin, None),
    ("post", "/projects", Scope::Admin, None),
    ("put", "/projects/{name}", Scope::Admin, None),
    ("delete", "/projects/{name}", Scope::Admin, None),
    (
        "put",
        "/projects/{name}/members/{user}",
        Scope::Admin,
        Some(Role::Manager),
    ),
    (
        "delete",
        "/projects/{name}/members/{user}",
        Scope::Admin,
        Some(Role::Manager),
    ),
];

fn row(method: &str, path: &str) -> Option<&'static Need> {
    NEEDS.iter().find(|(m, p, ..)| *m == method && *p == path)
}

/// The scope that an address needs, as in `("post", "/jobs/{id}/cancel")`. What is in no table
/// needs most, but for questions.
pub(crate) fn needed(method: &str, path: &str) -> Scope {
    let asks = matches!(method, "get" | "head");
    let method = if asks { "get" } else { method };
    match row(method, path) {
        Some((_, _, scope, _)) => *scope,
        None if asks => Scope::Read,
        None => Scope::Admin,
    }
}

/// The role that a user of projects needs at an address; `None` where it is closed to users.
pub(crate) fn role(method: &str, path: &str) -> Option<Role> {
    row(method, path).and_then(|(_, _, _, role)| *role)
}

/// The scope that the address of a request needs.
pub(super) fn needed_by(request: &Request) -> Scope {
    let path = request.extensions().get::<MatchedPath>();
    let path = path.and_then(|path| path.as_str().strip_prefix("/api/v1"));
    let method = request.method().as_str().to_ascii_lowercase();
    needed(&method, path.unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_address_that_changes_something_has_a_row_and_no_row_is_left_over() {
        let routes = crate::routes::v1();
        let served = routes.told().iter();
        let served: BTreeSet<_> = served.map(|told| (told.method, told.path)).collect();
        let rows: BTreeSet<_> = NEEDS
            .iter()
            .map(|(method, path, ..)| (*method, *path))
            .collect();
        assert_eq!(rows.len(), NEEDS.len(), "a row twice");
        let left: Vec<_> = rows.difference(&served).collect();
        assert!(left.is_empty(), "left over: {left:?}");
        let bare: Vec<_> = served
            .difference(&rows)
            .filter(|(m, _)| *m != "get")
            .collect();
        assert!(bare.is_empty(), "without a row: {bare:?}");
    }

    #[test]
    fn what_is_unknown_needs_most() {
        assert_eq!(needed("patch", "/jobs"), Scope::Admin);
        assert_eq!(needed("get", "/jobs"), Scope::Read);
        assert_eq!(needed("get", "/tokens"), Scope::Admin);
        assert_eq!(needed("head", "/users"), Scope::Admin);
        assert_eq!(role("get", "/ledger/history"), None);
        assert_eq!(role("post", "/jobs"), Some(Role::Member));
        assert!(
            Scope::parse("root")
                .unwrap_err()
                .contains("read, trade, operate, admin")
        );
    }
}
