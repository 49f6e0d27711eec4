//! The known finders of faults: the last column of the tables in `docs/planted.md`.

use super::FaultError;
use std::collections::BTreeMap;
use std::path::Path;

/// The page with a row for each fault.
const PAGE: &str = "docs/planted.md";

/// The finder of a fault in the last hunt, which is tried first in the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finder {
    /// A seed of the simulator. Written `seed 13, I10`.
    Seed(u64),
    /// A test. Written `` `ledger`: `accounts::keys_rotate` ``.
    Test {
        /// Its package, without `gridbay-`.
        package: String,
        /// Its path in that package.
        test: String,
    },
}

impl Finder {
    /// Finders by the names of their faults, from the page of the sources at `root`.
    ///
    /// # Errors
    /// The page cannot be read.
    pub(crate) fn all(root: &Path) -> Result<BTreeMap<String, Finder>, FaultError> {
        let path = root.join(PAGE);
        let page = std::fs::read_to_string(&path).map_err(|e| FaultError::File(path, e))?;
        Ok(rows(&page).collect())
    }
    fn read(cell: &str) -> Option<Finder> {
        if let Some(seed) = cell.strip_prefix("seed ") {
            let (seed, _invariant) = seed.split_once(", ")?;
            return Some(Finder::Seed(seed.parse().ok()?));
        }
        let (package, test) = cell.split_once(": ")?;
        let bare = |name: &str| Some(name.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        Some(Finder::Test {
            package: bare(package)?,
            test: bare(test)?,
        })
    }
}

/// Rows of the page's tables that name a finder.
fn rows(page: &str) -> impl Iterator<Item = (String, Finder)> {
    page.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let mut cells = cells.split(" | ");
        let (name, finder) = (cells.next()?, cells.nth(1)?);
        Some((name.to_owned(), Finder::read(finder)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::{Fault, tree};

    #[test]
    fn a_row_names_a_seed_or_a_test() {
        let page = "| fault | what is wrong | found by |\n\
            | Oversell | One unit too many. | seed 13, a panic |\n\
            | RoleUnchecked | Any key signs. | `ledger`: `accounts::keys_rotate` |\n\
            | GuardOff | All is permitted. | nothing: not tried |";
        let test = Finder::Test {
            package: "ledger".to_owned(),
            test: "accounts::keys_rotate".to_owned(),
        };
        let expected = [
            ("Oversell".to_owned(), Finder::Seed(13)),
            ("RoleUnchecked".to_owned(), test),
        ];
        assert_eq!(rows(page).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn most_faults_of_the_page_have_a_finder() {
        let root = tree::root();
        let (all, known) = (Fault::all(&root).unwrap(), Finder::all(&root).unwrap());
        let found = all.iter().filter(|fault| known.contains_key(&fault.name));
        assert!(found.count() * 10 >= all.len() * 9);
    }
}
