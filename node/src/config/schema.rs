//! The list of settings: every key, its kind, its default and its meaning.
//!
//! A key is written the same everywhere: `api.listen` in the file (as a dotted key or in a table),
//! `GRIDBAY_API_LISTEN` in the environment, `--set api.listen=…` as a flag.

use super::home::Home;
use toml::Value;

/// How a key's text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As it stands.
    Text,
    /// Texts separated by commas, or a TOML list.
    List,
    /// A whole number.
    Number,
    /// A size (`4GiB`).
    Size,
    /// A duration (`30m`).
    Duration,
    /// A TOML list of tables.
    Tables,
    /// A TOML table.
    Table,
}

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// Kind.
    pub kind: Kind,
    /// The setting's purpose.
    pub help: &'static str,
    default: Default,
}

#[derive(Debug)]
enum Default {
    Text(&'static str),
    List(&'static [&'static str]),
    Number(i64),
    Socket,
    None,
    Nothing,
}

/// Declares the settings, each with its name, kind, default and help.
macro_rules! keys {
    ($($name:literal: $kind:ident = $default:tt, $help:literal;)*) => {
        /// All settings, in the order in which they are shown.
        pub const KEYS: &[Key] = &[$(Key {
            name: $name,
            kind: Kind::$kind,
            help: $help,
            default: keys!(@ $kind $default),
        }),*];
    };
    (@ Text socket) => { Default::Socket };
    (@ Tables none) => { Default::None };
    (@ Table none) => { Default::Nothing };
    (@ Number $number:literal) => { Default::Number($number) };
    (@ List [$($text:literal),*]) => { Default::List(&[$($text),*]) };
    (@ $kind:ident $text:literal) => { Default::Text($text) };
}

