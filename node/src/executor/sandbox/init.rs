//! Process 1 of a job's pid namespace: builds the sandbox, starts the job, waits for its end.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use gridbay_vnet::tun;
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::unistd::{Pid, sethostname};

use super::report::{Ending, Report};
use super::seccomp::{self, Fence};
use super::{Ends, JOB_UID, NO_DEVICE, Plan, become_user, confine, exec, interface, root, sys};
use crate::executor::capability::Tier;
use crate::executor::job::Network;

/// Does all that step 2 and 3 of the module above say. `root`: the node is root.
pub(super) fn run(plan: &Plan<'_>, root: bool, mut ends: Ends) -> ! {
    if let Err(e) = prepare(plan, root, &mut ends) {
        ends.report.fail(&e.to_string());
        sys::exit_now(1);
    }
    let job = match sys::clone_process(0) {
        Ok(Some(job)) => job,
        Ok(None) => exec::run(plan, &place(plan), ends),
        Err(e) => {
            ends.report.fail(&format!("fork: {e}"));
            sys::exit_now(1);
        }
    };
    let Ends { mut report, .. } = ends;
    let ending = reap_until(job);
    let _ = report.send(&Report::Ended(ending));
    sys::exit_now(0)
}

fn place(plan: &Plan<'_>) -> exec::Place {
    exec::Place {
        work: root::WORK.into(),
        tmp: "/tmp".into(),
        // One more for this process.
        processes: Some(plan.spec.limits.processes.saturating_add(1)),
    }
}

fn prepare(plan: &Plan<'_>, root: bool, ends: &mut Ends) -> Result<(), Box<dyn Error>> {
    let mut go = [0];
    if File::from(ends.go.try_clone()?).read(&mut go)? != 1 {
        return Err("the id maps were refused".into());
    }
    confine::end_first().map_err(|e| format!("order of ending: {e}"))?;
    unshare(CloneFlags::CLONE_NEWCGROUP).map_err(|e| format!("control groups: {e}"))?;
    tun::loopback_up().map_err(|e| format!("loopback: {e}"))?;
    let place = match &plan.spec.network {
        Network::None => None,
        Network::Lease(place) => Some(place),
    };
    let raised = place.map(|place| interface::raise(place, plan.link));
    let no_device = |e| format!("{NO_DEVICE}: {}: {e}", plan.link);
    let device = raised.transpose().map_err(no_device)?;
    let web = plan.spec.internet.then(interface::listen).transpose();
    let web = web.map_err(|e| format!("proxy: {e}"))?;
    interface::hand_over(device.as_ref(), web.as_ref(), ends.device.as_fd())
        .map_err(|e| format!("handover: {e}"))?;
    let host = place.map_or("job", |place| &place.host);
    sethostname(host).map_err(|e| format!("host name: {e}"))?;
    root::enter(plan.read_only, place)?;
    if root {
        become_user(JOB_UID).map_err(|e| format!("user: {e}"))?;
    }
    sys::drop_capabilities().map_err(|e| format!("capabilities: {e}"))?;
    prctl::set_no_new_privs()?;
    let writable = [root::WORK, "/tmp", "/dev/shm"].map(Path::new);
    let landlock = confine::landlock([Path::new("/")], writable, place.is_some())?;
    seccomp::install(Fence {
        tier: Tier::Namespaces,
        memory: plan.bounds_memory(),
        own_user: true,
        terminals: place.is_some(),
    })?;
    // Processes of the same user may not look into this one (`/proc/<pid>/mem`, `fd`, ptrace).
    prctl::set_dumpable(false)?;
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // If the supervisor died before the line above, this finds nobody reading.
    ends.report.send(&Report::Ready { landlock })?;
    sys::forward_term()?;
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
    Ok(())
}

/// Reaps all that end, until `job` does.
fn reap_until(job: Pid) -> Ending {
    loop {
        match sys::wait_child(true) {
            Ok(Some((pid, ending))) if pid == job => return ending,
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            // Not possible while `job` has not been reaped.
            Err(_) => sys::exit_now(1),
        }
    }
}
