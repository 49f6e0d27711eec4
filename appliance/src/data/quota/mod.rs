//! The ladder of quotas for the disk of jobs: folders with limits that the kernel keeps.
//!
//! The node may set no limit and give no project, so it finds them made, by root and once. Each is
//! a folder with a project of its own and limits of bytes and files on it; all that is made in it
//! has the same project. The node takes one for a job by what it shows
//! (`node/src/executor/quota.rs`), not by its name or number.
//!
//! A rung is a size, four of them from one power of two to the next; each has some quotas. Rungs
//! end below the size of the disk, beyond which the disk itself is the limit. What a quota has does
//! not depend on the disk, so a disk that grows only gets more of them.

pub mod make;
mod sys;

/// Bytes of the first rung: no job has less.
const LEAST: u64 = 16 << 20;
/// Rungs from one power of two to the next.
const STEPS: u32 = 4;
/// Rungs, the last of them beyond the largest file system that ext4 has.
const RUNGS: u32 = 36 * STEPS;
/// Quotas of a rung: as many as its jobs may find room for, twice over, within these bounds. Those
/// of jobs that are over are taken until their folders are freed.
const EACH: (u64, u64) = (4, 32);
/// Bytes and files beyond the rung: the node ends a job at its limit before the kernel refuses.
const BEYOND: (u64, u64) = (1 << 20, 64);
/// One file or folder for so many bytes, and the bounds of their number: as the node has it for
/// jobs (`node/src/executor/job.rs`).
const BYTES_A_FILE: u64 = 16 * 1024;
const FILES: (u64, u64) = (16_384, 1 << 20);
/// Project of the first quota: nobody else gives numbers like this.
const FIRST: u32 = 0x6772_0000;

/// A quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Name of its folder.
    pub name: String,
    /// Its project.
    pub project: u32,
    /// Bytes that the project may have.
    pub bytes: u64,
    /// Files, folders and links that it may have.
    pub files: u64,
}

/// All quotas of a disk of so many bytes, the smallest first.
pub fn ladder(disk: u64) -> impl Iterator<Item = Quota> {
    let sizes = (0..RUNGS).map(|rung| {
        let steps = u64::from(STEPS + rung % STEPS);
        (rung, (LEAST / u64::from(STEPS) * steps) << (rung / STEPS))
    });
    let rungs = sizes.take_while(move |(_, size)| size + BEYOND.0 < disk);
    rungs.flat_map(move |(rung, size)| {
        let count = (2 * (disk / size)).clamp(EACH.0, EACH.1) as u32;
        (0..count).map(move |number| Quota {
            name: format!("{}MiB-{number}", size >> 20),
            project: FIRST + rung * EACH.1 as u32 + number,
            bytes: size + BEYOND.0,
            files: (size / BYTES_A_FILE).clamp(FILES.0, FILES.1) + BEYOND.1,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    #[test]
    fn rungs_rise_by_a_quarter_at_the_most_and_end_below_the_disk() {
        for disk in [64 * MIB, 4 * GIB, 40 * GIB, 3 << 40, u64::MAX] {
            let sizes: BTreeSet<u64> = ladder(disk).map(|quota| quota.bytes).collect();
            let sizes: Vec<u64> = sizes.into_iter().collect();
            assert_eq!(sizes[0], 17 * MIB);
            for pair in sizes.windows(2) {
                let (low, high) = (pair[0] - MIB, pair[1] - MIB);
                assert!(low < high && high <= low / 4 * 5, "{pair:?}");
            }
            let last = *sizes.last().unwrap();
            assert!(
                last < disk && (disk == u64::MAX || disk <= last / 2 * 3),
                "{disk}"
            );
        }
        assert_eq!(ladder(17 * MIB).count(), 0);
    }

    #[test]
    fn sizes_that_people_choose_are_rungs() {
        let sizes: BTreeSet<u64> = ladder(1 << 50).map(|quota| quota.bytes - MIB).collect();
        for gib in [1, 2, 4, 5, 10, 20, 40, 80, 160, 1_024] {
            assert!(sizes.contains(&(gib * GIB)), "{gib}");
        }
    }

    #[test]
    fn no_name_and_no_project_is_there_twice_and_a_larger_disk_adds_to_them() {
        let small: Vec<Quota> = ladder(4 * GIB).collect();
        let large: Vec<Quota> = ladder(u64::MAX).collect();
        let names: BTreeSet<&str> = large.iter().map(|quota| quota.name.as_str()).collect();
        let projects: BTreeSet<u32> = large.iter().map(|quota| quota.project).collect();
        assert_eq!((names.len(), projects.len()), (large.len(), large.len()));
        assert!(small.iter().all(|quota| large.contains(quota)));
        assert!((500..1_000).contains(&small.len()), "{}", small.len());
        assert!(large.len() < 5_000);
    }

    #[test]
    fn files_go_with_bytes_within_their_bounds() {
        let files = |bytes: u64| {
            let quota = ladder(1 << 50).find(|quota| quota.bytes == bytes + MIB);
            quota.unwrap().files
        };
        assert_eq!(files(16 * MIB), 16_384 + 64);
        assert_eq!(files(GIB), 65_536 + 64);
        assert_eq!(files(1 << 40), (1 << 20) + 64);
    }

    #[test]
    fn a_rung_has_quotas_for_the_jobs_that_find_room() {
        let count = |bytes: u64| {
            ladder(4 * GIB)
                .filter(|quota| quota.bytes == bytes + MIB)
                .count()
        };
        assert_eq!((count(16 * MIB), count(GIB), count(3 * GIB)), (32, 8, 4));
    }
}
