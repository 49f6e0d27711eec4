//! Operations on machines of a lab, and how each is written for `ip`, `tc` and `nft`.
//!
//! Devices are named after hosts, so each follows a keyword: a bare `a` would be read as `address`.
//!
//! An operation names machines by their short names; the performer turns them into namespaces.
//! Operations on one machine take effect in their order.

use super::address::Net;
use std::net::IpAddr;
use std::time::Duration;

/// One operation. `at` is a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// The machine comes into being.
    Machine {
        /// Its name.
        at: String,
    },
    /// A kernel setting below `/proc/sys/net`.
    Setting {
        /// Machine.
        at: String,
        /// Path below `/proc/sys/net`.
        key: String,
        /// The text to write.
        value: String,
    },
    /// A cable between two machines, each end with its device.
    Cable {
        /// Machine and device.
        ends: [(String, String); 2],
        /// Bytes of a packet.
        mtu: u16,
    },
    /// A switch inside a machine.
    Switch {
        /// Machine.
        at: String,
        /// Its device.
        device: String,
    },
    /// A device becomes a port of a switch.
    Port {
        /// Machine.
        at: String,
        /// The port.
        device: String,
        /// The switch.
        switch: String,
    },
    /// A device is switched on.
    On {
        /// Machine.
        at: String,
        /// Device.
        device: String,
    },
    /// A device gets an address.
    Address {
        /// Machine.
        at: String,
        /// Device.
        device: String,
        /// Address.
        net: Net,
    },
    /// A device loses an address.
    NoAddress {
        /// Machine.
        at: String,
        /// Device.
        device: String,
        /// Address.
        net: Net,
    },
    /// Where packets go; replaces the route to the same place.
    Route {
        /// Machine.
        at: String,
        /// To whom; `None` for everybody else.
        to: Option<Net>,
        /// The next machine.
        via: IpAddr,
    },
    /// Packets that no route is for vanish without a word, IPv4 and IPv6.
    Void {
        /// Machine.
        at: String,
    },
    /// Packets from or to a public link take the way through the delay process.
    Detour {
        /// Machine: the public router.
        at: String,
        /// The link's prefixes.
        of: [Net; 2],
        /// Taken, or left again.
        taken: bool,
    },
    /// The preparations for detours: the device is on, its table leads to it, and its packets are
    /// forwarded.
    DetourDevice {
        /// Machine: the public router.
        at: String,
        /// Device.
        device: String,
        /// Bytes of a packet.
        mtu: u16,
    },
    /// Packets that a super-packet on this device may stand for.
    Segments {
        /// Machine.
        at: String,
        /// Device.
        device: String,
        /// Number.
        most: u16,
    },
    /// Rate and delay of what leaves a device.
    Shape {
        /// Machine.
        at: String,
        /// The new shape.
        shape: Shape,
    },
    /// Text for `nft -f`.
    Ruleset {
        /// Machine.
        at: String,
        /// The text.
        text: String,
    },
}

/// How packets leave a device. Without rate and delay it is as if it had never been shaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Device.
    pub(super) device: String,
    /// Kilobits per second.
    pub(super) rate_kbit: Option<u32>,
    /// Delay and jitter, by netem.
    pub(super) delay: Option<(Duration, Duration)>,
}

/// Table of the routing rules that lead through the delay process.
const DETOUR_TABLE: u16 = 77;

/// A line for one of the tools, or a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Batch line of `ip`.
    Ip(String),
    /// Batch line of `ip -6`.
    Ip6(String),
    /// Batch line of `tc`.
    Tc(String),
    /// Text of `nft -f`.
    Nft(String),
    /// Path below `/proc/sys/net`, and value.
    Setting(String, String),
}

impl Step {
    /// The line or text; of a setting, what is written.
    pub(super) fn text(&self) -> &str {
        match self {
            Step::Ip(text) | Step::Ip6(text) | Step::Tc(text) | Step::Nft(text) => text,
            Step::Setting(_, value) => value,
        }
    }
}

