//! Patterns of texts: `*` stands for any run of characters, also for none; letters fit whether
//! large or small (ASCII).

/// Whether a pattern fits a whole text. Takes time in the product of their lengths at the most.
pub fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on if the text behind the last star does not fit: one character later.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(byte) if byte.eq_ignore_ascii_case(&text[t]) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, from)) = star else {
                    return false;
                };
                star = Some((after, from + 1));
                p = after;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by trying everything.
    fn slowly(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                slowly(rest, text) || (!text.is_empty() && slowly(pattern, &text[1..]))
            }
            (Some((a, p)), Some((b, t))) => a.eq_ignore_ascii_case(b) && slowly(p, t),
            _ => false,
        }
    }

    #[test]
    fn agrees_with_trying_everything() {
        let mut words: Vec<String> = vec![String::new()];
        for length in 0..5 {
            let longer: Vec<String> = words
                .iter()
                .filter(|w| w.len() == length)
                .flat_map(|w| ["a", "B", "*"].map(|c| format!("{w}{c}")))
                .collect();
            words.extend(longer);
        }
        let texts: Vec<String> = words
            .iter()
            .filter(|w| !w.contains('*'))
            .map(|w| w.to_lowercase())
            .collect();
        for pattern in &words {
            for text in &texts {
                let expected = slowly(pattern.as_bytes(), text.as_bytes());
                assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
            }
        }
        assert!(fits("*.edu", "CS.Example.EDU") && !fits("*.edu", "edu.example"));
    }
}
