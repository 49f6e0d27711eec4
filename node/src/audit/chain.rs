//! Lines that hold the hash of the line before them.
//!
//! A line is the JSON of [`Line`], with the hash of that very text as its last field.

use super::line::Line;

/// What stands between a line's text and its hash.
const MARK: &str = ",\"hash\":\"";
/// Hex digits of a hash.
const DIGITS: usize = 64;

/// A line as it stands in the file, without its end, and its hash.
pub(super) fn seal(line: &Line) -> Result<(String, String), serde_json::Error> {
    let text = serde_json::to_string(line)?;
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    let body = text.strip_suffix('}').unwrap_or(&text);
    Ok((format!("{body}{MARK}{hash}\"}}"), hash))
}

/// A line that was read, and its hash; `None` if its text is not what the hash is of.
pub(super) fn unseal(text: &str) -> Option<(Line, String)> {
    let body = text.strip_suffix("\"}")?;
    let (body, hash) = body.split_at_checked(body.len().checked_sub(DIGITS)?)?;
    let body = format!("{}}}", body.strip_suffix(MARK)?);
    if blake3::hash(body.as_bytes()).to_hex().as_str() != hash {
        return None;
    }
    Some((serde_json::from_str(&body).ok()?, hash.to_owned()))
}

/// Where a log stops being whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// A line was changed: that after the line of this number.
    Changed(u64),
    /// Lines are missing or were put in between after the line of this number.
    Gap(u64),
    /// Lines are missing at the end, after this number, up to that one.
    End(u64, u64),
}

/// The last line of a log: its number and hash.
pub(super) type Head = (u64, String);

/// The lines of a text, after those before it; the first break ends them. `last` is the last line
/// before the text, of which nothing is known at the beginning of what is kept.
pub(super) fn follow(
    text: &str,
    last: &mut Option<Head>,
    mut take: impl FnMut(Line),
) -> Result<(), Break> {
    for row in text.lines() {
        let at = last.as_ref().map_or(0, |(seq, _)| *seq);
        let (line, hash) = unseal(row).ok_or(Break::Changed(at))?;
        let fits = match last.as_ref() {
            Some((seq, before)) => line.seq == seq + 1 && line.prev == *before,
            None => (line.seq == 1) == line.prev.is_empty(),
        };
        if !fits {
            return Err(Break::Gap(at));
        }
        *last = Some((line.seq, hash));
        take(line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::line::{Outcome, Who};
    use super::*;

    fn line(seq: u64, prev: &str) -> Line {
        Line {
            seq,
            time_ms: 5,
            who: Who::Socket { uid: 7, pid: None },
            what: "POST /jobs".to_owned(),
            place: None,
            detail: [("name".to_owned(), "a \"b\",\"hash\":\"".to_owned())].into(),
            outcome: Outcome::Done,
            status: Some(202),
            prev: prev.to_owned(),
        }
    }

    fn chain(count: u64) -> Vec<String> {
        let mut prev = String::new();
        let next = |seq| {
            let (text, hash) = seal(&line(seq, &prev)).unwrap();
            prev = hash;
            text
        };
        (1..=count).map(next).collect()
    }

    fn followed(lines: &[String]) -> (usize, Result<(), Break>) {
        let (mut count, mut last) = (0, None);
        let done = follow(&lines.join("\n"), &mut last, |_| count += 1);
        (count, done)
    }

    #[test]
    fn a_line_is_json_with_its_hash_and_reads_back() {
        let (text, hash) = seal(&line(1, "")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["hash"], hash);
        assert_eq!(unseal(&text), Some((line(1, ""), hash)));
        for odd in ["", "{}", "\"}", &text[1..], &text[..text.len() - 1]] {
            assert_eq!(unseal(odd), None, "{odd}");
        }
    }

    #[test]
    fn every_change_of_a_chain_is_seen() {
        let lines = chain(6);
        assert_eq!(followed(&lines), (6, Ok(())));
        assert_eq!(followed(&lines[2..]), (4, Ok(())), "older files are gone");
        let mut changed = lines.clone();
        changed[3] = changed[3].replace("202", "200");
        assert_eq!(followed(&changed), (3, Err(Break::Changed(3))));
        let mut cut = lines.clone();
        cut.remove(3);
        assert_eq!(followed(&cut), (3, Err(Break::Gap(3))));
        let mut twice = lines.clone();
        twice.insert(2, lines[1].clone());
        assert_eq!(followed(&twice), (2, Err(Break::Gap(2))));
        // One that was made anew, as whoever changes a line has to.
        let mut anew = lines;
        anew[4] = seal(&line(5, "")).unwrap().0;
        assert_eq!(followed(&anew), (4, Err(Break::Gap(4))));
    }
}
