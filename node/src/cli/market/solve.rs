//! `market solve`: clears the markets of a file with the functions that the ledger uses, without a
//! node.
//!
//! With `--check` each result is compared with what the file expects; the last line says `N passed,
//! N failed`, and the exit code is 1 if any failed.

use crate::cli::context::{Context, Format};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::ui;
use gridbay_core::cases::{self, Case, CaseFile};
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const WHAT: &str = "the cases were not cleared";

/// Clear the markets of a file, offline
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct SolveArgs {
    /// The mechanism [default: the one that the file names]
    #[arg(long, value_name = "NAME")]
    mechanism: Option<String>,
    /// File of cases in JSON; - reads standard input
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,
    /// Compare with what the file expects
    #[arg(long)]
    check: bool,
}

/// The result of a case.
#[derive(Debug, Serialize)]
struct Solved {
    name: String,
    /// The result, in the form in which a file expects it.
    expect: Value,
}

/// All results, in the form of a file of cases.
#[derive(Debug, Serialize)]
struct Results {
    mechanism: String,
    cases: Vec<Solved>,
}

impl SolveArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        let file = read(&self.cases)?;
        let mechanism = choose(self.mechanism, &file)?;
        if self.check {
            return check(at, &mechanism, file.cases);
        }
        let solve = |case: Case| {
            let expect = solve(&mechanism, case.input)
                .map_err(|why| failed(Exit::USAGE, format!("case {}: {why}", case.name)))?;
            let name = case.name;
            Ok(Solved { name, expect })
        };
        let solved: Result<Vec<Solved>, CliError> = file.cases.into_iter().map(solve).collect();
        let results = Results {
            mechanism: mechanism.clone(),
            cases: solved?,
        };
        at.show(&results, table)?;
        Ok(Exit::OK)
    }
}

fn failed(exit: Exit, why: impl Into<String>) -> CliError {
    let next = "see the forms of all mechanisms in docs/cases.md";
    CliError::new(exit, WHAT, why, next)
}

fn read(path: &Path) -> Result<CaseFile, CliError> {
    let shown = path.display();
    let missing = |error: io::Error| failed(Exit::NOT_FOUND, format!("{shown}: {error}"));
    let mut source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(missing)?)
    };
    let mut bytes = Vec::new();
    let most = cases::FILE_BYTES as u64;
    let read = source.by_ref().take(most + 1).read_to_end(&mut bytes);
    read.map_err(missing)?;
    if bytes.len() > cases::FILE_BYTES {
        let why = format!("{shown} has more than {} bytes", cases::FILE_BYTES);
        return Err(failed(Exit::USAGE, why));
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        failed(
            Exit::USAGE,
            format!("{shown}: not a file of cases: {error}"),
        )
    })
}

/// The mechanism that was asked for, if it is known and the file's own.
fn choose(asked: Option<String>, file: &CaseFile) -> Result<String, CliError> {
    let name = asked.unwrap_or_else(|| file.mechanism.clone());
    if name != file.mechanism {
        let why = format!("the file is of {}, not of {name}", file.mechanism);
        return Err(failed(Exit::USAGE, why));
    }
    if cases::names().any(|known| known == name) {
        return Ok(name);
    }
    let known: Vec<&str> = cases::names().collect();
    let why = format!("no mechanism {name}; there are {}", known.join(", "));
    Err(failed(Exit::NOT_FOUND, why))
}

fn solve(mechanism: &str, input: Value) -> Result<Value, String> {
    match cases::solve(mechanism, input) {
        Some(result) => result.map_err(|error| error.to_string()),
        None => Err(format!("no mechanism {mechanism}")),
    }
}

/// Why a case does not have the result that it should; `None` if it has.
fn difference(mechanism: &str, case: Case) -> Option<String> {
    let Some(expect) = case.expect else {
        return Some("it expects nothing".into());
    };
    match solve(mechanism, case.input) {
        Ok(result) if cases::matches(&result, &expect) => None,
        Ok(result) => Some(format!("{result}; expected {expect}")),
        Err(why) => Some(why),
    }
}

/// What `--check` found.
#[derive(Debug, Default, Serialize)]
struct Verdict {
    passed: usize,
    failed: usize,
    /// Name of each case that failed, and why.
    failures: Vec<(String, String)>,
}

fn check(at: &Context, mechanism: &str, cases: Vec<Case>) -> Result<Exit, CliError> {
    let mut verdict = Verdict::default();
    for case in cases {
        let name = case.name.clone();
        match difference(mechanism, case) {
            None => verdict.passed += 1,
            Some(why) => {
                verdict.failed += 1;
                verdict.failures.push((name, why));
            }
        }
    }
    if at.format == Format::Json {
        at.show(&verdict, |_| String::new())?;
    } else {
        let mut text = String::new();
        for (name, why) in &verdict.failures {
            text += &format!("{}: {}\n", ui::clean(name), ui::clean(why));
        }
        text += &format!("{} passed, {} failed\n", verdict.passed, verdict.failed);
        ui::out(text.as_bytes())?;
    }
    Ok(if verdict.failed == 0 {
        Exit::OK
    } else {
        Exit::FAILED
    })
}

fn table(results: &Results) -> String {
    let line = |solved: &Solved| format!("{}: {}\n", ui::clean(&solved.name), solved.expect);
    results.cases.iter().map(line).collect()
}
