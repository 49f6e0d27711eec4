//! The needs of a lab: root, three programs, and features of the kernel.

use anyhow::bail;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Programs, with the Debian package that has each.
const PROGRAMS: [(&str, &str); 3] = [("ip", "iproute2"), ("tc", "iproute2"), ("nft", "nftables")];
/// Where programs for administrators lie, even if the user's path does not say so.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// Whether this process may build a lab: it is root and owns network namespaces.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Says what is missing, and what to do about it.
pub fn check() -> anyhow::Result<()> {
    if !is_root() {
        bail!(
            "a lab is made of network namespaces, which takes root\n\
             hint: run it with sudo; nothing outside its own namespaces is changed"
        );
    }
    let missing: Vec<_> = PROGRAMS
        .into_iter()
        .filter(|(program, _)| find(program).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (mut programs, mut packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    programs.dedup();
    packages.dedup();
    bail!(
        "missing: {}\nhint: apt-get install {}",
        programs.join(", "),
        packages.join(" ")
    );
}

/// A program's path.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    folders
        .map(|folder| folder.join(program))
        .find(|p| p.is_file())
}

/// Whether the kernel can delay packets by itself: tried on the loopback device of the namespace
/// `name`, which is a lab's own.
pub(super) fn netem(inside: &Path) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let attempt = |verb: &str, more: &[&str]| {
            let mut tc = Command::new(find("tc").unwrap_or_else(|| "tc".into()));
            tc.args(["qdisc", verb, "dev", "lo", "root"]).args(more);
            tc.stdout(Stdio::null()).stderr(Stdio::null());
            let done = super::netns::inside(inside, move || tc.status());
            matches!(done, Ok(Ok(status)) if status.success())
        };
        attempt("add", &["netem", "delay", "1ms"]) && attempt("del", &[])
    })
}
