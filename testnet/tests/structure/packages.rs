//! Cargo's statements about the workspace's packages.
//!
//! Declared dependencies come from `cargo metadata --no-deps`; the packages that one links, through
//! any number of steps and with its own features only, come from `cargo tree`. Both run offline on
//! the committed lock file.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// A package of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// `gridbay-…`
    pub(crate) name: String,
    /// Names of normal and build dependencies.
    pub(crate) normal: BTreeSet<String>,
    /// Names of dependencies of tests and benches only.
    pub(crate) dev: BTreeSet<String>,
    /// Root files of its library and binaries, relative to the workspace root.
    pub(crate) roots: Vec<String>,
}

/// All packages of the workspace.
pub(crate) fn read() -> Vec<Package> {
    let json = cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--locked",
        "--offline",
    ]);
    let metadata: Value = serde_json::from_str(&json).expect("cargo metadata prints JSON");
    let root = format!("{}/", text(&metadata["workspace_root"]));
    list(&metadata["packages"])
        .iter()
        .map(|package| parse(package, &root))
        .collect()
}

/// Names of all crates that a package links on this platform, itself left out.
pub(crate) fn linked_by(package: &str) -> BTreeSet<String> {
    let tree = [
        "tree",
        "--locked",
        "--offline",
        "--edges",
        "normal",
        "--prefix",
        "none",
    ];
    let output = cargo(&[tree.as_slice(), &["--package", package]].concat());
    let names = output
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let linked: BTreeSet<_> = names
        .filter(|name| *name != package)
        .map(str::to_owned)
        .collect();
    assert!(
        linked.contains("serde"),
        "{package}: the list of linked crates looks wrong"
    );
    linked
}

fn parse(package: &Value, root: &str) -> Package {
    let dependencies = list(&package["dependencies"]);
    let named = |dev: bool| {
        let matching = dependencies.iter().filter(|d| (d["kind"] == "dev") == dev);
        matching.map(|d| text(&d["name"]).to_owned()).collect()
    };
    let is_root = |target: &&Value| {
        list(&target["kind"])
            .iter()
            .any(|kind| kind == "lib" || kind == "bin")
    };
    let targets = list(&package["targets"]).iter().filter(is_root);
    let path = |target: &Value| {
        text(&target["src_path"])
            .trim_start_matches(root)
            .to_owned()
    };
    Package {
        name: text(&package["name"]).to_owned(),
        normal: named(false),
        dev: named(true),
        roots: targets.map(path).collect(),
    }
}

fn cargo(arguments: &[&str]) -> String {
    let command = || format!("cargo {}", arguments.join(" "));
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(crate::files::root())
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", command()));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed: {complaint}", command());
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("cargo metadata has a list here")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("cargo metadata has a text here")
}
