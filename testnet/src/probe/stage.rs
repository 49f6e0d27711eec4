//! The stage of the probes: an executor, and the things that its jobs must not reach.

use super::env;
use super::inside::Probe;
use super::row::{Outcome, bound};
use super::table::STAND_STILL;
use anyhow::{Context as _, bail};
use gridbay_node::executor::{
    Config, Executor, ExecutorError, Exit, Isolation, JobName, JobSpec, Limits, ProcessExecutor,
    Status, Stream, Support,
};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a probe's job may take in all.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes on the disk of a job that writes next to nothing.
const SMALL: u64 = 16 << 20;
/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(5);
/// A file of root's that only a group may read.
const OF_A_GROUP: &str = "of-a-group";
/// A limit below which nobody counts what a probe writes.
const UNCOUNTED: u64 = 1 << 40;
/// Seconds of wall time of a probe that does not say.
const WALL: Duration = Duration::from_secs(40);

type Listeners = (
    UnixListener,
    UnixDatagram,
    UnixListener,
    UnixDatagram,
    TcpListener,
);

/// A scene. All that it started ends with it.
pub(crate) struct Stage {
    executor: ProcessExecutor,
    quotas: bool,
    program: PathBuf,
    told: BTreeMap<String, String>,
    node: Child,
    neighbour: JobName,
    _listeners: Listeners,
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ended = self.node.kill().and_then(|()| self.node.wait());
        let _ended = self.end(&self.neighbour);
    }
}

impl Stage {
    /// Sets the scene in a fresh folder, with a node's launcher and quotas, if it has them. The
    /// inner error: the machine does not offer the tier.
    pub(crate) fn set(
        folder: &Path,
        (launcher, quotas): (Option<&Path>, Option<&Path>),
        isolation: Isolation,
    ) -> anyhow::Result<Result<Stage, ExecutorError>> {
        let program = std::env::current_exe()?;
        DirBuilder::new().mode(0o711).create(folder)?;
        let mut config = Config::new(folder.join("jobs"));
        config.supervisor = program.clone();
        config.launcher = launcher.map(Path::to_owned);
        config.quotas = quotas.map(Path::to_owned);
        config.isolation = isolation;
        config.read_only = vec![program.clone()];
        let executor = ProcessExecutor::new(config)?;
        let found = match executor.probe() {
            Ok(found) => found,
            Err(refused) => return Ok(Err(refused)),
        };
        let home = folder.join("home");
        DirBuilder::new().mode(0o700).create(&home)?;
        let secret = home.join("account.key");
        keep_secret(&secret)?;
        let of_group = of_a_group(folder)?;
        let (socket, datagram) = (home.join("api.sock"), home.join("datagram.sock"));
        let mark = format!("mark-{}-{isolation:?}", std::process::id());
        let unnamed = SocketAddr::from_abstract_name(&mark)?;
        let datagrams = SocketAddr::from_abstract_name(mark.clone() + env::DATAGRAMS)?;
        let listeners = (
            UnixListener::bind(&socket)?,
            UnixDatagram::bind(&datagram)?,
            UnixListener::bind_addr(&unnamed)?,
            UnixDatagram::bind_addr(&datagrams)?,
            TcpListener::bind("127.0.0.1:0")?,
        );
        let port = listeners.4.local_addr()?.port();
        let mut node = Command::new(&program);
        node.stdin(Stdio::piped());
        let node = node.args([super::WORD, STAND_STILL, &mark]).spawn()?;
        let neighbour = JobName::new("neighbour")?;
        let theirs = executor.prepare(&neighbour, SMALL)?.join("theirs");
        fs::write(&theirs, "theirs")?;
        let host = nix::unistd::gethostname()?;
        let shown = |path: &Path| path.display().to_string();
        let told = [
            (env::SECRET, shown(&secret)),
            (env::HOME, shown(&home)),
            (env::SOCKET, shown(&socket)),
            (env::DATAGRAM, shown(&datagram)),
            (env::ABSTRACT, mark.clone()),
            (env::PORT, port.to_string()),
            (env::NODE, node.id().to_string()),
            (env::MARK, mark),
            (env::NEIGHBOURS_FILE, shown(&theirs)),
            (env::HOST, host.to_string_lossy().into_owned()),
            (env::GROUP_FILE, of_group),
        ];
        let mut stage = Stage {
            executor,
            quotas: found.disk == Support::Enforced,
            program,
            told: told.map(|(name, value)| (name.to_owned(), value)).into(),
            node,
            neighbour,
            _listeners: listeners,
        };
        let pid = stage.start_neighbour()?;
        let name = env::NEIGHBOUR.to_owned();
        stage.told.insert(name, pid.to_string());
        Ok(Ok(stage))
    }

