//! Findings from bare tokens, for code inside macros that no parser sees.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A function: its name, first and last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// All functions with a body, at any depth: `fn`, a name, and the next braces before a semicolon.
pub(crate) fn functions(tokens: TokenStream) -> Vec<Function> {
    let mut found = Vec::new();
    let mut open: Option<Function> = None;
    let mut after_fn = None;
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if ident == "fn" => after_fn = Some(ident.span().start().line),
            TokenTree::Ident(ident) => {
                if let Some(first) = after_fn.take() {
                    open = Some(Function {
                        name: ident.to_string(),
                        first,
                        last: first,
                    });
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => open = None,
            TokenTree::Group(group) => {
                if group.delimiter() == Delimiter::Brace
                    && let Some(mut function) = open.take()
                {
                    function.last = group.span_close().end().line;
                    found.push(function);
                }
                found.extend(functions(group.stream()));
                after_fn = None;
            }
            _ => after_fn = None,
        }
    }
    found
}

/// Lines on which `unwrap` is called (`.unwrap()`) or named (`Option::unwrap`).
pub(crate) fn unwraps(tokens: TokenStream) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut after_punct = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if ident == "unwrap" && after_punct => {
                lines.push(ident.span().start().line);
            }
            TokenTree::Group(group) => lines.extend(unwraps(group.stream())),
            _ => {}
        }
        after_punct =
            matches!(&token, TokenTree::Punct(p) if p.as_char() == '.' || p.as_char() == ':');
    }
    lines
}

/// Lines and tokens of all attributes, `#[…]`, at any depth.
pub(crate) fn attributes(tokens: TokenStream) -> Vec<(usize, TokenStream)> {
    let mut found = Vec::new();
    let mut after_hash = false;
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            if after_hash && group.delimiter() == Delimiter::Bracket {
                found.push((group.span_open().start().line, group.stream()));
            }
            found.extend(attributes(group.stream()));
        }
        let bang = matches!(&token, TokenTree::Punct(p) if p.as_char() == '!') && after_hash;
        after_hash = bang || matches!(&token, TokenTree::Punct(p) if p.as_char() == '#');
    }
    found
}

/// Lines on which a macro of one of these names is called, at any depth.
pub(crate) fn calls(tokens: TokenStream, names: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut last = None;
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '!' => found.extend(last.take()),
            TokenTree::Group(group) => found.extend(calls(group.stream(), names)),
            _ => {}
        }
        last = match &token {
            TokenTree::Ident(ident) if names.iter().any(|name| ident == name) => {
                Some((ident.span().start().line, ident.to_string()))
            }
            _ => None,
        };
    }
    found
}

/// True when an identifier occurs anywhere in the tokens.
pub(crate) fn names(tokens: TokenStream, wanted: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == wanted,
        TokenTree::Group(group) => names(group.stream(), wanted),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    #[test]
    fn functions_are_found_at_any_depth() {
        let found = functions(tokens("{ fn a() {\n fn b() {}\n } trait T { fn c(); } }"));
        let names: Vec<_> = found
            .iter()
            .map(|f| (f.name.as_str(), f.first, f.last))
            .collect();
        assert_eq!(names, [("a", 1, 3), ("b", 2, 2)]);
    }

    #[test]
    fn a_function_type_is_not_a_function() {
        assert_eq!(functions(tokens("let f: fn(u8) -> u8 = g; { h }")), []);
    }

    #[test]
    fn only_a_called_or_named_unwrap_counts() {
        assert_eq!(
            unwraps(tokens("a.unwrap();\nb.map(Option::unwrap); unwrap_or(1)")),
            [1, 2]
        );
        assert_eq!(unwraps(tokens("fn unwrap() {}")), Vec::<usize>::new());
    }

    #[test]
    fn macro_calls_and_attributes_are_found() {
        let found = calls(tokens("{ x(todo!()) } todo"), &["todo"]);
        assert_eq!(found, [(1, "todo".to_owned())]);
        assert_eq!(
            attributes(tokens("#![a] mod m { #[b]\nfn c() {} }")).len(),
            2
        );
    }
}
