//! Users and projects of one node: a JSON file in the data folder.
//!
//! 1. A user's token holds 256 random bits and is shown once; the file has its hash alone.
//! 2. A change is in the file, whole, before it counts. A file that cannot be read or makes no
//!    sense keeps the node from starting: it may be the word that a user is removed.
//! 3. There are [`USERS`] users, [`PROJECTS`] projects and [`MEMBERS`] members of each at the most.

use super::{read_text, replace_file};
use crate::api::scope::Role;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Users at the most.
pub const USERS: usize = 512;
/// Projects at the most.
pub const PROJECTS: usize = 128;
/// Members of a project at the most.
pub const MEMBERS: usize = 256;
/// Characters of a name at the most.
pub const NAME_CHARS: usize = 64;
/// Bytes read at the most: all members of all projects.
const BYTES: u64 = 8 << 20;

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The name has other characters, or too many.
    #[error(
        "a name has 1 to {NAME_CHARS} letters, digits, dots, underscores and hyphens, the first of them a letter or digit"
    )]
    Name,
    /// There is one of that name.
    #[error("there is a {0} of that name already")]
    Taken(&'static str),
    /// There is none.
    #[error("there is no {0} of that name")]
    Unknown(&'static str),
    /// There are too many.
    #[error("there are {1} {0} already")]
    Full(&'static str, usize),
    /// The disk failed.
    #[error("cannot write down users and projects")]
    Disk(#[source] io::Error),
}

/// A user, without the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// When it was made, milliseconds since 1970.
    pub made_ms: u64,
    /// Hash of the token, in hex.
    mark: String,
}

/// The bounds of a project. What is absent has no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quotas {
    /// For the orders of a month.
    pub budget: Option<Credits>,
    /// Jobs at once.
    pub jobs: Option<u32>,
    /// Nodes at once.
    pub nodes: Option<u32>,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// When it was made, milliseconds since 1970.
    pub made_ms: u64,
    /// Its bounds.
    pub quotas: Quotas,
    /// Its members and their roles.
    pub members: BTreeMap<String, Role>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    users: BTreeMap<String, User>,
    projects: BTreeMap<String, Project>,
}

/// Users and projects of one data folder. Clones are the same book.
#[derive(Clone, Debug)]
pub struct ProjectBook(Arc<Book>);

#[derive(Debug)]
struct Book {
    path: PathBuf,
    kept: Mutex<Kept>,
    /// Counts the changes.
    turn: watch::Sender<u64>,
}

impl ProjectBook {
    /// The users and projects in a file; none if there is no file.
    ///
    /// # Errors
    /// If it is there and cannot be read or understood.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<ProjectBook> {
        let path = path.into();
        let text = read_text(&path, BYTES)?;
        let odd = |why: String| {
            let why = format!("{}: {why}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, why)
        };
        let kept: Kept = match text.is_empty() {
            true => Kept::default(),
            false => serde_json::from_str(&text).map_err(|error| odd(error.to_string()))?,
        };
        if !kept
            .users
            .keys()
            .chain(kept.projects.keys())
            .all(|name| is_name(name))
        {
            return Err(odd("a name makes no sense".to_owned()));
        }
        let (kept, turn) = (Mutex::new(kept), watch::Sender::new(0));
        Ok(ProjectBook(Arc::new(Book { path, kept, turn })))
    }
    /// Told after each change.
    pub fn turns(&self) -> watch::Receiver<u64> {
        self.0.turn.subscribe()
    }
    /// All users by name.
    pub fn users(&self) -> BTreeMap<String, User> {
        self.kept().users.clone()
    }
    /// All projects by name.
    pub fn projects(&self) -> BTreeMap<String, Project> {
        self.kept().projects.clone()
    }
    /// The user with a token.
    pub fn user_of(&self, secret: &str) -> Option<String> {
        // Comparing hashes takes the same time wherever a guess goes wrong.
        let hash = mark(secret);
        let same = |user: &User| blake3::Hash::from_hex(&user.mark).is_ok_and(|mark| mark == hash);
        let kept = self.kept();
        let found = kept.users.iter().find(|(_, user)| same(user));
        found.map(|(name, _)| name.clone())
    }
    /// Whether there is a user of that name.
    pub fn has_user(&self, name: &str) -> bool {
        self.kept().users.contains_key(name)
    }
    /// A user's role in a project.
    pub fn role(&self, project: &str, user: &str) -> Option<Role> {
        let kept = self.kept();
        kept.projects.get(project)?.members.get(user).copied()
    }
    /// A user's projects and roles.
    pub fn roles(&self, user: &str) -> BTreeMap<String, Role> {
        let kept = self.kept();
        let of = |(name, project): (&String, &Project)| {
            let role = project.members.get(user)?;
            Some((name.clone(), *role))
        };
        kept.projects.iter().filter_map(of).collect()
    }

    /// Takes in a user, whose token is `secret`.
    ///
    /// # Errors
    /// If the name is no name or taken, there is no room, or the disk fails; then nothing has
    /// changed.
    pub fn add_user(&self, name: &str, secret: &str, now_ms: u64) -> Result<User, ProjectError> {
        self.change(|kept| {
            let user = User {
                made_ms: now_ms,
                mark: mark(secret).to_hex().to_string(),
            };
            fresh(&kept.users, name, ("user", "users", USERS))?;
            kept.users.insert(name.to_owned(), user.clone());
            Ok(user)
        })
    }
    /// Takes a user back, and out of all projects: the token opens nothing from now on.
    ///
    /// # Errors
    /// If there is none, or the disk fails; then nothing has changed.
    pub fn remove_user(&self, name: &str) -> Result<User, ProjectError> {
        self.change(|kept| {
            let gone = kept
                .users
                .remove(name)
                .ok_or(ProjectError::Unknown("user"))?;
            for project in kept.projects.values_mut() {
                project.members.remove(name);
            }
            Ok(gone)
        })
    }
    /// Takes in a project without members.
    ///
    /// # Errors
    /// As [`ProjectBook::add_user`].
    pub fn add_project(
        &self,
        name: &str,
        quotas: Quotas,
        now_ms: u64,
    ) -> Result<Project, ProjectError> {
        self.change(|kept| {
            fresh(&kept.projects, name, ("project", "projects", PROJECTS))?;
            let project = Project {
                made_ms: now_ms,
                quotas,
                members: BTreeMap::new(),
            };
            kept.projects.insert(name.to_owned(), project.clone());
            Ok(project)
        })
    }
    /// Changes a project's bounds.
    ///
    /// # Errors
    /// If there is none, or the disk fails; then nothing has changed.
    pub fn set_quotas(&self, name: &str, quotas: Quotas) -> Result<Project, ProjectError> {
        self.with_project(name, |project, _| {
            project.quotas = quotas;
            Ok(())
        })
    }
    /// Takes a project back. Its orders go on.
    ///
    /// # Errors
    /// If there is none, or the disk fails; then nothing has changed.
    pub fn remove_project(&self, name: &str) -> Result<Project, ProjectError> {
        let gone = |kept: &mut Kept| kept.projects.remove(name);
        self.change(|kept| gone(kept).ok_or(ProjectError::Unknown("project")))
    }
    /// Gives a user a role in a project.
    ///
    /// # Errors
    /// If there is no such user or project, no room, or the disk fails; then nothing has changed.
    pub fn set_member(&self, name: &str, user: &str, role: Role) -> Result<Project, ProjectError> {
        self.with_project(name, |project, users| {
            if !users.contains_key(user) {
                return Err(ProjectError::Unknown("user"));
            }
            let new = !project.members.contains_key(user);
            if new && project.members.len() >= MEMBERS {
                return Err(ProjectError::Full("members", MEMBERS));
            }
            project.members.insert(user.to_owned(), role);
            Ok(())
        })
    }
    /// Takes a user out of a project.
    ///
    /// # Errors
    /// If the user is no member, or the disk fails; then nothing has changed.
    pub fn remove_member(&self, name: &str, user: &str) -> Result<Project, ProjectError> {
        self.with_project(name, |project, _| {
            let gone = project.members.remove(user);
            gone.map(|_| ()).ok_or(ProjectError::Unknown("member"))
        })
    }

    fn with_project(
        &self,
        name: &str,
        act: impl FnOnce(&mut Project, &BTreeMap<String, User>) -> Result<(), ProjectError>,
    ) -> Result<Project, ProjectError> {
        self.change(|kept| {
            let project = kept.projects.get_mut(name);
            let project = project.ok_or(ProjectError::Unknown("project"))?;
            act(project, &kept.users)?;
            Ok(project.clone())
        })
    }
    fn change<T>(
        &self,
        act: impl FnOnce(&mut Kept) -> Result<T, ProjectError>,
    ) -> Result<T, ProjectError> {
        let mut kept = self.kept();
        let mut changed = kept.clone();
        let value = act(&mut changed)?;
        let bytes = serde_json::to_vec_pretty(&changed);
        let bytes = bytes.map_err(|error| ProjectError::Disk(error.into()))?;
        replace_file(&self.0.path, &bytes).map_err(ProjectError::Disk)?;
        *kept = changed;
        drop(kept);
        self.0.turn.send_modify(|turn| *turn += 1);
        Ok(value)
    }
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Every change leaves it whole.
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mark(secret: &str) -> blake3::Hash {
    blake3::derive_key("gridbay/user-token/1", secret.as_bytes()).into()
}

/// Whether a name is one, and free, and there is room.
fn fresh<T>(
    known: &BTreeMap<String, T>,
    name: &str,
    (one, many, most): (&'static str, &'static str, usize),
) -> Result<(), ProjectError> {
    match known.len() {
        _ if !is_name(name) => Err(ProjectError::Name),
        _ if known.contains_key(name) => Err(ProjectError::Taken(one)),
        len if len >= most => Err(ProjectError::Full(many, most)),
        _ => Ok(()),
    }
}

fn is_name(name: &str) -> bool {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let first = name.bytes().next();
    let begins = first.is_some_and(|b| b.is_ascii_alphanumeric());
    begins && name.len() <= NAME_CHARS && name.bytes().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> (tempfile::TempDir, ProjectBook) {
        let folder = tempfile::tempdir().unwrap();
        let book = ProjectBook::open(folder.path().join("projects")).unwrap();
        (folder, book)
    }

    #[test]
    fn a_user_counts_until_it_is_removed_also_after_a_restart() {
        let (folder, book) = book();
        let path = folder.path().join("projects");
        let turns = book.turns();
        book.add_user("ann", "secret", 5).unwrap();
        book.add_project("bio", Quotas::default(), 6).unwrap();
        book.set_member("bio", "ann", Role::Member).unwrap();
        assert!(turns.has_changed().unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("secret") && text.contains("ann"), "{text}");
        let book = ProjectBook::open(&path).unwrap();
        assert_eq!(book.user_of("secret").as_deref(), Some("ann"));
        assert_eq!(book.user_of("Secret"), None);
        assert_eq!(book.role("bio", "ann"), Some(Role::Member));
        assert_eq!(book.roles("ann").len(), 1);
        book.remove_user("ann").unwrap();
        assert_eq!(
            (book.user_of("secret"), book.role("bio", "ann")),
            (None, None)
        );
        let again = book.add_user("ann", "other", 7).unwrap();
        assert_eq!(
            (again.made_ms, book.roles("ann").len()),
            (7, 0),
            "a new one is no member"
        );
        let book = ProjectBook::open(&path).unwrap();
        assert_eq!(book.user_of("secret"), None);
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let (_folder, book) = book();
        for bad in ["", "..", "a b", "a/b", "\n", &"a".repeat(65)] {
            let refused = book.add_user(bad, "x", 1).unwrap_err();
            assert!(matches!(refused, ProjectError::Name), "{bad}");
            assert!(
                book.add_project(bad, Quotas::default(), 1).is_err(),
                "{bad}"
            );
        }
        book.add_project("bio", Quotas::default(), 1).unwrap();
        for refused in [
            book.add_project("bio", Quotas::default(), 1),
            book.set_member("bio", "nobody", Role::Reader),
            book.set_member("none", "nobody", Role::Reader),
            book.remove_member("bio", "nobody"),
            book.set_quotas("none", Quotas::default()),
            book.remove_project("none"),
        ] {
            refused.unwrap_err();
        }
        for n in book.projects().len()..PROJECTS {
            book.add_project(&format!("p{n}"), Quotas::default(), 1)
                .unwrap();
        }
        let full = book.add_project("more", Quotas::default(), 1);
        assert!(matches!(full, Err(ProjectError::Full(..))));
        assert_eq!(book.projects().len(), PROJECTS);
    }

    #[test]
    fn a_file_that_makes_no_sense_is_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("projects");
        for bad in [
            "{",
            "{\"users\":{}}",
            "{\"users\":{\"a b\":{\"made_ms\":1,\"mark\":\"\"}},\"projects\":{}}",
        ] {
            std::fs::write(&path, bad).unwrap();
            assert!(ProjectBook::open(&path).is_err(), "{bad}");
        }
    }
}
