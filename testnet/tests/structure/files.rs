//! The repository as a list of texts.
//!
//! A walk from the workspace root, in path order. Left out: version control, build output (any
//! folder with a `CACHEDIR.TAG`, `node_modules`), run folders, files that are not UTF-8, pictures
//! excepted, and symbolic links.

use std::fs;
use std::path::{Path, PathBuf};

/// One text file.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Path from the workspace root, with forward slashes.
    pub(crate) path: String,
    /// The whole content.
    pub(crate) text: String,
}

impl Source {
    /// A file that exists only in a test.
    #[cfg(test)]
    pub(crate) fn sample(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }
}

/// The folder that holds the workspace manifest.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package
        .parent()
        .expect("the testnet package lies in the workspace")
        .to_owned()
}

/// One file that must exist, by its path from the root.
pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every text file of the repository.
pub(crate) fn repository() -> Vec<Source> {
    let root = root();
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort_by(|left, right| left.path.cmp(&right.path));
    assert!(
        files.len() > 10,
        "the walk of {} found next to nothing",
        root.display()
    );
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let entry = entry.expect("a folder just opened can be listed");
        let (path, kind) = (
            entry.path(),
            entry.file_type().expect("an entry has a type"),
        );
        if is_left_out(root, &path) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_file()
            && let Some(text) = text_of(&path)
        {
            let relative = path
                .strip_prefix(root)
                .expect("the walk stays below the root");
            files.push(Source {
                path: relative.to_string_lossy().replace('\\', "/"),
                text,
            });
        }
    }
}

/// The text of a file, if it is one. Pictures have none, and are there for links to find.
fn text_of(path: &Path) -> Option<String> {
    match path.extension().is_some_and(|ending| ending == "png") {
        true => Some(String::new()),
        false => fs::read_to_string(path).ok(),
    }
}

fn is_left_out(root: &Path, path: &Path) -> bool {
    let at_root = ["runs", "target"]
        .iter()
        .any(|name| path == root.join(name));
    // In a linked work tree `.git` is a file that names a folder of this machine.
    let built = path.ends_with("node_modules") || path.join("CACHEDIR.TAG").exists();
    at_root || built || path.ends_with(".git")
}
