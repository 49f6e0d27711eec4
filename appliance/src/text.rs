//! Texts of others, made fit to be shown.
//!
//! 1. A character that is not printable ASCII becomes `?`: it could steer a terminal, hide, or be
//!    wider than one column.
//! 2. Blanks and breaks of lines become one blank.
//! 3. A text longer than asked for ends in `...`.
//! 4. An invitation inside a text becomes `gridbay1...`: it is a secret.

/// How invitations begin.
pub const PREFIX: &str = "gridbay1";

/// The text in one line of at most so many characters, none of which steers a terminal.
pub fn clean(text: &str, most: usize) -> String {
    let shown: String = text
        .chars()
        .map(|c| match c {
            ' '..='~' => c,
            '\t' | '\n' | '\r' => ' ',
            _ => '?',
        })
        .collect();
    let words: Vec<&str> = shown.split_whitespace().collect();
    let shown = without_invitations(&words.join(" "));
    if shown.len() <= most {
        return shown;
    }
    let kept: String = shown.chars().take(most.saturating_sub(3)).collect();
    format!("{kept}...")
}

/// What leases keep busy: `1 unit is leased, 2 jobs run`.
pub fn what_runs(units: u32, jobs: u32) -> String {
    let units = match units {
        1 => "1 unit is leased".to_owned(),
        n => format!("{n} units are leased"),
    };
    match jobs {
        1 => format!("{units}, 1 job runs"),
        n => format!("{units}, {n} jobs run"),
    }
}

/// The text without the rest of any word that begins as an invitation does.
fn without_invitations(text: &str) -> String {
    let small = text.to_ascii_lowercase();
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = small[from..].find(PREFIX) {
        let end = from + at + PREFIX.len();
        kept.push_str(&text[from..end]);
        let rest = &small[end..];
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        if length > 0 {
            kept.push_str("...");
        }
        from = end + length;
    }
    kept.push_str(&text[from..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        for (text, shown) in [
            ("plain", "plain"),
            ("  a\x1b[2Jb\n", "a?[2Jb"),
            ("a\nb\t \r\nc", "a b c"),
            ("\u{202e}name", "?name"),
            ("Zürich", "Z?rich"),
            ("0123456789abc", "0123456..."),
        ] {
            assert_eq!(clean(text, 10), shown);
        }
    }

    #[test]
    fn one_is_told_as_one() {
        assert_eq!(what_runs(1, 1), "1 unit is leased, 1 job runs");
        assert_eq!(what_runs(2, 0), "2 units are leased, 0 jobs run");
    }

    #[test]
    fn an_invitation_is_never_shown() {
        for (text, shown) in [
            ("bad: gridbay1abc234, next", "bad: gridbay1..., next"),
            ("GRIDBAY1ABC gridbay1x", "GRIDBAY1... gridbay1..."),
            ("it starts with gridbay1", "it starts with gridbay1"),
            ("ü gridbay1q ü", "ü gridbay1... ü"),
        ] {
            assert_eq!(without_invitations(text), shown);
        }
    }
}
