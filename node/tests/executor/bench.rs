//! The tests' common tools: an executor in a folder of its own, and ways to look at processes.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gridbay_node::executor::{
    Config, Executor, Finished, Isolation, JobName, JobSpec, Link, ProcessExecutor, Started,
    Status, Stream, Tier,
};

/// Far above what anything here takes, for machines that are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An executor in a folder of its own.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) executor: ProcessExecutor,
    pub(crate) isolation: Isolation,
}

pub(crate) fn id(name: &str) -> JobName {
    JobName::new(name).unwrap()
}

pub(crate) fn executor(jobs: &Path, isolation: Isolation) -> ProcessExecutor {
    ProcessExecutor::new(config(jobs, isolation)).unwrap()
}

fn config(jobs: &Path, isolation: Isolation) -> Config {
    let mut config = Config::new(jobs);
    config.supervisor = env!("CARGO_BIN_EXE_gridbay").into();
    config.isolation = isolation;
    config
}

impl Bench {
    pub(crate) fn new(isolation: Isolation) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // In the plain tier root's jobs have another user id, and must come through here.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let executor = executor(&dir.path().join("jobs"), isolation);
        Self {
            dir,
            executor,
            isolation,
        }
    }

    /// The same where devices of jobs are of that kind.
    pub(crate) fn linked(link: Link) -> Self {
        let mut bench = Self::new(Isolation::Preferred);
        let mut config = config(&bench.dir.path().join("jobs"), bench.isolation);
        config.link = Some(link);
        bench.executor = ProcessExecutor::new(config).unwrap();
        bench
    }

    /// The same where there is no TUN, as in a container: its supervisors see a null device.
    pub(crate) fn without_tun() -> Self {
        let mut bench = Self::new(Isolation::Preferred);
        let program = bench.dir.path().join("without-tun");
        let supervisor = env!("CARGO_BIN_EXE_gridbay");
        let script = format!(
            "#!/bin/sh\nexec unshare --user --map-root-user --mount sh -c \
             'mount --bind /dev/null /dev/net/tun; exec {supervisor} \"$@\"' supervisor \"$@\"\n"
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut config = config(&bench.dir.path().join("jobs"), bench.isolation);
        config.supervisor = program;
        bench.executor = ProcessExecutor::new(config).unwrap();
        bench
    }

    /// Another executor of the same jobs, which end below so many free bytes.
    pub(crate) fn with_floor(&self, floor: u64) -> ProcessExecutor {
        let mut config = config(&self.dir.path().join("jobs"), self.isolation);
        config.floor = floor;
        ProcessExecutor::new(config).unwrap()
    }

    pub(crate) fn tier(&self) -> Tier {
        self.executor.probe().unwrap().tier
    }

    pub(crate) fn shell(&self, name: &str, script: &str) -> JobSpec {
        let mut spec = JobSpec::new(id(name), ["/bin/sh", "-c", script]);
        spec.limits.wall = PATIENCE;
        spec
    }

    /// The work directory of a job that was started.
    pub(crate) fn work_of(&self, name: &str) -> PathBuf {
        self.dir.path().join("jobs").join(name).join("work")
    }

    /// Prepares a job: its work directory.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.executor.prepare(&id(name), 1 << 30).unwrap()
    }

    /// Prepares and starts.
    pub(crate) fn start(&self, spec: &JobSpec) {
        let disk = spec.limits.disk_bytes;
        self.executor.prepare(&spec.job, disk).unwrap();
        self.executor.start(spec).unwrap();
    }

    /// The status of a started job that goes on. The job may show before its supervisor has written
    /// this down.
    pub(crate) fn started(&self, job: &JobName) -> Started {
        found(&format!("{job:?} is said to run"), || {
            match self.executor.status(job).unwrap() {
                Status::Running(started) => Some(started),
                _ => None,
            }
        })
    }

    pub(crate) fn wait(&self, job: &JobName) -> Finished {
        wait(&self.executor, job)
    }

    pub(crate) fn run(&self, spec: &JobSpec) -> Finished {
        self.start(spec);
        self.wait(&spec.job)
    }

    pub(crate) fn sh(&self, name: &str, script: &str) -> Finished {
        self.run(&self.shell(name, script))
    }

    pub(crate) fn read(&self, job: &str, stream: Stream) -> String {
        let mut all = Vec::new();
        loop {
            let more = self
                .executor
                .output(&id(job), stream, all.len() as u64)
                .unwrap();
            if more.is_empty() {
                return String::from_utf8(all).unwrap();
            }
            all.extend(more);
        }
    }

    pub(crate) fn stdout(&self, job: &str) -> String {
        self.read(job, Stream::Stdout)
    }
}

pub(crate) fn wait(executor: &ProcessExecutor, job: &JobName) -> Finished {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime
        .block_on(async { tokio::time::timeout(PATIENCE, executor.wait(job)).await })
        .expect("the job must end")
        .unwrap()
}

/// Waits until `condition` holds.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    found(what, || condition().then_some(()));
}

/// Waits until `look` finds something.
pub(crate) fn found<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Command lines of all processes that mention `mark`.
pub(crate) fn processes_with(mark: &str) -> Vec<String> {
    let found = numbered_with(mark).into_iter();
    found.map(|(_, line)| line).collect()
}

/// As above, with the numbers of the processes.
pub(crate) fn numbered_with(mark: &str) -> Vec<(i32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let number = entry.file_name().to_str().and_then(|n| n.parse().ok());
        let (Some(number), Ok(line)) = (number, fs::read(entry.path().join("cmdline"))) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) {
            found.push((number, line));
        }
    }
    found
}

/// Whether a program is installed where jobs see it.
pub(crate) fn is_there(program: &str) -> bool {
    let found = Command::new("/bin/sh")
        .args(["-c", &format!("command -v {program}")])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .stdout(Stdio::null())
        .status();
    let found = found.unwrap().success();
    if !found {
        not_checked(&format!("{program} is not installed"));
    }
    found
}

/// Tells it whether the test passes or not: past what keeps the output of tests that do.
pub(crate) fn not_checked(why: &str) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr().lock(), "NOT CHECKED: {name}: {why}");
}

/// A number of seconds to sleep that no other process on the machine uses.
pub(crate) fn odd_seconds(seed: u32) -> String {
    format!("{}.{seed}", 100_000 + std::process::id())
}

/// Runs the same check in both tiers and says which they were.
pub(crate) fn in_each_tier(check: impl Fn(&Bench)) {
    for isolation in [Isolation::Preferred, Isolation::Off] {
        let bench = Bench::new(isolation);
        println!("tier: {}", bench.tier());
        check(&bench);
    }
}

/// Runs a check where namespaces work, and says so where they do not.
pub(crate) fn with_namespaces(check: impl Fn(&Bench)) {
    let bench = Bench::new(Isolation::Preferred);
    let found = bench.executor.probe().unwrap();
    if found.tier == Tier::Namespaces {
        check(&bench);
    } else {
        not_checked(&format!("no namespaces here: {:?}", found.passed_over));
    }
}
