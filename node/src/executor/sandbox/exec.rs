//! The last steps before the job's own program: limits, streams, environment, execution.

use std::error::Error;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::sys::prctl;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::unistd::{chdir, setsid};

use super::report::Report;
use super::seccomp::{self, Fence};
use super::{Ends, NO_DEVICE, Plan, become_user, confine, proxy, root, sys};
use crate::executor::capability::Tier;
use crate::executor::job::Network;
use crate::executor::notice::NOTICE;

/// Where programs without a slash are looked for unless the job brings its own `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Exit code for a program that does not exist, as shells have it.
const NOT_FOUND: i32 = 127;
/// Exit code for a program that cannot be executed.
const NOT_EXECUTABLE: i32 = 126;

/// The difference between the tiers for the job itself.
pub(super) struct Place {
    /// The work directory, by the name the job knows it under.
    pub(super) work: PathBuf,
    /// Its directory for temporary files.
    pub(super) tmp: PathBuf,
    /// Processes of its user that may exist, if that can be bounded.
    pub(super) processes: Option<u32>,
}

/// The plain tier's whole sandbox: confine this process, then go on as the job.
pub(super) fn run_plain(plan: &Plan<'_>, outside: Option<u32>, mut ends: Ends) -> ! {
    if let Err(e) = confine_plain(plan, outside, &mut ends) {
        ends.report.fail(&e.to_string());
        sys::exit_now(1);
    }
    let place = Place {
        work: plan.folder.join("work"),
        tmp: plan.folder.join("tmp"),
        // Only an id of its own makes the kernel's count per user a count per job.
        processes: outside.map(|_| plan.spec.limits.processes),
    };
    run(plan, &place, ends)
}

fn confine_plain(
    plan: &Plan<'_>,
    outside: Option<u32>,
    ends: &mut Ends,
) -> Result<(), Box<dyn Error>> {
    if plan.spec.network != Network::None {
        return Err(format!("{NO_DEVICE}: it takes namespaces").into());
    }
    if plan.spec.internet {
        return Err("proxy: it takes namespaces".into());
    }
    let mut go = [0];
    if File::from(ends.go.try_clone()?).read(&mut go)? != 1 {
        return Err("the supervisor is gone".into());
    }
    confine::end_first()?;
    prctl::set_no_new_privs()?;
    let files = [
        "/proc",
        "/etc/passwd",
        "/etc/group",
        "/etc/hosts",
        "/etc/nsswitch.conf",
    ];
    let system = root::SYSTEM.iter().chain(&files).map(Path::new);
    let more = plan.read_only.iter().map(PathBuf::as_path);
    let writable = ["work", "tmp"].map(Path::new);
    let landlock = confine::landlock(system.chain(more), writable, false)?;
    chdir("work")?;
    if let Some(id) = outside {
        become_user(id).map_err(|e| format!("user: {e}"))?;
    }
    // Not before: the kernel forgets it when credentials change.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    seccomp::install(Fence {
        tier: Tier::Plain,
        memory: plan.bounds_memory(),
        own_user: outside.is_some(),
        terminals: false,
    })?;
    ends.report.send(&Report::Ready { landlock })?;
    Ok(())
}

/// Becomes the job. The current directory is the work directory.
pub(super) fn run(plan: &Plan<'_>, place: &Place, mut ends: Ends) -> ! {
    let (programs, argv, env) = match prepare(plan, place, &ends) {
        Ok(parts) => parts,
        Err(e) => {
            ends.report.fail(&e.to_string());
            sys::exit_now(1);
        }
    };
    let (realtime, monotonic) = sys::clocks();
    let exec = Report::Exec {
        realtime_ms: u64::try_from(realtime.as_millis()).unwrap_or(u64::MAX),
        monotonic_us: u64::try_from(monotonic.as_micros()).unwrap_or(u64::MAX),
    };
    if ends.report.send(&exec).is_err() {
        sys::exit_now(1);
    }
    let mut failure = std::io::Error::from_raw_os_error(libc::ENOENT);
    for program in &programs {
        let error = sys::execute(program, &argv, &env);
        // A directory of PATH without the program is no news; anything else is.
        if !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) {
            failure = error;
        }
    }
    let code = if failure.kind() == std::io::ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_EXECUTABLE
    };
    let name = plan.spec.argv.first().map_or("", String::as_str);
    let _ = writeln!(
        File::from(ends.stderr),
        "gridbay: cannot execute {name}: {failure}"
    );
    sys::exit_now(code)
}

