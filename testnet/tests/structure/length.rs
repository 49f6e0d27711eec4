//! How long a file and a function may be.
//!
//! A function's length runs from its `fn` to its closing brace, both counted, with the closures
//! and inner functions it holds; attributes and docs above it are free. Tests obey the same bound,
//! and so does code inside macros (`proptest!`). A file's length counts everything. Comments, and
//! the prose of Markdown pages, are no wider than code is formatted to.

use syn::visit::{self, Visit};

use crate::files::Source;
use crate::markdown::Page;
use crate::tokens::{self, Function};

const FILE_LINES_MAX: usize = 800;
/// Above this a file is reported as growing, which fails nothing.
const FILE_LINES_AIM: usize = 450;
const FUNCTION_LINES_MAX: usize = 70;
/// Columns of a comment, and of prose.
const COLUMNS_MAX: usize = 100;
/// A longer word, such as a link's target, may have a line that is wider.
const WORD_MAX: usize = 60;

/// Files above the bound.
pub(crate) fn files(sources: &[Source]) -> Vec<String> {
    longer_than(sources, FILE_LINES_MAX)
}

/// Files above the aim.
pub(crate) fn growing(sources: &[Source]) -> Vec<String> {
    longer_than(sources, FILE_LINES_AIM)
}

fn longer_than(sources: &[Source], bound: usize) -> Vec<String> {
    let lengths = sources
        .iter()
        .map(|source| (&source.path, source.text.lines().count()));
    let long = lengths.filter(|(_, lines)| *lines > bound);
    long.map(|(path, lines)| format!("{path}: {lines} lines, above {bound}"))
        .collect()
}

/// Comments that are wider than code may be. A row of a table is one line, whatever its width.
pub(crate) fn comments(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        for (line, number) in source.text.lines().zip(1..) {
            let text = line.trim_start();
            let is_row = text.trim_start_matches(['/', '!', ' ']).starts_with('|');
            if text.starts_with("//") && !is_row && line.chars().count() > COLUMNS_MAX {
                findings.push(format!(
                    "{}:{number}: above {COLUMNS_MAX} columns",
                    source.path
                ));
            }
        }
    }
    findings
}

/// Lines of pages that are wider than that, outside fenced blocks and tables.
pub(crate) fn prose(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let is_page = |source: &&Source| source.path.ends_with(".md");
    for source in sources.iter().filter(is_page) {
        for (number, line) in Page::parse(&source.text).prose {
            let is_row = line.trim_start().starts_with('|');
            let longest = line
                .split_whitespace()
                .map(|word| word.chars().count())
                .max();
            let can_break = longest.is_some_and(|columns| columns <= WORD_MAX);
            if line.chars().count() > COLUMNS_MAX && !is_row && can_break {
                let path = &source.path;
                findings.push(format!("{path}:{number}: above {COLUMNS_MAX} columns"));
            }
        }
    }
    findings
}

/// Functions above the bound.
pub(crate) fn functions(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        let file = match syn::parse_file(&source.text) {
            Ok(file) => file,
            Err(error) => {
                findings.push(format!("{}: does not parse: {error}", source.path));
                continue;
            }
        };
        let mut collector = Collector::default();
        collector.visit_file(&file);
        for Function { name, first, last } in collector.found {
            let lines = last - first + 1;
            if lines > FUNCTION_LINES_MAX {
                let path = &source.path;
                findings.push(format!(
                    "{path}:{first}: {name} has {lines} lines, above {FUNCTION_LINES_MAX}"
                ));
            }
        }
    }
    findings
}

#[derive(Default)]
struct Collector {
    found: Vec<Function>,
}

impl Collector {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let (first, last) = (
            signature.fn_token.span.start(),
            body.brace_token.span.close().end(),
        );
        let name = signature.ident.to_string();
        self.found.push(Function {
            name,
            first: first.line,
            last: last.line,
        });
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.add(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.found.extend(tokens::functions(call.tokens.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn found_in(text: &str) -> usize {
        functions(&[Source::sample("a.rs", text)]).len()
    }

    #[test]
    fn the_bound_is_exact_for_files() {
        let file = |lines: usize| [Source::sample("a.rs", &"\n".repeat(lines))];
        assert_eq!(files(&file(800)).len(), 0);
        assert_eq!(files(&file(801)), ["a.rs: 801 lines, above 800"]);
        assert_eq!(growing(&file(451)).len(), 1);
    }

    #[test]
    fn the_bound_is_exact_for_functions() {
        assert_eq!(found_in(&function_of(70)), 0);
        let findings = functions(&[Source::sample("a.rs", &function_of(71))]);
        assert_eq!(findings, ["a.rs:1: long has 71 lines, above 70"]);
    }

    #[test]
    fn methods_tests_and_macros_count() {
        let long = function_of(71);
        assert_eq!(found_in(&format!("impl A {{ {long} }}")), 1);
        assert_eq!(found_in(&format!("trait A {{ {long} }}")), 1);
        assert_eq!(
            found_in(&format!("#[cfg(test)] mod tests {{ #[test] {long} }}")),
            1
        );
        assert_eq!(found_in(&format!("proptest! {{ #[test] {long} }}")), 1);
    }

    #[test]
    fn closures_count_to_their_function() {
        let body = "    step();\n".repeat(70);
        assert_eq!(
            found_in(&format!("fn outer() {{\n run(|| {{\n{body} }});\n}}")),
            1
        );
    }

    #[test]
    fn a_wide_comment_is_a_finding_and_a_row_is_none() {
        let wide = "x".repeat(COLUMNS_MAX);
        let text = format!("//! | {wide} |\nlet a = \"{wide}\";\n    // {wide}\n/// {wide}\n");
        let findings = comments(&[Source::sample("a.rs", &text)]);
        assert_eq!(
            findings,
            ["a.rs:3: above 100 columns", "a.rs:4: above 100 columns"]
        );
    }

    #[test]
    fn wide_prose_is_a_finding_and_a_fence_a_row_or_a_long_link_is_none() {
        let wide = "word ".repeat(COLUMNS_MAX / 5);
        let link = format!("[a]({}.md)", "b".repeat(WORD_MAX));
        let text =
            format!("{wide}\n{wide}.\n| {wide} |\n```\n{wide}.\n```\n{wide}{link}\n- {wide}\n");
        let page = |path| prose(&[Source::sample(path, &text)]);
        assert_eq!(
            page("docs/a.md"),
            [
                "docs/a.md:2: above 100 columns",
                "docs/a.md:8: above 100 columns"
            ]
        );
        assert_eq!(page("a.rs"), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_does_not_parse_is_a_finding() {
        assert_eq!(found_in("fn ("), 1);
    }
}
