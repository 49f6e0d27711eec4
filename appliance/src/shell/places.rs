//! Where things are in the appliance.

use super::command::Command;
use super::files::read_bounded;
use crate::update::record;
use std::io;
use std::path::{Path, PathBuf};

/// Largest table of users or mounts read.
const TABLE_BYTES: u64 = 1 << 20;

/// Folders, programs and the node's user.
#[derive(Clone, Debug)]
pub struct Places {
    /// Where the data partition is mounted.
    pub data: PathBuf,
    /// The agent's folder for what ends with this boot.
    pub run: PathBuf,
    /// Credentials of the service, if systemd gave any.
    pub credentials: Option<PathBuf>,
    /// Disks by their label.
    pub labels: PathBuf,
    /// Names of disks and their partitions, as the kernel lists them.
    pub blocks: PathBuf,
    /// Where they lie by these names.
    pub devices: PathBuf,
    /// Network settings for this boot.
    pub networks: PathBuf,
    /// What the image says of itself.
    pub image: PathBuf,
    /// Partitions by their label.
    pub partitions: PathBuf,
    /// The words that the kernel was started with.
    pub command_line: PathBuf,
    /// The kernel's name of this boot.
    pub boot_id: PathBuf,
    /// Public keys whose updates this image takes.
    pub update_keys: PathBuf,
    /// The `gridbay` program, with the words that come first.
    pub gridbay: Vec<String>,
    /// The `systemctl` program.
    pub systemctl: String,
    /// The user that the node runs as; `None` for the present one, in tests.
    pub user: Option<String>,
    /// Whether /data must be a mount of its own.
    pub must_be_mounted: bool,
}

/// A user's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl Places {
    /// Those of the appliance.
    pub fn system() -> Places {
        Places {
            data: "/data".into(),
            run: "/run/gridbay-appliance".into(),
            credentials: std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from),
            labels: "/dev/disk/by-label".into(),
            blocks: "/sys/class/block".into(),
            devices: "/dev".into(),
            networks: "/run/systemd/network".into(),
            image: "/usr/lib/gridbay/image.json".into(),
            partitions: "/dev/gridbay".into(),
            command_line: "/proc/cmdline".into(),
            boot_id: "/proc/sys/kernel/random/boot_id".into(),
            update_keys: "/usr/lib/gridbay/update-keys".into(),
            gridbay: vec!["/usr/bin/gridbay".to_owned()],
            systemctl: "systemctl".to_owned(),
            user: Some("gridbay".to_owned()),
            must_be_mounted: true,
        }
    }
    /// The node's data folder.
    pub fn node(&self) -> PathBuf {
        self.data.join("gridbay")
    }
    /// Quotas for the disk of the node's jobs.
    pub fn quotas(&self) -> PathBuf {
        self.node().join("quotas")
    }
    /// An update that the node's owner handed over.
    pub fn handed(&self) -> PathBuf {
        self.node().join("owner-update")
    }
    /// The agent's own folder, for what survives a boot.
    pub fn state(&self) -> PathBuf {
        self.data.join("appliance")
    }
    /// Where accepted settings are kept.
    pub fn kept(&self) -> PathBuf {
        self.state().join("config")
    }
    /// The owner's network settings in force.
    pub fn network_file(&self) -> PathBuf {
        self.networks.join("10-gridbay.network")
    }
    /// The partition with the boot loader's files.
    pub fn boot(&self) -> PathBuf {
        self.partitions.join("gridbay-boot")
    }
    /// The record of the last update.
    pub fn update_record(&self) -> PathBuf {
        self.state().join(record::NAME)
    }
    /// Says that this boot is no trial any more; `gridbay-trial.service` looks for it.
    pub fn settled_marker(&self) -> PathBuf {
        self.run.join("settled")
    }
    /// Says that the node is to be drained.
    pub fn drain_marker(&self) -> PathBuf {
        self.run.join("drain")
    }
    /// The numbers of the node's user.
    pub fn account(&self) -> io::Result<Option<Account>> {
        let Some(user) = &self.user else {
            return Ok(None);
        };
        let table = read_bounded(Path::new("/etc/passwd"), TABLE_BYTES)?;
        let found = account_in(&String::from_utf8_lossy(&table), user);
        let missing = || io::Error::other(format!("there is no user {user}"));
        found.map(Some).ok_or_else(missing)
    }
    /// Whether something is mounted at exactly this folder.
    pub fn is_mounted(&self, folder: &Path) -> bool {
        let table = read_bounded(Path::new("/proc/self/mounts"), TABLE_BYTES);
        let table = table.unwrap_or_default();
        mounted_in(&String::from_utf8_lossy(&table), folder)
    }
    /// A program that runs as the node's user.
    pub fn as_node(&self, program: &str) -> Command {
        match &self.user {
            None => Command::new(program),
            Some(user) => Command::new("setpriv")
                .arg(&format!("--reuid={user}"))
                .arg(&format!("--regid={user}"))
                .args(["--init-groups", "--no-new-privs", "--"])
                .arg(program),
        }
    }
}

/// A user's numbers in the text of a table of users.
fn account_in(table: &str, user: &str) -> Option<Account> {
    let line = table
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&user))?;
    Some(Account {
        uid: line.get(2)?.parse().ok()?,
        gid: line.get(3)?.parse().ok()?,
    })
}

fn mounted_in(table: &str, folder: &Path) -> bool {
    let mut mounts = table.lines().filter_map(|line| line.split(' ').nth(1));
    mounts.any(|mount| Path::new(mount) == folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_mounts_are_found_in_their_tables() {
        let table = "root:x:0:0:root:/:/bin/sh\nbad\ngridbay2:x:5:5\ngridbay:x:990:991::/:/no\n";
        let found = Some(Account { uid: 990, gid: 991 });
        assert_eq!(account_in(table, "gridbay"), found);
        assert_eq!(account_in(table, "bad"), None);
        assert_eq!(account_in("", "gridbay"), None);
        let mounts = "proc /proc proc rw 0 0\n/dev/vda3 /data ext4 rw 0 0\nx\n";
        assert!(mounted_in(mounts, Path::new("/data")));
        assert!(!mounted_in(mounts, Path::new("/dat")));
    }
}