type Parts = (Vec<CString>, Vec<CString>, Vec<CString>);

fn prepare(plan: &Plan<'_>, place: &Place, ends: &Ends) -> Result<Parts, Box<dyn Error>> {
    setsid()?;
    sys::dup_onto(ends.stdout.as_fd(), libc::STDOUT_FILENO)?;
    sys::dup_onto(ends.stderr.as_fd(), libc::STDERR_FILENO)?;
    let spec = plan.spec;
    if let Some(farewell) = &spec.farewell {
        // As the job's own user, in its own view: a folder that cannot be made is its own affair.
        let _exists = std::fs::create_dir_all(&farewell.folder);
    }
    let env = environment(plan, place)?;
    let argv = spec
        .argv
        .iter()
        .map(|a| CString::new(a.as_str()))
        .collect::<Result<_, _>>()?;
    let path = spec.env.get("PATH").map_or(DEFAULT_PATH, String::as_str);
    let program = spec.argv.first().map_or("", String::as_str);
    let programs = candidates(program, path)?;
    sys::default_signals();
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
    confine::limit(&spec.limits, place.processes).map_err(|e| format!("limits: {e}"))?;
    Ok((programs, argv, env))
}

/// The files that `program` may mean.
fn candidates(program: &str, path: &str) -> Result<Vec<CString>, std::ffi::NulError> {
    if program.contains('/') {
        return Ok(vec![CString::new(program)?]);
    }
    path.split(':')
        .map(|directory| if directory.is_empty() { "." } else { directory })
        .map(|directory| CString::new(format!("{directory}/{program}")))
        .collect()
}

fn environment(plan: &Plan<'_>, place: &Place) -> Result<Vec<CString>, std::ffi::NulError> {
    let given = plan
        .spec
        .env
        .iter()
        .map(|(k, v)| (OsString::from(k), OsString::from(v)));
    let mut all = std::collections::BTreeMap::<OsString, OsString>::from([
        ("PATH".into(), DEFAULT_PATH.into()),
        ("HOME".into(), (&place.work).into()),
        ("TMPDIR".into(), (&place.tmp).into()),
    ]);
    // The job's own words about it count, as they do for the others above.
    all.extend(proxy::variables(plan.spec).map(|(k, v)| (k.into(), v.into())));
    all.extend(given);
    all.insert("GRIDBAY_JOB".into(), plan.spec.job.as_str().into());
    all.insert("GRIDBAY_WORK".into(), (&place.work).into());
    if let Some(farewell) = &plan.spec.farewell {
        let checkpoint = place.work.join(&farewell.folder);
        all.insert("GRIDBAY_CHECKPOINT".into(), checkpoint.into());
        all.insert("GRIDBAY_NOTICE".into(), place.work.join(NOTICE).into());
    }
    all.into_iter()
        .map(|(mut entry, value)| {
            entry.push("=");
            entry.push(value);
            CString::new(entry.into_vec())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_means_here_and_none_means_path() {
        let names = |p, path| {
            let all = candidates(p, path).unwrap();
            all.into_iter()
                .map(|c| c.into_string().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(names("./a", "/bin"), ["./a"]);
        assert_eq!(
            names("a", "/bin::/usr/bin"),
            ["/bin/a", "./a", "/usr/bin/a"]
        );
    }
}
