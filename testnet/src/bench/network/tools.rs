//! The tools, and how each is started at both ends of a stage.

use super::part::{WORD, inner};
use super::stage::{Process, Stage, printed, start};
use super::turn::Turn;
use std::env;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// The pair of devices itself.
    Plain,
    /// Our data plane, its devices made by root.
    Gridbay,
    /// Our data plane, its devices made in user namespaces.
    Rootless,
    /// Two ranks on one node.
    OneNode,
    /// From a rank without a device to one with.
    UserOut,
    /// From a rank with a device to one without.
    UserIn,
    WireguardGo,
    Nebula,
    Tinc,
}

impl Tool {
    /// In the order of their turns.
    pub(super) const ALL: [Tool; 9] = [
        Tool::Plain,
        Tool::Gridbay,
        Tool::WireguardGo,
        Tool::Nebula,
        Tool::Tinc,
        Tool::Rootless,
        Tool::OneNode,
        Tool::UserOut,
        Tool::UserIn,
    ];
    /// What people use.
    pub(super) const OTHERS: [Tool; 3] = [Tool::WireguardGo, Tool::Nebula, Tool::Tinc];

    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Plain => "no tunnel",
            Tool::Gridbay => "gridbay",
            Tool::Rootless => "gridbay without root",
            Tool::OneNode => "gridbay on one node",
            Tool::UserOut => "userspace sends",
            Tool::UserIn => "userspace receives",
            Tool::WireguardGo => "wireguard-go",
            Tool::Nebula => "nebula",
            Tool::Tinc => "tinc",
        }
    }

    /// A program that it needs and that is not installed.
    pub(super) fn missing(self) -> Option<&'static str> {
        let needs: &[_] = match self {
            Tool::Plain | Tool::Gridbay | Tool::UserOut | Tool::UserIn => &["ip"],
            Tool::Rootless | Tool::OneNode => &["unshare"],
            Tool::WireguardGo => &["wireguard-go", "wg"],
            Tool::Nebula => &["nebula", "nebula-cert"],
            Tool::Tinc => &["tincd"],
        };
        needs
            .iter()
            .find(|program| find(program).is_none())
            .copied()
    }

    /// Keys and configurations, once.
    pub(super) fn prepare(self, folder: &Path) -> anyhow::Result<()> {
        match self {
            Tool::WireguardGo => wireguard_keys(folder),
            Tool::Nebula => nebula_files(folder),
            Tool::Tinc => tinc_files(folder),
            _ => Ok(()),
        }
    }

    /// One turn on a new stage.
    pub(super) fn turn(self, stage: &Stage, flow: Duration) -> anyhow::Result<Turn> {
        if matches!(self, Tool::Rootless | Tool::OneNode) {
            return self.rootless(stage, flow);
        }
        if let Tool::UserOut | Tool::UserIn = self {
            return self.userspace(stage, flow);
        }
        let (mut processes, mut to) = (Vec::new(), "10.77.0.2".to_owned());
        for end in [0, 1] {
            match self {
                Tool::Gridbay => processes.push(plane(stage, end)?),
                Tool::WireguardGo => processes.push(wireguard(stage, end)?),
                Tool::Nebula => processes.push(nebula(stage, end)?),
                Tool::Tinc => processes.push(tinc(stage, end)?),
                _ => {}
            }
        }
        match self {
            Tool::Plain => to = Stage::address(1).to_string(),
            Tool::Gridbay => to = inner(1).v4.to_string(),
            _ => {}
        }
        let (mut sink, mut source) = (stage.part(1), stage.part(0));
        sink.arg("sink");
        source.args(["source", &to]);
        stage.traffic(sink, source, &processes, flow)
    }

    /// Nodes on the loopback; ranks in user namespaces of their own.
    fn rootless(self, stage: &Stage, flow: Duration) -> anyhow::Result<Turn> {
        let one = self == Tool::OneNode;
        let mut processes = Vec::new();
        let sockets = [0, 1].map(|rank| stage.folder.join(format!("rank{rank}.sock")));
        for end in if one { 0..1 } else { 0..2 } {
            let mut plane = Command::new(&stage.program);
            plane.args([WORD, "node", "127.0.0.1", &end.to_string()]);
            plane.args(if one {
                &sockets[..]
            } else {
                &sockets[end..=end]
            });
            processes.push(start(&mut plane)?);
        }
        wait_for(|| sockets.iter().all(|socket| socket.exists()))?;
        let rank = |number: usize| {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--net"]);
            command.arg(&stage.program).args([WORD, "rank"]);
            command.arg(&sockets[number]).arg(number.to_string());
            command
        };
        let (mut sink, mut source) = (rank(1), rank(0));
        sink.arg("sink");
        source.args(["source", &inner(1).v4.to_string()]);
        let turn = stage.traffic(sink, source, &processes, flow);
        for socket in &sockets {
            fs::remove_file(socket).ok();
        }
        turn
    }
}

