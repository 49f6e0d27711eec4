//! Whether what was printed has the shape of what a page shows: numbers, times and ids may differ,
//! and how far columns are apart; words may not.

/// Stands for any lines by itself, and for any part of a line within one.
const ANY: &str = "...";
/// Letters of a word at the least that can be an id in hexadecimal digits.
const ID: usize = 8;
/// Letters of a word at the least that can be a token with digits.
const TOKEN: usize = 24;
const UNITS: [&str; 5] = ["ms", "s", "m", "h", "d"];

/// Whether printed lines are as the page shows them.
pub(super) fn agree(shown: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return printed.is_empty();
    };
    if first.trim() == ANY {
        return (0..=printed.len()).any(|from| agree(rest, &printed[from..]));
    }
    let Some((line, below)) = printed.split_first() else {
        return false;
    };
    line_agrees(&shape(first), &shape(line)) && agree(rest, below)
}

fn line_agrees(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split(ANY).map(str::trim);
    let Some(mut rest) = parts.next().and_then(|first| printed.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

/// A line without what may differ.
fn shape(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(word_shape).collect();
    words.join(" ")
}

fn word_shape(word: &str) -> String {
    let mut shape = String::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let end = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let alphanumeric = end(|c| c.is_ascii_alphanumeric());
        let run = &rest[..alphanumeric];
        let hexadecimal = run.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let is_token = run.len() >= TOKEN && run.contains(|c: char| c.is_ascii_digit());
        let taken = if (hexadecimal && run.len() >= ID) || is_token {
            shape.push('#');
            alphanumeric
        } else if first.is_ascii_digit() {
            let number = end(|c| c.is_ascii_digit() || matches!(c, '.' | ':' | ','));
            let number = rest[..number].trim_end_matches(['.', ':', ',']).len();
            let duration = duration(rest);
            shape.push_str(if duration > 0 { "0s" } else { "0" });
            number.max(duration)
        } else {
            shape.push(first);
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    shape
}

/// Bytes of a duration at the beginning of a text, such as 1h30m or 0.2s; 0 if there is none.
fn duration(text: &str) -> usize {
    let mut taken = 0;
    loop {
        let rest = &text[taken..];
        let number = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(0);
        let letters = rest[number..]
            .find(|c: char| !c.is_ascii_alphabetic())
            .map_or(rest.len(), |end| number + end);
        if number == 0 || !UNITS.contains(&&rest[number..letters]) {
            return taken;
        }
        taken += letters;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(shown: &str, printed: &str) -> bool {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        agree(&lines(shown), &lines(printed))
    }

    #[test]
    fn numbers_times_and_ids_may_differ() {
        for (shown, printed) in [
            ("job 52fba781b5a8ff60", "job 44fa88ec7fffadd4"),
            (
                "paid 0.000278 credits, ran 0.2s",
                "paid 12 credits, ran 1h30m",
            ),
            ("waited 59.2s.", "waited 1m02s."),
            ("at 2026-11-28 11:46:48", "at 2027-01-02 00:00:00"),
            ("A   B\n1   2", "A  B\n10 20"),
            (
                "gridbay1qqqqqqqqqqqqqqqqqqqqqqqq",
                "gridbay1pppppppppppppppppppppppppppp4",
            ),
            ("4 x small from 1", "12 x small from 0.5"),
            ("disk=512MiB,price=1", "disk=1MiB,price=2"),
        ] {
            assert!(same(shown, printed), "{shown} / {printed}");
        }
    }

    #[test]
    fn words_may_not() {
        for (shown, printed) in [
            ("state ready", "state starting"),
            ("4 x small", "x small"),
            ("-0.5", "0.5"),
            ("a\nb", "a"),
            ("", "a"),
            ("a", ""),
            ("5 m", "5m"),
        ] {
            assert!(!same(shown, printed), "{shown} / {printed}");
        }
    }

    #[test]
    fn three_dots_stand_for_anything() {
        assert!(same("a\n...\nd", "a\nb\nc\nd"));
        assert!(same("...", ""));
        assert!(same("next ... node up", "next gridbay --data ~/a node up"));
        assert!(same("a...", "a b c"));
        assert!(!same("a\n...\nd", "a\nb"));
        assert!(!same("next ... node up", "next gridbay node down"));
    }
}
