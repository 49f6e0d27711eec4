//! The dependencies allowed between packages: the table of `docs/ARCHITECTURE.md` as data.
//!
//! 1. Between packages: every edge of the chain is there, and no edge that the table lacks; a
//!    package without a row, or a row without a package, is a finding.
//! 2. To outsiders, declared: each engine and third-party format has one owner.
//! 3. To outsiders, linked: a pure package reaches no runtime, network, disk engine or source of
//!    randomness through others either.

use std::collections::BTreeSet;

use crate::packages::Package;

/// A row: the package, the package it is built on, and the others below that it may name.
struct Row {
    package: &'static str,
    built_on: Option<&'static str>,
    may_name: &'static [&'static str],
}

/// The genesis of test networks: for tests, and for no code that is shipped.
const SAMPLE: &str = "gridbay-sample";

const TABLE: &[Row] = &[
    Row {
        package: "gridbay-protocol",
        built_on: None,
        may_name: &[],
    },
    Row {
        package: "gridbay-ledger",
        built_on: Some("gridbay-protocol"),
        may_name: &[],
    },
    Row {
        package: "gridbay-host",
        built_on: Some("gridbay-ledger"),
        may_name: &["gridbay-protocol"],
    },
    Row {
        package: "gridbay-core",
        built_on: Some("gridbay-host"),
        may_name: &["gridbay-ledger", "gridbay-protocol"],
    },
    Row {
        package: "gridbay-vnet",
        built_on: Some("gridbay-protocol"),
        may_name: &[],
    },
    Row {
        package: "gridbay-node",
        built_on: Some("gridbay-core"),
        may_name: &[
            "gridbay-host",
            "gridbay-ledger",
            "gridbay-protocol",
            "gridbay-vnet",
        ],
    },
    Row {
        package: "gridbay-appliance",
        built_on: None,
        may_name: &[],
    },
    Row {
        package: SAMPLE,
        built_on: Some("gridbay-protocol"),
        may_name: &[],
    },
    Row {
        package: "gridbay-sim",
        built_on: Some("gridbay-core"),
        may_name: &["gridbay-host", "gridbay-ledger", "gridbay-protocol", SAMPLE],
    },
    Row {
        package: "gridbay-testnet",
        built_on: Some("gridbay-node"),
        may_name: &[
            "gridbay-core",
            "gridbay-host",
            "gridbay-ledger",
            "gridbay-protocol",
            "gridbay-sim",
            "gridbay-vnet",
        ],
    },
    Row {
        package: "gridbay-fuzz",
        built_on: Some("gridbay-core"),
        may_name: &["gridbay-host", "gridbay-ledger", "gridbay-protocol", SAMPLE],
    },
];

/// Crates, by prefix of their name, with the packages that may declare them.
const OWNED: &[(&str, &[&str])] = &[
    ("serde_cbor", &["gridbay-protocol"]),
    ("redb", &["gridbay-host"]),
    ("arc-malachitebft-", &["gridbay-host"]),
    ("libp2p", &["gridbay-node"]),
    ("tokio", &["gridbay-node", "gridbay-testnet"]),
    ("rand", &["gridbay-node", "gridbay-testnet"]),
    (
        "getrandom",
        &["gridbay-node", "gridbay-vnet", "gridbay-testnet"],
    ),
    ("boringtun", &["gridbay-vnet"]),
    ("quinn-udp", &["gridbay-vnet"]),
    ("smoltcp", &["gridbay-vnet"]),
    ("opentelemetry", &["gridbay-node"]),
    ("libfuzzer-sys", &["gridbay-fuzz"]),
];

const NETWORKS: &[&str] = &[
    "async-std",
    "smol",
    "libp2p",
    "libp2p-swarm",
    "quinn",
    "mio",
];
const IMPURE: &[&str] = &[
    "tokio",
    "libp2p",
    "libp2p-swarm",
    "mio",
    "redb",
    "rand",
    "rand_core",
    "getrandom",
];

/// The path of a packet has threads and no runtime.
const RUNTIMES: &[&str] = &["tokio", "async-std", "smol", "libp2p", "quinn", "mio"];

/// Crates that a package must not reach by any path.
///
/// `tokio` is absent for host and core: the consensus engine's own crates link its channels,
/// without a runtime, and host's sources may not declare it (`OWNED`).
pub(crate) const MUST_NOT_LINK: &[(&str, &[&str])] = &[
    ("gridbay-protocol", IMPURE),
    ("gridbay-ledger", IMPURE),
    ("gridbay-host", NETWORKS),
    ("gridbay-core", NETWORKS),
    ("gridbay-vnet", RUNTIMES),
];

