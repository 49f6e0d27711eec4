//! Import cycles: how many files of a package can only be read together.
//!
//! Files are the nodes. There is an edge from a file to another one of its package that defines
//! something it names:
//!
//! 1. A name is a `use`, or a path of two segments or more in the code, also inside a macro call.
//! 2. A path is followed through imports and re-exports to the file that defines the item. An item
//!    that no file is seen to define (a macro made it) counts for the file of the module it is
//!    named in.
//! 3. A path that ends at a module names nothing yet: the paths that begin with it do.
//! 4. A re-export in the file of a module with children (`lib.rs`, `mod.rs`, or `a.rs` beside `a/`)
//!    is no edge: it says where things are found, and needs none of them.
//! 5. Method calls are no edges, nor is the code of tests (`#[cfg(test)]`, `#[test]`).
//!
//! Files that reach one another are a cycle. Each package has a limit on its largest cycle. Of some
//! folders none may lead back to itself through the others ([`APART`]).

mod modules;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use crate::files::Source;
use modules::{Module, Path, Reader, below};

/// Source folders of the packages, and how many files their largest cycles may have. A limit only
/// ever goes down.
pub(crate) const LIMITS: &[(&str, usize)] = &[
    ("protocol/src", 3),
    ("ledger/src", 3),
    ("ledger/host/src", 3),
    ("appliance/src", 3),
    ("node/core/src", 4),
    ("node/src", 5),
    ("testnet/src", 2),
    ("testnet/sim/src", 3),
    ("testnet/fuzz/src", 3),
];

/// Folders of which none names something that leads back to it through the others.
pub(crate) const APART: (&str, &[&str]) = ("node/src", &["api", "body", "doctor", "solver"]);

/// Those of some folders of a package that lead back to themselves through the others.
pub(crate) fn circles((folder, rooms): (&str, &[&str]), sources: &[Source]) -> Vec<String> {
    let package = Package::read(folder, sources);
    let room = |file: usize| {
        let within = package.files[file].strip_prefix(&format!("{folder}/"))?;
        let top = within.split('/').next()?.trim_end_matches(".rs");
        rooms.iter().position(|room| *room == top)
    };
    let mut edges = vec![BTreeSet::new(); rooms.len()];
    for (from, to) in package.edges().iter().enumerate() {
        let others = to.iter().filter_map(|to| room(*to));
        if let Some(from) = room(from) {
            edges[from].extend(others.filter(|to| *to != from));
        }
    }
    let round = (0..rooms.len()).filter(|at| reach(&edges, *at).contains(at));
    round
        .map(|at| format!("{folder}/{} leads back to itself", rooms[at]))
        .collect()
}

/// Packages with a larger cycle than their limit.
pub(crate) fn above(limits: &[(&str, usize)], sources: &[Source]) -> Vec<String> {
    let checked = limits.iter().filter_map(|(folder, limit)| {
        let largest = largest(folder, sources);
        let (found, files) = (largest.len(), largest.join(" "));
        let finding = format!("{folder}: {found} files import one another, {limit} may: {files}");
        (found > *limit).then_some(finding)
    });
    checked.collect()
}

/// Limits that are higher than they need be.
pub(crate) fn slack(limits: &[(&str, usize)], sources: &[Source]) -> Vec<String> {
    let checked = limits.iter().filter_map(|(folder, limit)| {
        let found = largest(folder, sources).len();
        (found < *limit)
            .then(|| format!("{folder}: the largest cycle has {found} files of {limit}"))
    });
    checked.collect()
}

/// The files of the largest cycle below a folder, ascending; empty if there is none.
pub(crate) fn largest(folder: &str, sources: &[Source]) -> Vec<String> {
    let package = Package::read(folder, sources);
    let edges = package.edges();
    let reach: Vec<BTreeSet<usize>> = (0..edges.len()).map(|from| reach(&edges, from)).collect();
    let cycle = |from: usize| -> Vec<usize> {
        let mutual = reach[from].iter().filter(|to| reach[**to].contains(&from));
        mutual.copied().collect()
    };
    let cycles = (0..edges.len()).map(cycle);
    let largest = cycles.max_by_key(Vec::len).unwrap_or_default();
    let names = largest.into_iter().map(|file| &package.files[file]);
    let mut names: Vec<String> = names
        .map(|path| path[folder.len() + 1..].to_owned())
        .collect();
    names.sort_unstable();
    names
}

fn reach(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<usize> = edges[from].iter().copied().collect();
    while let Some(file) = next.pop() {
        if seen.insert(file) {
            next.extend(&edges[file]);
        }
    }
    seen
}

/// A package: its files, and its modules by their paths from its root.
struct Package {
    files: Vec<String>,
    modules: BTreeMap<Path, Module>,
}

impl Package {
    fn read(folder: &str, sources: &[Source]) -> Package {
        let mut package = Package {
            files: Vec::new(),
            modules: BTreeMap::new(),
        };
        let inside = format!("{folder}/");
        let own = |source: &&Source| source.path.starts_with(&inside);
        let own: Vec<&Source> = sources.iter().filter(own).collect();
        // A binary beside a library is no part of its tree.
        let is_library = own
            .iter()
            .any(|source| source.path == format!("{inside}lib.rs"));
        let root = if is_library { "lib" } else { "main" };
        for source in &own {
            let Ok(tokens) = source.text.parse::<TokenStream>() else {
                continue;
            };
            let within = source.path[inside.len()..].trim_end_matches(".rs");
            let mut path: Path = within.split('/').map(str::to_owned).collect();
            let is_root = within == root || within.ends_with("/mod");
            if is_root {
                path.pop();
            }
            let below = format!("{inside}{within}/");
            let has_children = is_root || own.iter().any(|other| other.path.starts_with(&below));
            let file = package.files.len();
            package.files.push(source.path.clone());
            let mut reader = Reader {
                modules: &mut package.modules,
                file,
                exports: has_children,
            };
            reader.module(&path, tokens);
        }
        package
    }

