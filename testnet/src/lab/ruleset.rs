//! The rules of a router, as text for `nft -f`.
//!
//! 1. Everything is in one table, `gw`, which a ruleset replaces as a whole: sets of mappings go
//!    with it.
//! 2. Connections are tracked in a zone. A ruleset with another zone number sees none of the
//!    connections before it: the router has forgotten them, as after a power cut.
//! 3. A packet that leaves is given the outside address. `outside` remembers which outside port an
//!    inside address and port got, and it is taken again for any destination; `inside` is the way
//!    back. A symmetric router has neither: each connection gets a new random port.
//! 4. A packet that arrives and belongs to no connection is handed to the owner of its port if the
//!    kind lets it in; `spoken` holds the addresses that were written to, where that decides.
//! 5. All other packets are dropped without an answer and before they are tracked. A refusal or an
//!    entry left behind would spoil a hole punch.
//!
//! Maps are learnt behind the translation, where a packet has its outside source and its connection
//! still knows the inside one. TCP mappings live as long as a home router keeps an idle connection.

use super::nat::Kind;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::time::Duration;

/// Seconds that a TCP mapping is kept unused (RFC 5382 wants 2 hours 4 minutes).
const TCP_SECONDS: u64 = 7_440;

/// A router's ruleset; `None` for `open`, which has no router. `public` is the address of its
/// device `wan0`. A `double` network's two routers get the same, each with its own address.
pub(super) fn ruleset(kind: Kind, public: Ipv4Addr, udp: Duration, zone: u16) -> Option<String> {
    let body = match kind {
        Kind::Open => return None,
        Kind::Firewall => through("iifname \"wan0\" drop"),
        Kind::Tcp443 => through(
            "iifname \"wan0\" drop\n    iifname \"lan0\" tcp dport 443 accept\n    iifname \"lan0\" drop",
        ),
        _ => translation(kind, public, udp),
    };
    Some(format!(
        "table inet gw\ndelete table inet gw\ntable inet gw {{\n{}{body}}}\n",
        zones(zone)
    ))
}

fn zones(zone: u16) -> String {
    format!(
        "  chain zone_in {{\n    type filter hook prerouting priority raw\n    ct zone set {zone}\n  }}\n  \
         chain zone_out {{\n    type filter hook output priority raw\n    ct zone set {zone}\n  }}\n"
    )
}

/// The forwarding rules: existing connections first, then the rules of the kind.
fn through(rules: &str) -> String {
    format!(
        "  chain through {{\n    type filter hook forward priority filter\n    \
         ct state established,related accept\n    {rules}\n  }}\n"
    )
}

fn translation(kind: Kind, public: Ipv4Addr, udp: Duration) -> String {
    let mut text = String::new();
    let maps = kind != Kind::Symmetric;
    if maps {
        text += "  map outside {\n    type inet_proto . ipv4_addr . inet_service : ipv4_addr . inet_service\n    \
                 flags dynamic,timeout\n    size 65535\n  }\n";
        text += "  map inside {\n    type inet_proto . inet_service : ipv4_addr . inet_service\n    \
                 flags dynamic,timeout\n    size 65535\n  }\n";
    }
    if kind == Kind::Restricted {
        text += "  set spoken {\n    type inet_proto . inet_service . ipv4_addr\n    \
                 flags dynamic,timeout\n    size 65535\n  }\n";
    }
    text += &arriving(kind);
    text += &leaving(kind, public);
    if maps {
        text += &learning(kind, udp.as_secs().max(1));
    }
    // The router itself answers to nothing but a ping.
    text += "  chain own {\n    type filter hook input priority filter\n    \
             ct state established,related accept\n    icmp type echo-request accept\n    \
             iifname \"wan0\" drop\n    meta l4proto { tcp, udp } drop\n  }\n";
    text + &through("ct status dnat accept\n    iifname \"wan0\" drop")
}

/// Packets of no connection, on their way in.
fn arriving(kind: Kind) -> String {
    let to_owner = "dnat ip to meta l4proto . th dport map @inside";
    let rule = match kind {
        Kind::Fullcone => format!("iifname \"wan0\" meta l4proto {{ tcp, udp }} {to_owner}"),
        Kind::Restricted => {
            format!("iifname \"wan0\" meta l4proto . th dport . ip saddr @spoken {to_owner}")
        }
        Kind::Hairpin => {
            format!("iifname \"lan0\" fib daddr type local meta l4proto {{ tcp, udp }} {to_owner}")
        }
        _ => return String::new(),
    };
    format!("  chain arriving {{\n    type nat hook prerouting priority dstnat\n    {rule}\n  }}\n")
}