keys! {
    "name": Text = "node",
        "name of this node for people";
    "listen": List = ["/ip4/0.0.0.0/udp/7411/quic-v1", "/ip4/0.0.0.0/tcp/7411"],
        "addresses to listen on for other nodes; port 0 takes a free one";
    "bootstrap": List = [],
        "nodes to start from besides those of the genesis or invitation; each ends in /p2p/<id>";
    "external": List = [],
        "addresses at which others reach this node, where it cannot find out: a forwarded port, a public name";
    "mdns": Text = "on",
        "whether to look for nodes of the network on the LAN: on or off";
    "upnp": Text = "on",
        "whether to ask the router to forward the ports of `listen`: on or off";
    "relay.places": Number = 256,
        "nodes that cannot be dialled and may be reached through this one, once it can be; 0 to relay nothing";
    "relay.circuits": Number = 128,
        "circuits relayed at a time";
    "relay.circuit-bytes": Size = "256MiB",
        "bytes relayed on one circuit before it is closed; 0 for no limit";
    "relay.circuit-time": Duration = "1h",
        "time after which a circuit is closed";
    "cluster.port": Number = 7412,
        "UDP port for the private networks of leases; 0 takes a free one";
    "cluster.device": Text = "auto",
        "what the devices of jobs in their leases' networks are: tun, veth where there is no /dev/net/tun, or auto for the first that works";
    "cluster.relay": Text = "off",
        "whether this node, once others can reach it, relays packets of leases' networks for those who lease a unit of it: on or off";
    "cluster.relay-bytes": Size = "16GiB",
        "bytes that it then relays for a leased unit in a slot";
    "cluster.free-relay": Text = "auto",
        "bytes that it relays in a day for an account that pays nothing: a size, off, or auto (64MiB on a validator of the genesis)";
    "api.socket": Text = socket,
        "unix socket of the API; a relative path lies in the data folder";
    "api.listen": Text = "off",
        "loopback address and port of the web pages, and of the API over TCP, which wants the token; off for none";
    "api.connections": Number = 128,
        "requests the API works on at once on each of its listeners; as many more wait";
    "owner.key": Text = "none",
        "key by which another node of the owner's controls this one, as `gridbay appliance key` prints it there; none for nobody";
    "owner.agent": Text = "/run/gridbay-appliance",
        "folder in which the agent of an appliance tells its status";
    "alerts.webhook": Text = "off",
        "address that alerts are posted to as JSON, as in https://chat.example.org/hook; off for none";
    "alerts.command": List = [],
        "program and its arguments, started for each alert with it as JSON on its standard input";
    "alerts.file": Text = "off",
        "file that alerts are appended to as mail; a relative path lies in the data folder; off for none";
    "alerts.authorities": Text = "system",
        "file of certificates in PEM that https webhooks are checked against; system for those of the machine";
    "alerts.balance": Text = "10",
        "credits below which the balance is low";
    "alerts.lease-end": Duration = "10m",
        "how long before its end a lease is told; 0s for never";
    "alerts.after": Duration = "2m",
        "how long a validator must be away before that is told, and anything must be over before that is";
    "traces.endpoint": Text = "off",
        "address of a collector that takes traces of orders as OTLP over HTTP in JSON, as in http://127.0.0.1:4318/v1/traces; off for none";
    "traces.sampled": Number = 100,
        "orders of which traces are sent, in percent; their ids choose them, so all nodes choose the same";
    "traces.authorities": Text = "system",
        "file of certificates in PEM that an https collector is checked against; system for those of the machine";
    "log": Text = "info",
        "log filter, as in info,gridbay_node=debug";
    "grace": Duration = "5s",
        "time a job that must stop has between SIGTERM and SIGKILL";
    "jobs.longest-grace": Duration = "60s",
        "longest such time of a job that keeps its progress, which may want more than others";
    "jobs.unisolated": Text = "off",
        "whether strangers' jobs run where this machine cannot isolate them, which protects neither this user's other processes, nor what they are seen to do, nor their limits: on or off";
    "jobs.launcher": Text = "off",
        "socket of a launcher, which starts the jobs of a node that may not make namespaces; off for none";
    "jobs.outbound": Text = "none",
        "how far jobs that ask for it get out of this machine, by a proxy: none, or web (ports 80 and 443 of the internet, from this machine's address)";
    "offers": Tables = none,
        "offers set when the node starts: class, units, reserve, buy (credits per hour), notice, mechanism";
    "attributes": Table = none,
        "what the node says of itself to who looks for sellers: site, arch, os, and own names as in gpu-model";
    "provider.policy": Text = "off",
        "contracts this node signs as a provider: off, oblivious, average, conservative, high-value-only, preempt-conservative, preempt-least-loss";
    "provider.classes": List = [],
        "classes of which the provider rents units; none for all";
    "provider.units": Number = 4,
        "units of a class that the provider counts on having at once";
    "provider.cost": Text = "1",
        "what the provider reckons a unit to cost, credits per hour";
    "provider.most": Text = "10",
        "the most the provider pays for a unit, credits per hour";
    "provider.threshold": Text = "10",
        "what a contract must pay under high-value-only, credits per hour";
    "solver.program": Text = "off",
        "program with which a validator looks for better allocations of reservations, as in highs; off for none";
    "solver.time": Duration = "10s",
        "longest time the solver has; never more than three quarters of what is left until the decision";
    "limits.content": Size = "1GiB",
        "largest file that can be staged";
    "limits.stored": Size = "16GiB",
        "disk for staged and returned files";
    "limits.output": Size = "64MiB",
        "captured output of one stream of one rank";
}

impl Key {
    /// Its environment variable.
    pub fn variable(&self) -> String {
        let name = self.name.replace('.', "_").to_ascii_uppercase();
        format!("GRIDBAY_{name}")
    }
    /// Its default in a data folder.
    pub(super) fn default(&self, home: &Home) -> Value {
        match &self.default {
            Default::Text(text) => Value::String((*text).into()),
            Default::List(list) => texts(list.iter().copied()),
            Default::Number(number) => Value::Integer(*number),
            Default::Socket => Value::String(home.socket().to_string_lossy().into_owned()),
            Default::None => Value::Array(Vec::new()),
            Default::Nothing => Value::Table(toml::Table::new()),
        }
    }
    /// Reads the text of a variable or flag; says what is wrong with it.
    pub(super) fn read(&self, text: &str) -> Result<Value, String> {
        match self.kind {
            Kind::Text | Kind::Size | Kind::Duration => Ok(Value::String(text.into())),
            Kind::Number => text
                .parse()
                .map(Value::Integer)
                .map_err(|_| format!("`{text}` is no whole number")),
            Kind::List if !text.trim_start().starts_with('[') => Ok(texts(
                text.split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty()),
            )),
            Kind::List | Kind::Tables | Kind::Table => {
                let mut table: toml::Table = toml::from_str(&format!("value = {text}"))
                    .map_err(|error| format!("`{text}`: {}", error.message()))?;
                table
                    .remove("value")
                    .ok_or_else(|| format!("`{text}` is no list"))
            }
        }
    }
}

fn texts<'a>(list: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(list.map(|text| Value::String(text.into())).collect())
}

/// The key with a name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
