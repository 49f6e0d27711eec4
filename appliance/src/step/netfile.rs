//! The owner's network settings: a file for systemd-networkd.
//!
//! It is text of at most [`NETWORK_BYTES`] with sections of [`SECTIONS`] alone. What the values
//! mean is for networkd to say.

use crate::config::NETWORK_BYTES;
use crate::state::Fault;

const SECTIONS: [&str; 10] = [
    "Match",
    "Link",
    "Network",
    "Address",
    "Route",
    "RoutingPolicyRule",
    "DHCP",
    "DHCPv4",
    "DHCPv6",
    "IPv6AcceptRA",
];
const HINT: &str = "write it as man systemd.network tells, or remove it from the disk";

/// Why a file is not taken.
pub(super) fn fault(bytes: &[u8]) -> Option<Fault> {
    let problem = problem(bytes)?;
    Some(Fault::new(format!("network.network: {problem}"), HINT))
}

fn problem(bytes: &[u8]) -> Option<String> {
    if bytes.len() > NETWORK_BYTES {
        return Some(format!("it has more than {NETWORK_BYTES} bytes"));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Some("it is no UTF-8 text".to_owned());
    };
    // A carriage return alone ends a line for systemd, and not here.
    let text = text.replace("\r\n", "\n");
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(steers) {
        return Some("it has control characters".to_owned());
    }
    let mut sections = 0;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let Some(section) = line.strip_prefix('[') else {
            continue;
        };
        let section = section.strip_suffix(']').unwrap_or_default();
        if !SECTIONS.contains(&section) {
            return Some(format!("line {} begins no section known here", index + 1));
        }
        sections += 1;
    }
    (sections == 0).then(|| "it has no section".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_by_its_form() {
        let good = b"# mine\n[Match]\nName=en*\n\n[Network]\r\nAddress=192.0.2.7/24\n";
        assert_eq!(fault(good), None);
        for bad in [
            &b""[..],
            b"Name=en*",
            b"[NetDev]\nKind=bridge",
            b"[Match",
            b"[Match]\nName=\0",
            b"[Match]\n# mine\r[Bogus]\r",
            b"[Match]\n\xff",
            &[b'#'; NETWORK_BYTES + 1],
        ] {
            assert!(fault(bad).is_some(), "{bad:?}");
        }
    }
}
