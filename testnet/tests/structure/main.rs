//! The project's rules, checked like any other behaviour.
//!
//! Each rule is a pure function from texts (sources, manifests, pages) to findings, one line per
//! finding. The tests of this file feed it the repository and expect none; the tests beside each
//! rule feed it a bad sample and expect the finding, so no rule can fall silent unnoticed.
//!
//! | module | rule |
//! |---|---|
//! | `edges` | packages depend on one another, and on outsiders, only as `docs/ARCHITECTURE.md` says |
//! | `cycles` | no more files of a package import one another than its limit says |
//! | `length` | no file above 800 lines, no function above 70, no comment or prose above 100 columns |
//! | `habits` | no `unwrap` outside tests, no skipped test, no unfinished code, a doc on every crate |
//! | `rooms` | a mechanism has a room in every layer, and few files elsewhere lead to it |
//! | `way` | the way of a bid is as `docs/ARCHITECTURE.md` tells it, and short |
//! | `rights` | rules of the ledger are handed no more tables than they may change |
//! | `words` | no loose ends, machine paths or private registries in any text |
//! | `pages` | one title per page, links and anchors resolve, every page is in the book |
//! | `claims` | named files, dependencies and commands in the documents are the real ones |

mod claims;
mod cycles;
mod edges;
mod files;
mod habits;
mod length;
mod markdown;
mod packages;
mod pages;
mod rights;
mod rooms;
mod tokens;
mod way;
mod words;

use files::{Source, repository};

/// Fails with every finding at once, so that one run shows all there is to mend.
fn expect_none(rule: &str, findings: Vec<String>) {
    assert!(
        findings.is_empty(),
        "{rule}: {} finding(s)\n  {}",
        findings.len(),
        findings.join("\n  ")
    );
}

fn rust(all: &[Source]) -> Vec<Source> {
    all.iter()
        .filter(|file| file.path.ends_with(".rs"))
        .cloned()
        .collect()
}

#[test]
fn packages_have_exactly_the_allowed_edges() {
    expect_none("package edges", edges::between_packages(&packages::read()));
}

#[test]
fn packages_declare_no_forbidden_dependency() {
    expect_none(
        "declared dependencies",
        edges::to_outsiders(&packages::read()),
    );
}

#[test]
fn pure_packages_link_nothing_that_does_io() {
    for (package, forbidden) in edges::MUST_NOT_LINK {
        let linked = packages::linked_by(package);
        expect_none("linked crates", edges::linked(package, &linked, forbidden));
    }
}

#[test]
fn import_cycles_stay_small() {
    let sources = rust(&repository());
    for note in cycles::slack(cycles::LIMITS, &sources) {
        println!("note: {note}");
    }
    expect_none("import cycles", cycles::above(cycles::LIMITS, &sources));
    expect_none("circles", cycles::circles(cycles::APART, &sources));
}

#[test]
fn rules_of_the_ledger_have_no_more_rights_than_they_need() {
    let sources = rust(&repository());
    expect_none("rights", rights::held(rights::MAY, &sources));
}

#[test]
fn a_mechanism_is_one_room_in_each_layer() {
    let sources = rust(&repository());
    expect_none("rooms", rooms::missing(&sources));
    let touched = rooms::leads(rooms::SAMPLE, &sources);
    let (count, name) = (touched.len(), rooms::SAMPLE);
    println!("note: {count} product files lead to `{name}`");
    assert!(
        count <= rooms::TOUCHED,
        "{count} files lead to `{name}`: {touched:#?}"
    );
}

#[test]
fn the_way_of_a_bid_is_as_it_is_told() {
    let (page, all) = (files::text("docs/ARCHITECTURE.md"), repository());
    expect_none("the way of a bid", way::check(&page, &all));
}

#[test]
fn files_stay_short() {
    let sources = rust(&repository());
    for note in length::growing(&sources) {
        println!("note: {note}");
    }
    expect_none("file length", length::files(&sources));
}

#[test]
fn functions_stay_short() {
    expect_none("function length", length::functions(&rust(&repository())));
}

#[test]
fn comments_stay_within_the_page() {
    expect_none("comment width", length::comments(&rust(&repository())));
}

#[test]
fn prose_stays_within_the_page() {
    expect_none("prose width", length::prose(&repository()));
}

#[test]
fn no_planted_fault_is_in_the_product() {
    expect_none("planted faults", habits::planted(&repository()));
}

#[test]
fn nothing_unwraps_outside_tests() {
    expect_none("unwrap", habits::unwraps(&rust(&repository())));
}

#[test]
fn no_test_is_skipped_and_no_code_unfinished_or_dead() {
    expect_none("unfinished code", habits::unfinished(&rust(&repository())));
}

#[test]
fn every_crate_opens_with_a_doc() {
    let roots: Vec<_> = packages::read()
        .into_iter()
        .flat_map(|package| package.roots)
        .collect();
    let sources = rust(&repository());
    let found: Vec<_> = sources
        .into_iter()
        .filter(|file| roots.contains(&file.path))
        .collect();
    assert_eq!(
        found.len(),
        roots.len(),
        "a crate root lies outside the repository: {roots:?}"
    );
    expect_none("crate docs", habits::undocumented_roots(&found));
}

#[test]
fn texts_hold_no_loose_ends_or_machine_paths() {
    expect_none("words", words::check(&repository()));
}

#[test]
fn every_page_has_one_title() {
    expect_none("titles", pages::titles(&repository()));
}

#[test]
fn every_relative_link_resolves() {
    expect_none("links", pages::links(&repository()));
}

#[test]
fn every_page_is_in_the_book() {
    expect_none("book", pages::orphans(&repository()));
}

#[test]
fn every_dependency_has_its_reason() {
    let (manifest, page) = (
        files::text("Cargo.toml"),
        files::text("docs/dependencies.md"),
    );
    expect_none("dependency reasons", claims::dependencies(&manifest, &page));
}

#[test]
fn the_code_map_names_files_that_exist() {
    let (page, all) = (files::text("docs/ARCHITECTURE.md"), repository());
    for note in claims::stale_marks(&page, &all) {
        println!("note: {note}");
    }
    expect_none("code map", claims::code_map(&page, &all));
}

#[test]
fn the_check_script_runs_what_the_readme_promises() {
    let (readme, script) = (files::text("README.md"), files::text(".ci/run"));
    expect_none("README commands", claims::commands(&readme, &script));
}