    /// Whether the kernel bounds the disk of jobs.
    pub(crate) fn has_quotas(&self) -> bool {
        self.quotas
    }

    fn spec(&self, job: &JobName, word: &str) -> JobSpec {
        let program = self.program.display().to_string();
        let words = [program, super::WORD.to_owned(), word.to_owned()];
        let mut spec = JobSpec::new(job.clone(), words);
        spec.env = self.told.clone();
        spec.limits = Limits {
            wall: WALL,
            ..Limits::default()
        };
        spec
    }

    fn start_neighbour(&self) -> anyhow::Result<i32> {
        let mut spec = self.spec(&self.neighbour, STAND_STILL);
        spec.limits.wall = Duration::from_secs(3_600);
        self.executor.start(&spec)?;
        let begin = Instant::now();
        loop {
            match self.executor.status(&self.neighbour)? {
                Status::Running(started) => return Ok(started.pid),
                Status::Finished(end) => bail!("the neighbour ended: {:?}", end.exit),
                _ if begin.elapsed() > PATIENCE => bail!("the neighbour never started"),
                _ => std::thread::sleep(LOOK),
            }
        }
    }

    /// Runs a probe beside the jobs, as the node's own process: whether it reaches its aim there.
    /// One that does not says nothing about a fence.
    pub(crate) fn reaches(&self, probe: &Probe) -> anyhow::Result<bool> {
        // As deep as a job's work directory, with what lies beside one.
        let folder = self.told_path(env::HOME).join(probe.name);
        let work = folder.join("work");
        DirBuilder::new().recursive(true).create(&work)?;
        fs::write(folder.join("launch.json"), "")?;
        let mut command = Command::new(&self.program);
        command.args([super::WORD, probe.name]).current_dir(&work);
        command.env_clear().envs(&self.told).env(env::OUTSIDE, "1");
        let done = command.stdout(Stdio::null()).status()?;
        fs::remove_dir_all(&folder)?;
        // One of them has opened it to others.
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(self.told_path(env::SECRET), private)?;
        Ok(done.code() == Some(0))
    }

    fn told_path(&self, name: &str) -> PathBuf {
        self.told.get(name).map(PathBuf::from).unwrap_or_default()
    }

    /// Runs a probe as a job. One of the disk's runs again where there are quotas, while nobody
    /// counts.
    pub(crate) fn attempt(&self, probe: &Probe) -> anyhow::Result<(Outcome, String)> {
        let watched = self.once(probe, false)?;
        let mut limits = Limits::default();
        probe
            .limits
            .iter()
            .for_each(|of_probe| of_probe(&mut limits));
        let of_disk = limits.disk_bytes != Limits::default().disk_bytes;
        match self.quotas && of_disk && watched.0 != Outcome::Broken {
            true => self.once(probe, true),
            false => Ok(watched),
        }
    }