    /// For each file, those that define what it names.
    fn edges(&self) -> Vec<BTreeSet<usize>> {
        let mut edges = vec![BTreeSet::new(); self.files.len()];
        for (at, module) in &self.modules {
            for path in &module.paths {
                let found = self.absolute(at, path).map(|path| self.follow(&path, 0));
                let (Some(Found::Item(file)) | Some(Found::Unseen(file))) = found else {
                    continue;
                };
                if file != module.file {
                    edges[module.file].insert(file);
                }
            }
        }
        edges
    }

    /// A path as it stands in a module, from the package's root; `None` if it leaves the package.
    fn absolute(&self, at: &[String], path: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let mut from = match first.as_str() {
            "crate" => Path::new(),
            "self" => at.to_vec(),
            "super" => {
                let above = at.split_last()?.1;
                let further = rest.first().is_some_and(|next| next == "super");
                if further {
                    return self.absolute(above, rest);
                }
                above.to_vec()
            }
            name => {
                let module = self.modules.get(at)?;
                let child = below(at, name);
                if self.modules.contains_key(&child) || module.items.contains(name) {
                    child
                } else {
                    let bound = module.names.get(name).filter(|bound| bound[0] != *name)?;
                    self.absolute(at, bound)?
                }
            }
        };
        from.extend_from_slice(rest);
        Some(from)
    }

    /// The target of a path from the package's root.
    fn follow(&self, path: &[String], depth: usize) -> Found {
        let mut at = Path::new();
        for (step, name) in path.iter().enumerate() {
            let child = below(&at, name);
            if self.modules.contains_key(&child) {
                at = child;
                continue;
            }
            let Some(module) = self.modules.get(&at) else {
                return Found::Module;
            };
            if module.items.contains(name) || depth > 8 {
                return Found::Item(module.file);
            }
            let bound = module.names.get(name);
            let bound = bound.and_then(|bound| self.absolute(&at, bound));
            if let Some(mut onward) = bound {
                onward.extend_from_slice(&path[step + 1..]);
                return self.follow(&onward, depth + 1);
            }
            for glob in &module.globs {
                let Some(mut onward) = self.absolute(&at, glob) else {
                    continue;
                };
                onward.extend_from_slice(&path[step..]);
                if let Found::Item(file) = self.follow(&onward, depth + 1) {
                    return Found::Item(file);
                }
            }
            return Found::Unseen(module.file);
        }
        Found::Module
    }
}

/// The target of a path.
enum Found {
    Module,
    /// An item that a file defines.
    Item(usize),
    /// Something that no file is seen to define, named in the module of a file.
    Unseen(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::sample(&format!("a/src/{path}"), text))
            .collect();
        largest("a/src", &sources)
    }

    #[test]
    fn a_cycle_is_found_through_a_re_export_and_through_a_path_in_a_macro() {
        let found = found(&[
            ("lib.rs", "mod one; mod two; mod three; pub use one::One;"),
            (
                "one.rs",
                "use crate::two; pub struct One; fn f() { g!(two::work()) }",
            ),
            ("two/mod.rs", "mod deep; pub use deep::work;"),
            (
                "two/deep.rs",
                "use crate::{One, three::Three}; pub fn work() {}",
            ),
            ("three.rs", "pub struct Three;"),
        ]);
        assert_eq!(found, ["one.rs", "two/deep.rs"]);
    }

    #[test]
    fn re_exports_methods_tests_and_modules_are_no_edges() {
        let found = found(&[
            ("lib.rs", "mod one; mod two; pub use one::One;"),
            (
                "one.rs",
                "use crate::two; pub struct One; fn f() { x.two(); two::work(); }",
            ),
            (
                "two.rs",
                "pub fn work() {} #[cfg(test)] mod tests { use crate::One; } \
                 #[test] fn f() { crate::One::new(); }",
            ),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn folders_that_lead_back_are_found() {
        let mut files = vec![
            Source::sample("a/src/lib.rs", "mod one; mod two; mod three;"),
            Source::sample("a/src/one/mod.rs", "mod deep; pub struct One;"),
            Source::sample(
                "a/src/one/deep.rs",
                "use crate::two::Two; struct D(Two, super::One);",
            ),
            Source::sample("a/src/two.rs", "pub struct Two;"),
        ];
        let found = |files: &[Source]| circles(("a/src", &["one", "two"]), files);
        assert_eq!(found(&files), Vec::<String>::new());
        files[3] = Source::sample("a/src/two.rs", "use crate::one::One; pub struct Two(One);");
        let back = |name| format!("a/src/{name} leads back to itself");
        assert_eq!(found(&files), [back("one"), back("two")]);
    }

    #[test]
    fn a_cycle_above_its_limit_is_a_finding() {
        let sources = [
            Source::sample("a/src/lib.rs", "mod one; mod two;"),
            Source::sample("a/src/one.rs", "pub fn f() { crate::two::g() }"),
            Source::sample("a/src/two.rs", "use super::one::f; pub fn g() { f() }"),
        ];
        assert_eq!(above(&[("a/src", 2)], &sources), Vec::<String>::new());
        let found = above(&[("a/src", 1)], &sources);
        assert_eq!(
            found,
            ["a/src: 2 files import one another, 1 may: one.rs two.rs"]
        );
        assert_eq!(slack(&[("a/src", 2)], &sources), Vec::<String>::new());
        assert_eq!(slack(&[("a/src", 3)], &sources).len(), 1);
    }
}
