//! A word count over the repository's own documents, split over the ranks of a job.
//!
//! A word is a longest run of ASCII letters, in lower case. Rank r of n takes every n-th document
//! from the r-th on and writes one line per word, count and word; the merged counts must be those
//! that are counted here, over all documents, without any of the job's tools.

use super::Output;
use std::collections::BTreeMap;

/// Where a rank writes its counts.
pub(super) const RESULT: &str = "counts.txt";

/// The job.
pub(super) const SCRIPT: &str = r#"# Counts words in this rank's share of docs/, document by document.
set -eu
LC_ALL=C
export LC_ALL
i=0
for doc in docs/*; do
    if [ $((i % GRIDBAY_SIZE)) -eq "$GRIDBAY_RANK" ]; then
        echo "$doc" >&2
        cat "$doc"
        echo
    fi
    i=$((i + 1))
done > share.txt
tr -cs 'A-Za-z' '\n' < share.txt | tr 'A-Z' 'a-z' | sed '/^$/d' | sort | uniq -c > counts.txt
echo "rank $GRIDBAY_RANK of $GRIDBAY_SIZE: $(wc -l < counts.txt) different words"
"#;

/// Path in the work directory and text, ascending by path as the shell expands it.
pub(super) const DOCUMENTS: &[(&str, &str)] = &[
    ("docs/01", include_str!("../../../../README.md")),
    ("docs/02", include_str!("../../../../docs/ARCHITECTURE.md")),
    ("docs/03", include_str!("../../../../docs/GLOSSARY.md")),
    ("docs/04", include_str!("../../../../docs/dependencies.md")),
    ("docs/05", include_str!("../../../../SECURITY.md")),
    ("docs/06", include_str!("../../../../CHANGELOG.md")),
    ("docs/07", include_str!("../../../../LICENSE-APACHE")),
    ("docs/08", include_str!("../../../../LICENSE-MIT")),
];

type Counts = BTreeMap<String, u64>;

/// Merges the ranks' counts and compares them with the count made here.
pub(super) fn judge(outputs: &[Output]) -> Result<String, String> {
    let mut merged = Counts::new();
    for (rank, output) in outputs.iter().enumerate() {
        let lines = output.file.lines();
        for line in lines {
            let (count, word) = parse(line).ok_or(format!("rank {rank}: a line `{line}`"))?;
            *merged.entry(word).or_default() += count;
        }
    }
    let texts = DOCUMENTS.iter().map(|(_, text)| *text);
    let expected = count(texts);
    if merged == expected {
        let total: u64 = merged.values().sum();
        let different = merged.len();
        return Ok(format!("{total} words, {different} different"));
    }
    let wrong = expected
        .iter()
        .find(|(word, n)| merged.get(*word) != Some(n));
    Err(match wrong {
        Some((word, n)) => {
            let found = merged.get(word).copied().unwrap_or(0);
            format!("`{word}` counted {found} times instead of {n}")
        }
        None => "words counted that no document has".to_owned(),
    })
}

fn parse(line: &str) -> Option<(u64, String)> {
    let (count, word) = line.trim_start().split_once(' ')?;
    Some((count.parse().ok()?, word.to_owned()))
}

fn count<'a>(texts: impl Iterator<Item = &'a str>) -> Counts {
    let mut counts = Counts::new();
    for text in texts {
        let words = text.split(|c: char| !c.is_ascii_alphabetic());
        for word in words.filter(|word| !word.is_empty()) {
            *counts.entry(word.to_ascii_lowercase()).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::{Work, run_here};
    use super::*;

    #[test]
    fn a_word_is_a_run_of_letters() {
        let counts = count(["It's one-two, ONE", "_two2two"].into_iter());
        let expected = [("it", 1), ("one", 2), ("s", 1), ("two", 3)];
        assert!(counts.iter().map(|(w, n)| (w.as_str(), *n)).eq(expected));
    }

    #[test]
    fn the_script_counts_what_is_counted_here_however_it_is_split() {
        for size in [1, 4] {
            let outputs: Vec<Output> = (0..size).map(|r| run_here(Work::Words, r, size)).collect();
            assert!(judge(&outputs).is_ok(), "{:?}", judge(&outputs));
        }
    }

    #[test]
    fn a_missing_rank_or_a_changed_count_is_found() {
        let mut outputs: Vec<Output> = (0..4).map(|r| run_here(Work::Words, r, 4)).collect();
        let last = outputs.pop().unwrap();
        assert!(judge(&outputs).is_err());
        let changed = last.file.replacen(" 1 ", " 2 ", 1);
        assert_ne!(changed, last.file);
        outputs.push(Output {
            file: changed,
            ..last
        });
        assert!(judge(&outputs).unwrap_err().contains("counted"));
        assert!(judge(&[]).is_err());
    }
}