    fn once(&self, probe: &Probe, uncounted: bool) -> anyhow::Result<(Outcome, String)> {
        let job = JobName::new(probe.name)?;
        let mut spec = self.spec(&job, probe.name);
        if let Some(limits) = probe.limits {
            limits(&mut spec.limits);
        }
        let disk = spec.limits.disk_bytes;
        self.executor.prepare(&job, disk)?;
        if uncounted {
            spec.limits.disk_bytes = UNCOUNTED;
        }
        self.executor.start(&spec).with_context(|| probe.name)?;
        let exit = self.end_of(&job)?;
        let said = self.executor.output(&job, Stream::Stdout, 0)?;
        let complaint = self.executor.output(&job, Stream::Stderr, 0)?;
        let most = spec.limits.output_bytes;
        let more = |stream| self.executor.output(&job, stream, most);
        let endless = !more(Stream::Stdout)?.is_empty() || !more(Stream::Stderr)?.is_empty();
        let folder = self.executor.work(&job);
        let beside = !uncounted || self.has_room_beside(disk)?;
        self.executor.cleanup(&job)?;
        let outcome = Outcome::of(&exit, probe.limits.is_some());
        if endless {
            let line = format!("more than {most} bytes of output were kept");
            return Ok((Outcome::Broken, line));
        }
        if !beside {
            let line = "another job has no room for what it may hold".to_owned();
            return Ok((Outcome::Broken, line));
        }
        if folder.parent().is_none_or(Path::exists) {
            return Ok((Outcome::Broken, "its folder stays".to_owned()));
        }
        if let (Outcome::Watched, Some(bound)) = (outcome, bound(&exit)) {
            return Ok((outcome, bound.to_owned()));
        }
        let said = match (said.is_empty(), complaint.is_empty()) {
            (false, _) => said,
            (true, false) => complaint,
            (true, true) => format!("{exit:?}").into_bytes(),
        };
        let said = String::from_utf8_lossy(&said);
        let detail = said.lines().next().unwrap_or_default().to_owned();
        Ok((outcome, detail))
    }

    /// Whether another job can hold so many bytes.
    fn has_room_beside(&self, bytes: u64) -> anyhow::Result<bool> {
        let job = JobName::new("beside")?;
        let file = self.executor.prepare(&job, bytes)?.join("file");
        let written = fs::write(file, vec![1; usize::try_from(bytes)?]);
        self.executor.cleanup(&job)?;
        Ok(written.is_ok())
    }

    fn end_of(&self, job: &JobName) -> anyhow::Result<Exit> {
        let begin = Instant::now();
        loop {
            if let Status::Finished(end) = self.executor.status(job)? {
                return Ok(end.exit);
            }
            if begin.elapsed() > PATIENCE {
                self.executor.stop(job, Duration::ZERO)?;
            }
            std::thread::sleep(LOOK);
        }
    }

    fn end(&self, job: &JobName) -> anyhow::Result<()> {
        self.executor.stop(job, Duration::ZERO)?;
        self.end_of(job)?;
        Ok(self.executor.cleanup(job)?)
    }
}

/// The file that root left for members of its group, if it did: this process can read it by no
/// other right.
fn of_a_group(folder: &Path) -> anyhow::Result<String> {
    let path = folder.with_file_name(OF_A_GROUP);
    if !path.exists() {
        return Ok(env::NO_FILE.to_owned());
    }
    fs::read(&path).context("this user's group opens nothing")?;
    Ok(path.display().to_string())
}

/// A file as a node keeps its keys.
fn keep_secret(path: &Path) -> std::io::Result<()> {
    let mut private = fs::OpenOptions::new();
    private.write(true).create_new(true).mode(0o600);
    std::io::Write::write_all(&mut private.open(path)?, b"secret")
}

/// A folder for the scenes of one user, with the program in it, which that user may not be able to
/// reach else. `owner`: the user and a further group that it is in.
///
/// # Errors
/// Of the disk.
pub(crate) fn home_of(
    parent: &Path,
    name: &str,
    owner: Option<(u32, u32)>,
) -> anyhow::Result<(PathBuf, PathBuf)> {
    let home = parent.join(name);
    DirBuilder::new().mode(0o711).create(&home)?;
    let program = home.join("program");
    let own = std::env::current_exe()?;
    // Another name of the same file if that is possible: it may be large.
    if owner.is_some() || fs::hard_link(&own, &program).is_err() {
        fs::copy(&own, &program).context("cannot copy this program")?;
    }
    if let Some((user, group)) = owner {
        let file = home.join(OF_A_GROUP);
        fs::write(&file, "of a group")?;
        chown(&file, Some(0), Some(group))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o040))?;
        chown(&home, Some(user), Some(user))?;
    }
    Ok((home, program))
}