impl Tool {
    /// One end with a device, and one whose stack and program are one process. That one's CPU is
    /// not told apart from its program's, so there is none.
    fn userspace(self, stage: &Stage, flow: Duration) -> anyhow::Result<Turn> {
        let user = if self == Tool::UserOut { 0 } else { 1 };
        let plane = plane(stage, 1 - user)?;
        let (mut sink, mut source) = (stage.part(1), stage.part(0));
        let own = Stage::address(user).to_string();
        let other = Stage::address(1 - user).to_string();
        if user == 0 {
            sink.arg("sink");
            source.args(["user", &own, &other, "flow"]);
        } else {
            sink.args(["user", &own, &other, "sink"]);
            source.args(["source", &inner(1).v4.to_string()]);
        }
        let turn = stage.traffic(sink, source, &[plane], flow)?;
        Ok(Turn {
            cpu_per_gb: f64::NAN,
            ..turn
        })
    }
}

/// Whether something becomes true within seconds.
fn wait_for(holds: impl Fn() -> bool) -> anyhow::Result<()> {
    for _ in 0..500 {
        if holds() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    anyhow::bail!("a part did not start")
}

fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// A program by its path, for those that lie where only administrators look.
fn at(program: &str) -> PathBuf {
    find(program).unwrap_or_else(|| program.into())
}

fn plane(stage: &Stage, end: usize) -> anyhow::Result<Process> {
    let mut plane = stage.part(end);
    let (own, other) = (Stage::address(end), Stage::address(1 - end));
    plane.args([
        "plane",
        &end.to_string(),
        &own.to_string(),
        &other.to_string(),
    ]);
    start(&mut plane)
}

fn wireguard_keys(folder: &Path) -> anyhow::Result<()> {
    for end in [0, 1] {
        let key = printed(Command::new(at("wg")).arg("genkey"))?;
        fs::write(folder.join(format!("wg{end}.key")), &key)?;
        let mut public = Command::new(at("wg"))
            .arg("pubkey")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = public.stdin.take() {
            stdin.write_all(key.as_bytes())?;
        }
        fs::write(
            folder.join(format!("wg{end}.pub")),
            public.wait_with_output()?.stdout,
        )?;
    }
    Ok(())
}

/// Name of wireguard-go's device at an end, and the socket by which it is configured.
fn wireguard_names(end: usize) -> (String, PathBuf) {
    let name = format!("gbwg{}{end}", std::process::id());
    let socket = PathBuf::from(format!("/var/run/wireguard/{name}.sock"));
    (name, socket)
}

/// Removes what a killed wireguard-go leaves outside its namespace.
pub(super) fn tidy() {
    for end in [0, 1] {
        fs::remove_file(wireguard_names(end).1).ok();
    }
}

fn wireguard(stage: &Stage, end: usize) -> anyhow::Result<Process> {
    let (name, socket) = wireguard_names(end);
    // One of an earlier turn would be taken for this one's.
    fs::remove_file(&socket).ok();
    let mut process = stage.inside(end, at("wireguard-go"));
    process.args(["-f", &name]).env("LOG_LEVEL", "error");
    let process = start(&mut process)?;
    wait_for(|| socket.exists())?;
    let public = fs::read_to_string(stage.folder.join(format!("wg{}.pub", 1 - end)))?;
    let mut set = stage.inside(end, at("wg"));
    set.args(["set", &name, "listen-port", "51820", "private-key"]);
    set.arg(stage.folder.join(format!("wg{end}.key")));
    let endpoint = format!("{}:51820", Stage::address(1 - end));
    let allowed = format!("10.77.0.{}/32", 2 - end);
    set.args([
        "peer",
        public.trim(),
        "allowed-ips",
        &allowed,
        "endpoint",
        &endpoint,
    ]);
    printed(&mut set)?;
    let address = format!("10.77.0.{}/24", end + 1);
    stage.ip(end, &["addr", "add", &address, "dev", &name])?;
    stage.ip(end, &["link", "set", &name, "mtu", "1420", "up"])?;
    Ok(process)
}

fn nebula_files(folder: &Path) -> anyhow::Result<()> {
    let cert = |words: &[&str]| {
        let mut command = Command::new(at("nebula-cert"));
        printed(command.current_dir(folder).args(words)).map(drop)
    };
    cert(&["ca", "-name", "bench", "-duration", "72h"])?;
    for end in [0, 1] {
        let (name, address) = (format!("n{end}"), format!("10.77.0.{}/24", end + 1));
        cert(&["sign", "-name", &name, "-ip", &address])?;
        let path = |file: &str| folder.join(file).display().to_string();
        let (ca, crt, key) = (
            path("ca.crt"),
            path(&format!("n{end}.crt")),
            path(&format!("n{end}.key")),
        );
        let other = 2 - end;
        let outer = Stage::address(1 - end);
        let any = "[{port: any, proto: any, host: any}]";
        let text = format!(
            "pki: {{ca: {ca}, cert: {crt}, key: {key}}}\n\
             static_host_map: {{\"10.77.0.{other}\": [\"{outer}:4242\"]}}\n\
             lighthouse: {{am_lighthouse: false, hosts: []}}\n\
             listen: {{host: 0.0.0.0, port: 4242}}\n\
             tun: {{dev: neb0, mtu: 1300, tx_queue: 500}}\n\
             logging: {{level: error}}\n\
             firewall: {{outbound: {any}, inbound: {any}}}\n"
        );
        fs::write(folder.join(format!("nebula{end}.yml")), text)?;
    }
    Ok(())
}

fn nebula(stage: &Stage, end: usize) -> anyhow::Result<Process> {
    let mut process = stage.inside(end, at("nebula"));
    process.arg("-config");
    process.arg(stage.folder.join(format!("nebula{end}.yml")));
    start(&mut process)
}

fn tinc_files(folder: &Path) -> anyhow::Result<()> {
    for end in [0, 1] {
        let own = folder.join(format!("tinc{end}"));
        fs::create_dir_all(own.join("hosts"))?;
        let conf = format!(
            "Name = t{end}\nInterface = tinc0\nConnectTo = t{}\nAddressFamily = ipv4\n\
             DeviceType = tun\n",
            1 - end
        );
        fs::write(own.join("tinc.conf"), conf)?;
        let up = format!(
            "#!/bin/sh\nip link set $INTERFACE up\nip addr add 10.77.0.{}/24 dev $INTERFACE\n",
            end + 1
        );
        fs::write(own.join("tinc-up"), up)?;
        fs::set_permissions(own.join("tinc-up"), fs::Permissions::from_mode(0o755))?;
        let host = format!(
            "Address = {}\nSubnet = 10.77.0.{}/32\n",
            Stage::address(end),
            end + 1
        );
        fs::write(own.join(format!("hosts/t{end}")), host)?;
        let mut keys = Command::new(at("tincd"));
        printed(keys.arg("-c").arg(&own).arg("-K2048").stdin(Stdio::null()))?;
    }
    for end in [0, 1] {
        let file = format!("hosts/t{end}");
        let (from, to) = (format!("tinc{end}"), format!("tinc{}", 1 - end));
        fs::copy(folder.join(from).join(&file), folder.join(to).join(&file))?;
    }
    Ok(())
}

fn tinc(stage: &Stage, end: usize) -> anyhow::Result<Process> {
    let mut process = stage.inside(end, at("tincd"));
    let pid = format!(
        "--pidfile={}",
        stage.folder.join(format!("tinc{end}.pid")).display()
    );
    process
        .arg("-D")
        .arg("-c")
        .arg(stage.folder.join(format!("tinc{end}")))
        .arg(pid);
    start(&mut process)
}