/// The first packet of a connection, on its way out.
fn leaving(kind: Kind, public: Ipv4Addr) -> String {
    let mut text = "  chain leaving {\n    type nat hook postrouting priority srcnat\n".to_owned();
    let mut out = vec!["oifname \"wan0\""];
    if kind == Kind::Hairpin {
        out.push("oifname \"lan0\" ct status dnat");
    }
    for out in out {
        if kind != Kind::Symmetric {
            let _ = writeln!(
                text,
                "    {out} snat ip to meta l4proto . ip saddr . th sport map @outside"
            );
        }
        let _ = writeln!(
            text,
            "    {out} meta l4proto {{ tcp, udp }} snat ip to {public} fully-random"
        );
        let _ = writeln!(text, "    {out} meta nfproto ipv4 snat ip to {public}");
    }
    text + "  }\n"
}

/// Remembers mappings, and keeps those in use. A connection that came in from outside has its
/// inside end as the source of its replies.
fn learning(kind: Kind, udp_seconds: u64) -> String {
    let mut text =
        "  chain learning {\n    type filter hook postrouting priority srcnat + 10\n".to_owned();
    let mut out = vec!["oifname \"wan0\""];
    if kind == Kind::Hairpin {
        out.push("oifname \"lan0\" ct status dnat");
    }
    for (protocol, seconds) in [("udp", udp_seconds), ("tcp", TCP_SECONDS)] {
        for out in &out {
            for way in ["original", "reply"] {
                // Behind a hairpin the replies are translated back to the inner address of one's
                // own.
                if way == "reply" && out.contains("lan0") {
                    continue;
                }
                let when = format!("    {out} ct direction {way} meta l4proto {protocol}");
                let inner = format!("ct {way} ip saddr . ct {way} proto-src");
                let _ = writeln!(
                    text,
                    "{when} update @outside {{ meta l4proto . {inner} timeout {seconds}s : ip saddr . th sport }}"
                );
                let _ = writeln!(
                    text,
                    "{when} update @inside {{ meta l4proto . th sport timeout {seconds}s : {inner} }}"
                );
                if kind == Kind::Restricted {
                    let _ = writeln!(
                        text,
                        "{when} update @spoken {{ meta l4proto . th sport . ip daddr timeout {seconds}s }}"
                    );
                }
            }
        }
    }
    text + "  }\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind) -> String {
        let public = Ipv4Addr::new(45, 3, 1, 2);
        ruleset(kind, public, Duration::from_secs(30), 7).unwrap_or_default()
    }

    #[test]
    fn each_kind_has_the_rules_that_make_it() {
        for (kind, has, has_not) in [
            (Kind::Open, vec![], vec!["table"]),
            (
                Kind::Firewall,
                vec!["iifname \"wan0\" drop"],
                vec!["snat", "443"],
            ),
            (Kind::Tcp443, vec!["tcp dport 443 accept"], vec!["snat"]),
            (
                Kind::Symmetric,
                vec!["fully-random"],
                vec!["@outside", "@inside", "dnat ip"],
            ),
            (Kind::Cone, vec!["@outside"], vec!["dnat ip", "@spoken"]),
            (Kind::Double, vec!["@outside"], vec!["dnat ip", "@spoken"]),
            (
                Kind::Fullcone,
                vec!["dnat ip to meta l4proto"],
                vec!["@spoken"],
            ),
            (
                Kind::Restricted,
                vec!["ip saddr @spoken dnat ip"],
                vec!["fib"],
            ),
            (Kind::Hairpin, vec!["fib daddr type local"], vec!["@spoken"]),
        ] {
            let text = of(kind);
            for words in has {
                assert!(text.contains(words), "{kind}: no {words} in\n{text}");
            }
            for words in has_not {
                assert!(!text.contains(words), "{kind}: {words} in\n{text}");
            }
        }
    }

    #[test]
    fn every_router_replaces_its_table_forgets_by_zone_and_never_refuses() {
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Open) {
            let text = of(kind);
            assert!(text.starts_with("table inet gw\ndelete table inet gw\n"));
            assert_eq!(text.matches("ct zone set 7").count(), 2, "{kind}");
            assert_eq!(text.matches('{').count(), text.matches('}').count());
            assert!(!text.contains("reject"), "{kind}");
            assert!(text.contains("iifname \"wan0\" drop"), "{kind}");
        }
    }

    #[test]
    fn mappings_last_as_long_as_they_should() {
        let text = of(Kind::Cone);
        assert!(text.contains("timeout 30s") && text.contains("timeout 7440s"));
        assert!(text.contains("snat ip to 45.3.1.2 fully-random"));
    }
}