impl Op {
    /// The machine on which it is performed; `None` for machines and cables, which come into being
    /// outside.
    pub(super) fn at(&self) -> Option<&str> {
        match self {
            Op::Machine { .. } | Op::Cable { .. } => None,
            Op::Setting { at, .. }
            | Op::Switch { at, .. }
            | Op::Port { at, .. }
            | Op::On { at, .. }
            | Op::Address { at, .. }
            | Op::NoAddress { at, .. }
            | Op::Route { at, .. }
            | Op::Void { at }
            | Op::Detour { at, .. }
            | Op::DetourDevice { at, .. }
            | Op::Segments { at, .. }
            | Op::Shape { at, .. }
            | Op::Ruleset { at, .. } => Some(at),
        }
    }
    /// How it is written. `namespace` gives the name of a machine's namespace.
    pub(super) fn steps(&self, namespace: impl Fn(&str) -> String) -> Vec<Step> {
        let ip = |line: String| vec![Step::Ip(line)];
        match self {
            Op::Machine { at } => ip(format!("netns add {}", namespace(at))),
            Op::Setting { key, value, .. } => vec![Step::Setting(key.clone(), value.clone())],
            Op::Cable { ends, mtu } => {
                let [(one, a), (other, b)] = ends;
                let (one, other) = (namespace(one), namespace(other));
                ip(format!(
                    "link add name {a} mtu {mtu} netns {one} type veth peer name {b} mtu {mtu} netns {other}"
                ))
            }
            Op::Switch { device, .. } => ip(format!("link add name {device} type bridge")),
            Op::Port { device, switch, .. } => ip(format!("link set dev {device} master {switch}")),
            Op::On { device, .. } => ip(format!("link set dev {device} up")),
            Op::Address { device, net, .. } => {
                // A fresh IPv6 address is unusable for a second unless nobody asks who else has it.
                let at_once = if net.address.is_ipv6() { " nodad" } else { "" };
                ip(format!("addr add {net} dev {device}{at_once}"))
            }
            Op::NoAddress { device, net, .. } => ip(format!("addr del {net} dev {device}")),
            Op::Route { to, via, .. } => {
                let to = to.map_or("default".to_owned(), |net| net.to_string());
                ip(format!("route replace {to} via {via}"))
            }
            Op::Void { .. } => vec![
                Step::Ip("route add blackhole 0.0.0.0/0 metric 9999".to_owned()),
                Step::Ip("route add blackhole ::/0 metric 9999".to_owned()),
            ],
            Op::Detour { of, taken, .. } => detour(of, *taken),
            Op::DetourDevice { device, mtu, .. } => detour_device(device, *mtu),
            Op::Segments { device, most, .. } => {
                ip(format!("link set dev {device} gso_max_segs {most}"))
            }
            Op::Shape { shape, .. } => shape.lines().into_iter().map(Step::Tc).collect(),
            Op::Ruleset { text, .. } => vec![Step::Nft(text.clone())],
        }
    }
}

fn detour([v4, v6]: &[Net; 2], taken: bool) -> Vec<Step> {
    let verb = if taken { "add" } else { "del" };
    let rule =
        |way: &str, net: &Net| format!("rule {verb} {way} {net} lookup {DETOUR_TABLE} pref 80");
    vec![
        Step::Ip(rule("from", v4)),
        Step::Ip(rule("to", v4)),
        Step::Ip6(rule("from", v6)),
        Step::Ip6(rule("to", v6)),
    ]
}

fn detour_device(device: &str, mtu: u16) -> Vec<Step> {
    let mut steps = vec![Step::Ip(format!(
        "link set dev {device} mtu {mtu} txqueuelen 10000 up"
    ))];
    let lines = [
        format!("route replace default dev {device} table {DETOUR_TABLE}"),
        format!("rule add iif {device} lookup main pref 70"),
        "rule add iif lo lookup main pref 71".to_owned(),
    ];
    steps.extend(lines.iter().cloned().map(Step::Ip));
    steps.extend(lines.into_iter().map(Step::Ip6));
    steps
}

