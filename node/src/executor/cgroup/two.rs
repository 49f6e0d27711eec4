//! Version 2: one hierarchy, whose controllers are switched on from above.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::super::job::Limits;
use super::{
    CONTROLLERS, Groups, Hierarchy, JOBS, OWN, PERIOD_US, Seeker, delegated, make, processes, put,
    quota,
};

/// The place for the jobs' groups, if there is one with processors.
pub(super) fn find(seeker: Seeker<'_>) -> Option<Groups> {
    let (above, name) = place(&seeker)?;
    let controllers = fs::read_to_string(above.join("cgroup.controllers")).ok()?;
    let there = |name: &&str| controllers.split_whitespace().any(|c| c == *name);
    let has: Vec<_> = CONTROLLERS.into_iter().filter(there).collect();
    has.contains(&"cpu").then(|| Groups {
        two: true,
        hierarchies: vec![Hierarchy {
            folder: above.join(name),
            has,
        }],
    })
}

/// The place of the jobs' folder in version 2, and its name.
fn place<'a>(seeker: &Seeker<'a>) -> Option<(PathBuf, &'a str)> {
    let group = seeker.group(None)?;
    if let Some(above) = delegated(&group) {
        return Some((above, JOBS));
    }
    // Only the root of all is without a type, and may hold processes beside groups.
    if seeker.root {
        let top = !group.join("cgroup.type").exists();
        return top.then_some((group, seeker.name));
    }
    let alone = fs::read_to_string(group.join("cgroup.procs")).ok()?;
    let alone = alone.trim() == std::process::id().to_string();
    let own = group.join(OWN);
    (alone && make(&own).is_ok() && put(&own.join("cgroup.procs"), "0").is_ok())
        .then_some((group, JOBS))
}

/// Switches the controllers on for the jobs' folder and for what is below.
pub(super) fn switch_on(hierarchy: &Hierarchy) -> io::Result<()> {
    let which = hierarchy.has.iter().map(|name| format!("+{name}"));
    let which: Vec<String> = which.collect();
    let above = hierarchy.folder.parent().unwrap_or(&hierarchy.folder);
    for folder in [above, &hierarchy.folder] {
        put(&folder.join("cgroup.subtree_control"), &which.join(" "))?;
    }
    Ok(())
}

/// The settings of a job: files of a controller, and their texts.
pub(super) fn bounds(controller: &str, limits: &Limits) -> Vec<(&'static str, String)> {
    match controller {
        "cpu" => {
            let weight = u64::from(limits.weight) / 10;
            let mut all = vec![("cpu.weight", weight.clamp(1, 10_000).to_string())];
            all.extend(quota(limits).map(|quota| ("cpu.max", format!("{quota} {PERIOD_US}"))));
            all
        }
        "memory" => vec![
            ("memory.max", limits.memory_bytes.to_string()),
            ("memory.swap.max", "0".to_owned()),
        ],
        _ => vec![processes(limits)],
    }
}
