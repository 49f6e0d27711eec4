//! Memory that the host has taken back while the machine runs.
//!
//! A virtio balloon takes pages from the machine and gives them back. Without the feature
//! *deflate on OOM* the kernel counts them off its memory by itself. With it, which is how an owner
//! should set it, the memory stays the machine's in name, since the kernel takes it back rather
//! than end a program: so the pages in the balloon are counted here.

use super::files::read_bounded;
use std::fs;
use std::path::Path;

const DRIVER: &str = "/sys/bus/virtio/drivers/virtio_balloon";
const COUNTERS: &str = "/proc/vmstat";
/// Largest file read.
const BYTES: u64 = 64 * 1024;
/// Deflate on OOM (virtio 1.3, 5.5.3).
const DEFLATE_ON_OOM: usize = 2;
/// Of a balloon, whatever the machine's own pages are (virtio 1.3, 5.5.6).
const PAGE_KIB: u64 = 4;

/// MiB in balloons that the kernel does not count off its memory.
pub(super) fn taken_mib() -> u64 {
    let read = |path: &Path| {
        let bytes = read_bounded(path, BYTES).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let devices = fs::read_dir(DRIVER).into_iter().flatten().flatten();
    let mut features = devices.map(|device| read(&device.path().join("features")));
    if features.any(|features| gives_back(&features)) {
        inside_mib(&read(Path::new(COUNTERS)))
    } else {
        0
    }
}

/// Whether a device's features, a digit for each bit, have the one that counts here.
fn gives_back(features: &str) -> bool {
    features.as_bytes().get(DEFLATE_ON_OOM) == Some(&b'1')
}

/// MiB that went into balloons and did not come out.
fn inside_mib(counters: &str) -> u64 {
    let pages = |name: &str| {
        let mut lines = counters.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(key, _)| *key == name);
        found.and_then(|(_, count)| count.trim().parse::<u64>().ok())
    };
    let (inflated, deflated) = (pages("balloon_inflate"), pages("balloon_deflate"));
    let inside = inflated.unwrap_or(0).saturating_sub(deflated.unwrap_or(0));
    inside.saturating_mul(PAGE_KIB) >> 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_inside_count_and_garbage_is_nothing() {
        let text = "nr_free_pages 7\nballoon_inflate 131072\nballoon_deflate 1024\n";
        assert_eq!(inside_mib(text), 508);
        assert_eq!(inside_mib("balloon_inflate 256\n"), 1);
        assert_eq!(inside_mib("balloon_inflate 1\nballoon_deflate 2\n"), 0);
        assert_eq!(inside_mib("balloon_inflate x\n"), 0);
        assert!(gives_back("0010100\n") && !gives_back("0101") && !gives_back(""));
    }
}
