//! Commands and addresses as text: words are quoted as a shell and a browser read them.

use crate::ui::quoted;

/// A command line of these words.
pub(super) fn command<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    words.join(" ")
}

/// The words that a shell makes of a line, of which nothing is expanded; `None` where a quotation
/// or an escape has no end.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let (mut quote, mut chars) = (None, line.chars());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None, '\\') => word.get_or_insert_default().push(chars.next()?),
            (Some('"'), '\\') => {
                let next = chars.next()?;
                let word = word.get_or_insert_default();
                if !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(next);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// An address with these fields; those without a value are left out.
pub(super) fn address(path: &str, fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    let mut text = path.to_owned();
    for (n, (name, value)) in given.enumerate() {
        text.push(if n == 0 { '?' } else { '&' });
        text.push_str(name);
        text.push('=');
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                text.push(char::from(byte));
            } else {
                text.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser as _;

    /// Checks that the program has each command that a page shows; returns how many there are.
    pub(in crate::web) fn exist(page: &str) -> usize {
        let shown = page.split("<div class=\"cli\"><code id=\"").skip(1);
        let mut seen = 0;
        for rest in shown {
            let (_, text) = rest.split_once("\">").expect("a tag ends");
            let (text, _) = text.split_once("</code>").expect("an element ends");
            let line = plain(text);
            let words = split(&line).expect("whole words");
            assert_eq!(words.first().map(String::as_str), Some("gridbay"), "{line}");
            let parsed = Cli::try_parse_from(&words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            seen += 1;
        }
        seen
    }

    fn plain(escaped: &str) -> String {
        let marks = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&amp;", "&"),
        ];
        let put = |text: String, (from, to): (&str, &str)| text.replace(from, to);
        marks.into_iter().fold(escaped.to_owned(), put)
    }

    #[test]
    fn words_survive_a_shell() {
        for words in [
            &["gridbay", "job", "list", "--all"][..],
            &[
                "gridbay",
                "market",
                "find",
                "cpu >= 4 && site in [\"*.edu\"]",
            ],
            &["x", "it's", "", "a\\b", "$HOME", "`id`", "~", "#"],
        ] {
            assert_eq!(split(&command(words.iter().copied())).unwrap(), words);
        }
        assert_eq!(command(["a", "b=c/d.e"]), "a b=c/d.e");
        assert_eq!(command(["~", "a b"]), "'~' 'a b'");
    }

    #[test]
    fn lines_become_words() {
        let words = |line| split(line).map(|words| words.join("|"));
        assert_eq!(words(" a  'b c' d\\ e ").unwrap(), "a|b c|d e");
        assert_eq!(
            words("x\"y 'z'\"w \"\\\"\\$\\n\"").unwrap(),
            "xy 'z'w|\"$\\n"
        );
        assert_eq!(words("").unwrap(), "");
        assert_eq!(words("a\nb\t''").unwrap(), "a|b|");
        for open in ["a 'b", "\"", "a\\"] {
            assert_eq!(words(open), None, "{open}");
        }
    }

    #[test]
    fn commands_of_a_page_are_found_and_tried() {
        let page = crate::web::parts::cli("a", "gridbay market find 'cpu >= 4 && price < 5'");
        assert_eq!(exist(&page.into_string()), 1);
        let wrong = crate::web::parts::cli("a", concat!("gridbay", " market gind")).into_string();
        assert!(std::panic::catch_unwind(|| exist(&wrong)).is_err());
    }

    #[test]
    fn values_survive_an_address() {
        let fields = [("class", "a&b=c +%"), ("q", ""), ("span", "1d")];
        assert_eq!(
            address("/x", &fields),
            "/x?class=a%26b%3Dc%20%2B%25&span=1d"
        );
        assert_eq!(address("/x", &[]), "/x");
    }
}
