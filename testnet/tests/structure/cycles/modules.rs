//! The modules of a source file: what each defines, imports and names, read from its tokens.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::tokens;

/// Names from a root on.
pub(super) type Path = Vec<String>;

/// A module: that of a file, or one written out in a file.
#[derive(Default)]
pub(super) struct Module {
    pub(super) file: usize,
    pub(super) items: BTreeSet<String>,
    pub(super) names: BTreeMap<String, Path>,
    pub(super) globs: Vec<Path>,
    /// Paths in imports that are edges, and in code.
    pub(super) paths: Vec<Path>,
}

/// The path of a name in a module.
pub(super) fn below(at: &[String], name: &str) -> Path {
    let mut path = at.to_vec();
    path.push(name.to_owned());
    path
}

/// Reads the tokens of a file.
pub(super) struct Reader<'p> {
    pub(super) modules: &'p mut BTreeMap<Path, Module>,
    pub(super) file: usize,
    /// Whether re-exports are no edges here.
    pub(super) exports: bool,
}

impl Reader<'_> {
    /// The items of a module.
    pub(super) fn module(&mut self, at: &Path, tokens: TokenStream) {
        let module = self.modules.entry(at.clone()).or_default();
        module.file = self.file;
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let (mut next, mut public) = (0, false);
        while next < tokens.len() {
            let word = word(&tokens, next);
            let name = self::word(&tokens, next + 1);
            if let Some(end) = end_of_test(&tokens, next) {
                next = end;
                continue;
            }
            match (word.as_str(), name) {
                ("pub", _) => {
                    public = true;
                    next += 1 + usize::from(is_group(&tokens, next + 1, Delimiter::Parenthesis));
                    continue;
                }
                ("use", _) => {
                    let end = end_of_item(&tokens, next);
                    self.import(at, &tokens[next + 1..end], public && self.exports);
                    next = end;
                }
                ("mod", name) if is_group(&tokens, next + 2, Delimiter::Brace) => {
                    if let TokenTree::Group(group) = &tokens[next + 2] {
                        self.module(&below(at, &name), group.stream());
                    }
                    next += 2;
                }
                (
                    "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union",
                    name,
                ) if !name.is_empty() => {
                    self.at(at).items.insert(name);
                    next += 1;
                }
                _ => next = self.code(at, &tokens, next),
            }
            public = false;
            next += 1;
        }
    }

    fn at(&mut self, at: &[String]) -> &mut Module {
        self.modules.entry(at.to_vec()).or_default()
    }

    /// Code at a place; returns the last place that it read.
    fn code(&mut self, at: &Path, tokens: &[TokenTree], from: usize) -> usize {
        if let TokenTree::Group(group) = &tokens[from] {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            let mut next = 0;
            while next < inner.len() {
                if let Some(end) = end_of_test(&inner, next) {
                    next = end;
                    continue;
                }
                if word(&inner, next) == "use" {
                    let end = end_of_item(&inner, next);
                    self.import(at, &inner[next + 1..end], false);
                    next = end;
                } else {
                    next = self.code(at, &inner, next);
                }
                next += 1;
            }
            return from;
        }
        let (path, last) = path(tokens, from);
        if path.len() > 1 {
            self.at(at).paths.push(path);
        }
        last
    }

    /// The tree of an import.
    fn import(&mut self, at: &Path, tree: &[TokenTree], is_export: bool) {
        let mut found = Vec::new();
        leaves(tree, &Path::new(), &mut found);
        let module = self.at(at);
        for (path, name) in found {
            if name == "*" {
                module.globs.push(path);
                continue;
            }
            module.names.insert(name, path.clone());
            if !is_export {
                module.paths.push(path);
            }
        }
    }
}

/// Paths of an import with the names that they are bound to, `*` for everything.
fn leaves(tree: &[TokenTree], before: &Path, found: &mut Vec<(Path, String)>) {
    let mut path = before.clone();
    let mut name = None;
    let mut next = 0;
    while next < tree.len() {
        match &tree[next] {
            TokenTree::Ident(word) if word == "as" => {
                name = Some(self::word(tree, next + 1));
                next += 1;
            }
            TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
            TokenTree::Ident(word) => path.push(word.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '*' => name = Some("*".to_owned()),
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_comma =
                    |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
                for part in inner.split(is_comma).filter(|part| !part.is_empty()) {
                    leaves(part, &path, found);
                }
                return;
            }
            _ => {}
        }
        next += 1;
    }
    let name = name.or_else(|| path.last().cloned());
    found.extend(name.map(|name| (path, name)));
}

/// The path that begins at a place, and its last place.
fn path(tokens: &[TokenTree], from: usize) -> (Path, usize) {
    let is = |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == sign);
    let (mut path, mut last) = (Path::new(), from);
    let follows =
        from > 0 && (is(from - 1, '.') || is(from - 1, ':') && from > 1 && is(from - 2, ':'));
    let first = word(tokens, from);
    if first.is_empty() || follows {
        return (path, last);
    }
    path.push(first);
    while is(last + 1, ':') && is(last + 2, ':') {
        match word(tokens, last + 3) {
            name if name.is_empty() => break,
            name => path.push(name),
        }
        last += 3;
    }
    (path, last)
}

fn word(tokens: &[TokenTree], at: usize) -> String {
    match tokens.get(at) {
        Some(TokenTree::Ident(word)) => word.to_string(),
        _ => String::new(),
    }
}

fn is_group(tokens: &[TokenTree], at: usize, kind: Delimiter) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Group(group)) if group.delimiter() == kind)
}

/// The place of the semicolon or the braces that end an item.
fn end_of_item(tokens: &[TokenTree], from: usize) -> usize {
    let is_import = word(tokens, from) == "use";
    let ends = |at: &usize| match &tokens[*at] {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => !is_import && group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    (from..tokens.len()).find(ends).unwrap_or(tokens.len() - 1)
}

/// Behind the item of a test, if its attribute stands here: `#[test]`, or a `cfg` of it.
fn end_of_test(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let is_hash = matches!(&tokens[at], TokenTree::Punct(punct) if punct.as_char() == '#');
    let Some(TokenTree::Group(attribute)) = tokens.get(at + 1).filter(|_| is_hash) else {
        return None;
    };
    let words: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let not = attribute.stream().to_string().contains("not");
    let is_test = word(&words, 0) == "test"
        || word(&words, 0) == "cfg" && !not && tokens::names(attribute.stream(), "test");
    is_test.then(|| end_of_item(tokens, at + 2) + 1)
}