/// Rule 1.
pub(crate) fn between_packages(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for row in TABLE {
        if !packages.iter().any(|package| package.name == row.package) {
            findings.push(format!(
                "{}: in the table, not in the workspace",
                row.package
            ));
        }
    }
    let names: BTreeSet<&String> = packages.iter().map(|package| &package.name).collect();
    for package in packages {
        let Some(row) = TABLE.iter().find(|row| row.package == package.name) else {
            findings.push(format!(
                "{}: in the workspace, not in the table",
                package.name
            ));
            continue;
        };
        if let Some(base) = row.built_on.filter(|base| !package.normal.contains(*base)) {
            findings.push(format!("{}: lacks its edge to {base}", package.name));
        }
        // A test may look down the same edges as the code, and take its genesis from the sample.
        let own = package.normal.union(&package.dev);
        for target in own.filter(|name| names.contains(name)) {
            let in_tests = target == SAMPLE && !package.normal.contains(target);
            let known = row.built_on == Some(target) || row.may_name.contains(&target.as_str());
            if !known && !in_tests {
                findings.push(format!("{}: must not depend on {target}", package.name));
            }
        }
    }
    findings
}

/// Rule 2. Tests and benches may declare what they like.
pub(crate) fn to_outsiders(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages {
        for (prefix, owners) in OWNED {
            let declared = package
                .normal
                .iter()
                .filter(|name| name.starts_with(prefix));
            for name in declared.filter(|_| !owners.contains(&package.name.as_str())) {
                let owners = owners.join(", ");
                findings.push(format!(
                    "{}: declares {name}, kept to {owners}",
                    package.name
                ));
            }
        }
    }
    findings
}

/// Rule 3, for one package and all that it links.
pub(crate) fn linked(package: &str, linked: &BTreeSet<String>, forbidden: &[&str]) -> Vec<String> {
    let reached = forbidden.iter().filter(|name| linked.contains(**name));
    reached
        .map(|name| format!("{package}: links {name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> BTreeSet<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn package(name: &str, normal: &[&str], dev: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            normal: names(normal),
            dev: names(dev),
            roots: vec![],
        }
    }

    /// The smallest workspace that satisfies the table.
    fn good() -> Vec<Package> {
        let row = |row: &Row| package(row.package, row.built_on.as_slice(), &[]);
        TABLE.iter().map(row).collect()
    }

    fn replaced(bad: Package) -> Vec<Package> {
        let others = good()
            .into_iter()
            .filter(|package| package.name != bad.name);
        others.chain([bad.clone()]).collect()
    }

    #[test]
    fn the_table_itself_passes() {
        assert_eq!(between_packages(&good()), Vec::<String>::new());
    }

    #[test]
    fn an_edge_upwards_is_found() {
        let bad = package("gridbay-ledger", &["gridbay-protocol", "gridbay-host"], &[]);
        let findings = between_packages(&replaced(bad));
        assert_eq!(
            findings,
            ["gridbay-ledger: must not depend on gridbay-host"]
        );
    }

    #[test]
    fn an_edge_upwards_in_a_test_is_found() {
        let bad = package("gridbay-protocol", &[], &["gridbay-ledger"]);
        assert_eq!(between_packages(&replaced(bad)).len(), 1);
    }

    #[test]
    fn the_sample_is_for_tests() {
        let ledger = |normal: &[&str], dev: &[&str]| {
            let normal = [&["gridbay-protocol"], normal].concat();
            between_packages(&replaced(package("gridbay-ledger", &normal, dev))).len()
        };
        assert_eq!(ledger(&[], &[SAMPLE]), 0);
        assert_eq!(ledger(&[SAMPLE], &[]), 1);
    }

    #[test]
    fn a_broken_chain_is_found() {
        let findings = between_packages(&replaced(package("gridbay-core", &[], &[])));
        assert_eq!(findings, ["gridbay-core: lacks its edge to gridbay-host"]);
    }

    #[test]
    fn strangers_and_missing_packages_are_found() {
        let mut packages = good();
        packages[0].name = "gridbay-extra".to_owned();
        assert_eq!(between_packages(&packages).len(), 2);
    }

    #[test]
    fn an_engine_outside_its_owner_is_found() {
        for (crate_name, place) in [
            ("redb", "gridbay-ledger"),
            ("libp2p-stream", "gridbay-core"),
            ("serde_cbor", "gridbay-node"),
            ("arc-malachitebft-wal", "gridbay-core"),
            ("tokio", "gridbay-host"),
            ("getrandom", "gridbay-protocol"),
        ] {
            let findings = to_outsiders(&[package(place, &[crate_name], &[])]);
            assert_eq!(findings.len(), 1, "{crate_name} in {place}: {findings:?}");
        }
        assert_eq!(
            to_outsiders(&[package("gridbay-host", &["redb"], &[])]).len(),
            0
        );
    }

    #[test]
    fn a_crate_linked_through_another_is_found() {
        let reached = names(&["serde", "getrandom"]);
        let findings = linked("gridbay-protocol", &reached, IMPURE);
        assert_eq!(findings, ["gridbay-protocol: links getrandom"]);
    }
}
