//! Version 1: a hierarchy for each controller, or for some of them together.

use super::super::job::Limits;
use super::{CONTROLLERS, Groups, Hierarchy, JOBS, PERIOD_US, Seeker, delegated, processes, quota};

/// Where the jobs' folders go, for each controller that has a hierarchy.
pub(super) fn find(seeker: Seeker<'_>) -> Option<Groups> {
    let mut hierarchies: Vec<Hierarchy> = Vec::new();
    for controller in CONTROLLERS {
        let Some(group) = seeker.group(Some(controller)) else {
            continue;
        };
        let folder = match delegated(&group) {
            Some(above) => above.join(JOBS),
            None if seeker.root => group.join(seeker.name),
            None => continue,
        };
        match hierarchies.iter_mut().find(|h| h.folder == folder) {
            Some(same) => same.has.push(controller),
            None => hierarchies.push(Hierarchy {
                folder,
                has: vec![controller],
            }),
        }
    }
    (!hierarchies.is_empty()).then_some(Groups {
        two: false,
        hierarchies,
    })
}

/// The settings of a job: files of a controller, and their texts.
pub(super) fn bounds(controller: &str, limits: &Limits) -> Vec<(&'static str, String)> {
    match controller {
        "cpu" => {
            // A slice weighs what the kernel gives to a group by itself.
            let shares = u64::from(limits.weight) * 1_024 / 1_000;
            let mut all = vec![("cpu.shares", shares.clamp(2, 1 << 18).to_string())];
            if let Some(quota) = quota(limits) {
                all.extend([
                    ("cpu.cfs_period_us", PERIOD_US.to_string()),
                    ("cpu.cfs_quota_us", quota.to_string()),
                ]);
            }
            all
        }
        "memory" => {
            let bytes = limits.memory_bytes.to_string();
            vec![
                ("memory.limit_in_bytes", bytes.clone()),
                ("memory.memsw.limit_in_bytes", bytes),
            ]
        }
        _ => vec![processes(limits)],
    }
}
