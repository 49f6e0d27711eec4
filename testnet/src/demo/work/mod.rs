//! The demo's jobs: real programs of a POSIX system, and how their results are judged.
//!
//! A job sees only the system's programs and its own work directory, so each brings its script and
//! data as input files. Its output is compared with results that this program computes by itself.

mod count;
mod hash;
mod output;
mod sleep;
mod words;

pub(crate) use count::began;
pub(crate) use output::Output;

use crate::market::File;
use gridbay_protocol::checkpoint::Checkpoint;

/// The work of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Counts words of the repository's documents, each rank in its share of them.
    Words,
    /// Checksums of generated numbers, each rank of its own range.
    Hash,
    /// Counts seconds. Starts again from nothing when it was preempted.
    Sleep(u32),
    /// Counts tenths of seconds. Goes on where it was when it was preempted.
    Count(u32),
}

impl Work {
    /// Program and arguments.
    pub(crate) fn argv(self) -> Vec<String> {
        let mut argv = vec!["sh".to_owned(), "job.sh".to_owned()];
        if let Work::Sleep(number) | Work::Count(number) = self {
            argv.push(number.to_string());
        }
        argv
    }
    /// Input files.
    pub(crate) fn inputs(self) -> Vec<File> {
        let script = match self {
            Work::Words => words::SCRIPT,
            Work::Hash => hash::SCRIPT,
            Work::Sleep(_) => sleep::SCRIPT,
            Work::Count(_) => count::SCRIPT,
        };
        let mut files = vec![file("job.sh", script)];
        if self == Work::Words {
            files.extend(words::DOCUMENTS.iter().map(|(path, text)| file(path, text)));
        }
        files
    }
    /// The file that each rank brings back, if any.
    pub(crate) fn result_file(self) -> Option<&'static str> {
        (self == Work::Words).then_some(words::RESULT)
    }
    /// How it keeps its progress, if it does.
    pub(crate) fn checkpoint(self) -> Option<Checkpoint> {
        matches!(self, Work::Count(_)).then(count::checkpoint)
    }
    /// Judges the outputs of all ranks: what was right in a few words, or what was wrong.
    pub(crate) fn judge(self, outputs: &[Output]) -> Result<String, String> {
        match self {
            Work::Words => words::judge(outputs),
            Work::Hash => hash::judge(outputs),
            Work::Sleep(seconds) => sleep::judge(seconds, outputs),
            Work::Count(tenths) => count::judge(tenths, outputs),
        }
    }
}

fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        content: text.as_bytes().to_vec(),
    }
}

/// Runs a job's script as a node would, in a folder of its own, for the tests of the judges.
#[cfg(test)]
pub(crate) fn run_here(work: Work, rank: u32, size: u32) -> Output {
    let dir = tempfile::tempdir().unwrap();
    for file in work.inputs() {
        let path = dir.path().join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file.content).unwrap();
    }
    let argv = work.argv();
    let checkpoint = dir.path().join("ckpt");
    std::fs::create_dir(&checkpoint).unwrap();
    let done = std::process::Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(dir.path())
        .env("GRIDBAY_RANK", rank.to_string())
        .env("GRIDBAY_SIZE", size.to_string())
        .env("GRIDBAY_CHECKPOINT", checkpoint)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{complaint}");
    let read = |path| std::fs::read_to_string(dir.path().join(path)).unwrap();
    Output {
        stdout: String::from_utf8(done.stdout).unwrap(),
        file: work.result_file().map(read).unwrap_or_default(),
    }
}
