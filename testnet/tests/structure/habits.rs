//! Habits of the code that a reader relies on.
//!
//! 1. `unwrap` appears in tests only: in `tests/`, `benches/` and `examples/` folders, under
//!    `#[cfg(test)]` (also when the module lies in a file of its own), and in `#[test]` functions.
//! 2. No test is skipped, no `todo!` or `unimplemented!` is left, and nobody silences the warning
//!    about dead code.
//! 3. Every crate root opens with a module doc.
//! 4. No package can be built with a fault in it: faults are patches (`testnet/sim/planted/`).
//!
//! Code inside macros is judged by its tokens.

use syn::visit::{self, Visit};

use crate::files::Source;
use crate::tokens;

/// Rule 1.
pub(crate) fn unwraps(sources: &[Source]) -> Vec<String> {
    let test_modules: Vec<_> = sources.iter().flat_map(test_module_paths).collect();
    let is_test = |path: &str| {
        let folders = ["tests/", "benches/", "examples/"];
        folders
            .iter()
            .any(|folder| path.starts_with(folder) || path.contains(&format!("/{folder}")))
            || test_modules
                .iter()
                .any(|stem| path == format!("{stem}.rs") || path.starts_with(&format!("{stem}/")))
    };
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| !is_test(&source.path)) {
        let Ok(file) = syn::parse_file(&source.text) else {
            findings.push(format!("{}: does not parse", source.path));
            continue;
        };
        let mut collector = Unwraps::default();
        if !file.attrs.iter().any(is_for_tests) {
            collector.visit_file(&file);
        }
        let place = |line: usize| format!("{}:{line}: unwrap outside tests", source.path);
        findings.extend(collector.lines.into_iter().map(place));
    }
    findings
}

/// Rule 4.
pub(crate) fn planted(sources: &[Source]) -> Vec<String> {
    let is_product = |path: &str| {
        let packages = ["protocol/", "ledger/", "node/"];
        packages.iter().any(|package| path.starts_with(package))
    };
    let switches = ["planted =", "planted::", "\"planted\""];
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_product(&source.path)) {
        for (line, number) in source.text.lines().zip(1..) {
            if switches.iter().any(|switch| line.contains(switch)) {
                findings.push(format!("{}:{number}: a planted fault", source.path));
            }
        }
    }
    findings
}

/// Rule 2.
pub(crate) fn unfinished(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for Source { path, text } in sources {
        let Ok(stream) = text.parse::<proc_macro2::TokenStream>() else {
            findings.push(format!("{path}: does not parse"));
            continue;
        };
        for (line, attribute) in tokens::attributes(stream.clone()) {
            for word in ["ignore", "dead_code"] {
                if is_setting(&attribute) && tokens::names(attribute.clone(), word) {
                    findings.push(format!("{path}:{line}: attribute {word}"));
                }
            }
        }
        for (line, name) in tokens::calls(stream, &["todo", "unimplemented"]) {
            findings.push(format!("{path}:{line}: {name}!"));
        }
    }
    findings
}

/// Rule 3: among crate roots, those without a doc.
pub(crate) fn undocumented_roots(roots: &[Source]) -> Vec<String> {
    let documented = |text: &str| {
        let file = syn::parse_file(text);
        file.is_ok_and(|file| {
            file.attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("doc"))
        })
    };
    let bare = roots.iter().filter(|root| !documented(&root.text));
    bare.map(|root| format!("{}: no module doc", root.path))
        .collect()
}

/// Whether an attribute skips a test or sets a lint; others may use the same words as fields.
fn is_setting(attribute: &proc_macro2::TokenStream) -> bool {
    let first = attribute
        .clone()
        .into_iter()
        .next()
        .map(|token| token.to_string());
    let settings = ["ignore", "cfg_attr", "allow", "expect"];
    first.is_some_and(|first| settings.contains(&first.as_str()))
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]` and `#[tokio::test]`.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    let last = attribute
        .path()
        .segments
        .last()
        .map(|segment| segment.ident.to_string());
    match (last.as_deref(), &attribute.meta) {
        (Some("test"), _) => true,
        (Some("cfg"), syn::Meta::List(list)) => {
            tokens::names(list.tokens.clone(), "test") && !tokens::names(list.tokens.clone(), "not")
        }
        _ => false,
    }
}

/// Paths, without `.rs`, of modules declared as `#[cfg(test)] mod name;`.
fn test_module_paths(source: &Source) -> Vec<String> {
    let Ok(file) = syn::parse_file(&source.text) else {
        return Vec::new();
    };
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let home = match name.trim_end_matches(".rs") {
        "lib" | "main" | "mod" => folder.to_owned(),
        stem => format!("{folder}/{stem}"),
    };
    let modules = file.items.iter().filter_map(|item| match item {
        syn::Item::Mod(item) if item.content.is_none() => Some(item),
        _ => None,
    });
    let tests = modules.filter(|item| item.attrs.iter().any(is_for_tests));
    tests.map(|item| format!("{home}/{}", item.ident)).collect()
}