impl Shape {
    /// Batch lines of `tc`: replaced from the root, so nothing of an earlier shape is left.
    fn lines(&self) -> Vec<String> {
        let device = &self.device;
        // Replacing the default queue first means that there is always one to remove.
        let mut lines = vec![
            format!("qdisc replace dev {device} root handle 9: pfifo"),
            format!("qdisc del dev {device} root"),
        ];
        if let Some(kbit) = self.rate_kbit {
            // A bucket must hold what the timer can let pass at once, and at least one packet of
            // any size.
            let burst = (kbit / 8).clamp(10_000, 1_000_000);
            lines.push(format!(
                "qdisc add dev {device} root handle 1: tbf rate {kbit}kbit burst {burst} latency 20ms"
            ));
        }
        if let Some((delay, jitter)) = self.delay {
            let parent = self.rate_kbit.map_or("root", |_| "parent 1:1");
            lines.push(format!(
                "qdisc add dev {device} {parent} netem limit 100000 delay {}us {}us",
                delay.as_micros(),
                jitter.as_micros()
            ));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::super::address;
    use super::*;

    fn lines(op: &Op) -> Vec<String> {
        op.steps(|machine| format!("lab-{machine}"))
            .into_iter()
            .map(|step| match step {
                Step::Ip(line) => format!("ip {line}"),
                Step::Ip6(line) => format!("ip -6 {line}"),
                Step::Tc(line) => format!("tc {line}"),
                Step::Nft(text) => format!("nft {text}"),
                Step::Setting(key, value) => format!("{key} = {value}"),
            })
            .collect()
    }

    #[test]
    fn operations_are_written_for_their_tools() {
        let at = || "wan".to_owned();
        let [v4, v6] = address::public_link(3, 0);
        let address = |net| Op::Address {
            at: at(),
            device: "home".into(),
            net,
        };
        let cable = Op::Cable {
            ends: [(at(), "home".into()), ("home".into(), "wan0".into())],
            mtu: 1400,
        };
        for (op, line) in [
            (Op::Machine { at: at() }, "ip netns add lab-wan"),
            (
                cable,
                "ip link add name home mtu 1400 netns lab-wan type veth peer name wan0 mtu 1400 netns lab-home",
            ),
            (address(v4.up), "ip addr add 45.3.1.1/30 dev home"),
            (address(v6.up), "ip addr add 2a45:3:1::1/64 dev home nodad"),
            (
                Op::Route {
                    at: at(),
                    to: None,
                    via: v4.up.address,
                },
                "ip route replace default via 45.3.1.1",
            ),
        ] {
            assert_eq!(lines(&op), [line]);
        }
    }

    #[test]
    fn a_detour_is_taken_and_left_in_both_families() {
        let of = address::prefixes(3);
        let op = |taken| Op::Detour {
            at: "wan".into(),
            of,
            taken,
        };
        let taken = lines(&op(true));
        assert_eq!(taken[0], "ip rule add from 45.3.0.0/16 lookup 77 pref 80");
        assert_eq!(taken[3], "ip -6 rule add to 2a45:3::/32 lookup 77 pref 80");
        let left: Vec<String> = taken.iter().map(|l| l.replace(" add ", " del ")).collect();
        assert_eq!(lines(&op(false)), left);
    }

    #[test]
    fn a_shape_replaces_the_one_before() {
        let shape = |rate_kbit, delay| Op::Shape {
            at: "wan".into(),
            shape: Shape {
                device: "home".into(),
                rate_kbit,
                delay,
            },
        };
        assert_eq!(lines(&shape(None, None)).len(), 2, "all is removed");
        let delay = Some((Duration::from_millis(15), Duration::from_micros(500)));
        let both = lines(&shape(Some(20_000), delay));
        assert!(
            both[2].contains("tbf rate 20000kbit burst 10000"),
            "{both:?}"
        );
        assert!(both[3].contains("parent 1:1 netem") && both[3].ends_with("15000us 500us"));
        assert!(lines(&shape(None, delay))[2].contains("root netem"));
    }
}
