//! The published cases of every mechanism, bit for bit.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use gridbay_core::cases::{self, CaseFile};

/// The files of `tests/vectors`, which must be those of all mechanisms that cases can be told of.
fn files() -> Vec<CaseFile> {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let mut files: Vec<CaseFile> = std::fs::read_dir(place)
        .unwrap()
        .map(|file| serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap())
        .collect();
    files.sort_by(|a, b| a.mechanism.cmp(&b.mechanism));
    let names: Vec<&str> = files.iter().map(|file| file.mechanism.as_str()).collect();
    assert_eq!(names, cases::names().collect::<Vec<_>>());
    files
}

#[test]
fn all_published_cases() {
    for file in files() {
        assert_eq!(file.cases.len(), 60, "{}", file.mechanism);
        for case in file.cases {
            let name = format!("{} {}", file.mechanism, case.name);
            let result = cases::solve(&file.mechanism, case.input).unwrap();
            let (result, expect) = (result.unwrap(), case.expect.unwrap());
            assert!(
                cases::matches(&result, &expect),
                "{name}: {result} is not {expect}"
            );
        }
    }
}