#[derive(Default)]
struct Unwraps {
    lines: Vec<usize>,
}

impl<'ast> Visit<'ast> for Unwraps {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_macro(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "unwrap" {
            self.lines.push(call.method.span().start().line);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let segments = &path.path.segments;
        if let Some(last) = segments.last().filter(|last| last.ident == "unwrap")
            && segments.len() > 1
        {
            self.lines.push(last.ident.span().start().line);
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.lines.extend(tokens::unwraps(call.tokens.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwraps_in(path: &str, text: &str) -> Vec<String> {
        unwraps(&[Source::sample(path, text)])
    }

    #[test]
    fn an_unwrap_in_code_is_found() {
        let found = unwraps_in("a/src/lib.rs", "fn f() {\n  g().unwrap();\n}");
        assert_eq!(found, ["a/src/lib.rs:2: unwrap outside tests"]);
        for text in [
            "fn f() { assert!(g().unwrap()); }",
            "fn f() { v.map(Option::unwrap); }",
            "impl A { fn f(&self) { self.0.unwrap(); } }",
            "#[cfg(not(test))] mod m { fn f() { g().unwrap(); } }",
        ] {
            assert_eq!(unwraps_in("a/src/lib.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn an_unwrap_in_a_test_is_free() {
        for text in [
            "#[cfg(test)] mod tests { fn f() { g().unwrap(); } }",
            "#[cfg(all(test, unix))] mod tests { fn f() { g().unwrap(); } }",
            "#[tokio::test] async fn f() { g().unwrap(); }",
            "fn f() { g().unwrap_or_default(); }",
            "/// g().unwrap()\nfn f() { let s = \".unwrap()\"; }",
        ] {
            assert_eq!(
                unwraps_in("a/src/lib.rs", text),
                Vec::<String>::new(),
                "{text}"
            );
        }
        assert_eq!(
            unwraps_in("a/tests/b.rs", "fn f() { g().unwrap(); }").len(),
            0
        );
    }

    #[test]
    fn a_test_module_in_its_own_file_is_free() {
        let parent = Source::sample("a/src/order.rs", "#[cfg(test)] mod tests;");
        let child = Source::sample("a/src/order/tests.rs", "fn f() { g().unwrap(); }");
        let stranger = Source::sample("a/src/tests.rs", "fn f() { g().unwrap(); }");
        assert_eq!(unwraps(&[parent.clone(), child]).len(), 0);
        assert_eq!(unwraps(&[parent, stranger]).len(), 1);
    }

    #[test]
    fn skipped_and_unfinished_code_is_found() {
        for text in [
            "#[test] #[ignore] fn f() {}",
            "#[test] #[ignore = \"slow\"] fn f() {}",
            "#[cfg_attr(unix, ignore)] fn f() {}",
            "proptest! { #[ignore] fn f() {} }",
            "#![allow(dead_code)]",
            "#[allow(unused, dead_code)] fn f() {}",
            "fn f() { todo!() }",
            "fn f() { g(unimplemented!(\"later\")) }",
        ] {
            assert_eq!(
                unfinished(&[Source::sample("a.rs", text)]).len(),
                1,
                "{text}"
            );
        }
    }

    #[test]
    fn the_words_alone_are_free() {
        let text = "#[doc = \"ignore\"] fn ignore() { todo(); } // dead_code, todo!()";
        assert_eq!(
            unfinished(&[Source::sample("a.rs", text)]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_bare_crate_root_is_found() {
        let roots = [
            Source::sample("a.rs", "//! Doc.\nfn f() {}"),
            Source::sample("b.rs", "// no\nfn f() {}"),
        ];
        assert_eq!(undocumented_roots(&roots), ["b.rs: no module doc"]);
    }

    #[test]
    fn a_fault_in_the_product_is_a_finding() {
        let line = "if planted::is(Planted::HalfQuorum) {";
        let all =
            ["ledger/src/a.rs", "testnet/sim/src/a.rs"].map(|path| Source::sample(path, line));
        assert_eq!(planted(&all), ["ledger/src/a.rs:1: a planted fault"]);
        let manifest = Source::sample("protocol/Cargo.toml", "[features]\nplanted = []\n");
        assert_eq!(
            planted(&[manifest]),
            ["protocol/Cargo.toml:2: a planted fault"]
        );
    }
}
