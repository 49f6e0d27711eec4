//! A virtual machine: QEMU as a process that ends with its owner.

use super::cache::{self, Cache, Lost};
use super::shell::{self, Shell};
use super::{Image, disk};
use crate::kill::rng::Rng;
use crate::lab::netns;
use anyhow::{Context as _, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// Memory of a machine that sells a unit of 1 GiB, with what the system keeps, MiB.
pub(crate) const SELLER: u32 = 1_536;
/// Between two looks at a console.
const LOOK: Duration = Duration::from_millis(200);
/// For QEMU's monitor to be there.
const MONITOR: Duration = Duration::from_secs(10);
/// Lines of a console that an error quotes.
const QUOTED: usize = 12;

/// What starts the image's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Firmware {
    /// The image's boot loader, from its first sector.
    Bios,
    /// The image's boot loader, from its boot partition.
    Uefi,
    /// QEMU itself: neither firmware nor boot loader is tried, and half a minute saved.
    Direct,
}

/// The credential `gridbay.invite`, and what the firmware has it from.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A string of SMBIOS: the text itself.
    Smbios(String),
    /// QEMU's own device: a file with the text.
    FwCfg(PathBuf),
}

/// A wire between two machines: the ports on this one's loopback interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lan {
    /// Port of this end.
    pub(crate) own: u16,
    /// Port of the other end.
    pub(crate) other: u16,
}

/// How a machine is made.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// Name: of its files, and the last byte of its addresses comes from `number`.
    pub(crate) name: String,
    /// From 1.
    pub(crate) number: u8,
    /// What starts it.
    pub(crate) firmware: Firmware,
    /// MiB.
    pub(crate) memory: u32,
    /// Its invitation by the firmware.
    pub(crate) credential: Option<Credential>,
    /// Further credentials of the firmware, by name: units for systemd.
    pub(crate) units: Vec<(&'static str, &'static str)>,
    /// Further disks.
    pub(crate) disks: Vec<PathBuf>,
    /// A second interface, on a wire to another machine.
    pub(crate) lan: Option<Lan>,
    /// Whether its memory can be taken back by [`Machine::monitor`].
    pub(crate) balloon: bool,
    /// Whether its first interface leads anywhere.
    pub(crate) online: bool,
    /// The network namespace that QEMU runs in, if not this program's.
    pub(crate) namespace: Option<PathBuf>,
    /// The clock at its start, if not the present time: as `2020-01-01`.
    pub(crate) clock: Option<&'static str>,
    /// Seed of what a power cut loses of that which was not flushed: without one, nothing.
    pub(crate) cache: Option<u64>,
}

impl Spec {
    /// A machine of 256 MiB with nothing but the image.
    pub(crate) fn new(name: impl Into<String>, number: u8) -> Spec {
        Spec {
            name: name.into(),
            number,
            firmware: Firmware::Direct,
            memory: 256,
            credential: None,
            units: Vec::new(),
            disks: Vec::new(),
            lan: None,
            balloon: false,
            online: true,
            namespace: None,
            clock: None,
            cache: None,
        }
    }
}

/// A machine that runs, or that ran: its disk stays until the folder goes.
pub(crate) struct Machine {
    spec: Spec,
    image: Image,
    folder: PathBuf,
    disk: PathBuf,
    child: Option<Child>,
    starts: u32,
    cache: Option<Cache>,
    lost: Lost,
    fault: Option<anyhow::Error>,
}

impl Machine {
    /// A machine with a fresh disk, not started.
    pub(crate) fn new(image: &Image, folder: &Path, spec: Spec) -> anyhow::Result<Machine> {
        Ok(Machine {
            disk: match spec.cache {
                None => disk::copy(image, folder, &spec.name)?,
                Some(_) => disk::whole(image, folder, &spec.name)?,
            },
            image: image.clone(),
            folder: folder.to_owned(),
            spec,
            child: None,
            starts: 0,
            cache: None,
            lost: Lost::default(),
            fault: None,
        })
    }

    /// The same with a fresh disk, started.
    pub(crate) fn boot(image: &Image, folder: &Path, spec: Spec) -> anyhow::Result<Machine> {
        let mut machine = Machine::new(image, folder, spec)?;
        machine.start()?;
        Ok(machine)
    }

    /// Its disk, for what happens to it while the machine is off.
    pub(crate) fn disk(&self) -> &Path {
        &self.disk
    }

    /// How it is started next time.
    pub(crate) fn spec(&mut self) -> &mut Spec {
        &mut self.spec
    }

    /// Switches it on.
    pub(crate) fn start(&mut self) -> anyhow::Result<()> {
        self.cut();
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.starts += 1;
        let _ = fs::remove_file(self.console());
        let errors = File::create(self.folder.join(format!("{}.qemu", self.spec.name)))?;
        let mut command = Command::new("qemu-system-x86_64");
        command.args(self.words()).stdin(self.attached()?);
        command.stdout(Stdio::null()).stderr(errors);
        let child = match &self.spec.namespace {
            None => command.spawn(),
            Some(path) => netns::inside(path, || command.spawn())?,
        };
        self.child = Some(child.context("qemu-system-x86_64 does not run: appliance/tools test")?);
        Ok(())
    }

    /// What QEMU has as its standard input: its disk, if that one has a cache.
    fn attached(&mut self) -> anyhow::Result<Stdio> {
        let Some(seed) = self.spec.cache else {
            return Ok(Stdio::null());
        };
        // Machines of one seed, and starts of one machine, do not lose alike.
        let seed = seed ^ (u64::from(self.spec.number) << 56) ^ (u64::from(self.starts) << 32);
        let (cache, line) = Cache::serve(&self.disk, Rng::new(seed))?;
        self.cache = Some(cache);
        Ok(Stdio::from(line))
    }

    /// Cuts its power. What its disk's cache held is lost, or some of it; a fault of that disk is
    /// told by the next start.
    pub(crate) fn cut(&mut self) {
        if let Some(mut child) = self.child.take() {
            if let Some(cache) = &self.cache {
                cache.aim();
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        match self.cache.take().map(Cache::ended) {
            None => {}
            Some(Ok(lost)) => self.lost += lost,
            Some(Err(fault)) => self.fault = Some(fault),
        }
    }

    /// What all cuts of its power lost.
    pub(crate) fn lost(&self) -> Lost {
        self.lost
    }

    fn words(&self) -> Vec<String> {
        let spec = &self.spec;
        let number = spec.number;
        let disk = match spec.cache {
            Some(_) => cache::WORDS.to_owned(),
            None => format!(
                "-drive if=none,id=d0,file={},format=qcow2",
                self.disk.display()
            ),
        };
        let online = if spec.online { "" } else { ",restrict=on" };
        let mut words = [
            "-accel tcg,tb-size=128 -cpu max -M q35 -smp 1 -nographic -display none",
            &format!("-m {} -device virtio-rng-pci", spec.memory),
            &format!("-serial file:{}", self.console().display()),
            &format!(
                "-serial unix:{},server=on,wait=off",
                self.socket().display()
            ),
            &disk,
            "-device virtio-blk-pci,drive=d0",
            &format!("-netdev user,id=n0{online}"),
            &format!("-device virtio-net-pci,netdev=n0,mac=52:54:00:00:00:{number:02x}"),
        ]
        .join(" ");
        for (i, disk) in spec.disks.iter().enumerate() {
            let disk = disk.display();
            words += &format!(
                " -drive if=none,id=c{i},file={disk},format=raw,readonly=on \
                 -device virtio-blk-pci,drive=c{i}"
            );
        }
        if let Some(Lan { own, other }) = spec.lan {
            let end = |side: &str, port: u16| {
                format!("{side}.type=inet,{side}.host=127.0.0.1,{side}.port={port}")
            };
            let (own, other) = (end("local", own), end("remote", other));
            words += &format!(
                " -netdev dgram,id=n1,{own},{other} \
                 -device virtio-net-pci,netdev=n1,mac=52:54:00:77:00:{number:02x}"
            );
        }
        if let Some(clock) = spec.clock {
            words += &format!(" -rtc base={clock}");
        }
        words += &format!(
            " -monitor unix:{},server=on,wait=off",
            self.control().display()
        );
        if spec.balloon {
            words += " -device virtio-balloon-pci,deflate-on-oom=on";
        }
        let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        self.firmware(&mut words);
        self.credentials(&mut words);
        words
    }

    /// Credentials of its firmware: the shell, units, an invitation.
    fn credentials(&self, words: &mut Vec<String>) {
        let spec = &self.spec;
        let mut invite = None;
        match &spec.credential {
            None => {}
            Some(Credential::Smbios(text)) => invite = Some(("gridbay.invite", text.as_str())),
            Some(Credential::FwCfg(file)) => words.extend([
                "-fw_cfg".to_owned(),
                format!(
                    "name=opt/io.systemd.credentials/gridbay.invite,file={}",
                    file.display()
                ),
            ]),
        }
        let units = spec.units.iter().copied();
        for (name, text) in shell::CREDENTIALS.into_iter().chain(units).chain(invite) {
            let value = shell::base64(text);
            let credential = format!("type=11,value=io.systemd.credential.binary:{name}={value}");
            words.extend(["-smbios".to_owned(), credential]);
        }
    }

    fn firmware(&self, words: &mut Vec<String>) {
        let mut add = |more: &[&str]| words.extend(more.iter().map(|&word| word.to_owned()));
        let firmware =
            "if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd";
        let settings =
            "if=pflash,format=raw,unit=1,snapshot=on,file=/usr/share/OVMF/OVMF_VARS_4M.fd";
        match self.spec.firmware {
            Firmware::Bios => {}
            Firmware::Uefi => add(&["-drive", firmware, "-drive", settings]),
            Firmware::Direct => {
                let kernel = self.image.kernel().display().to_string();
                let initrd = self.image.initrd().display().to_string();
                let line = "root=PARTLABEL=gridbay-root-a rootfstype=squashfs ro gridbay.slot=a \
                            console=ttyS0,115200 quiet systemd.show_status=0 \
                            rd.systemd.show_status=0 panic=10";
                add(&["-kernel", &kernel, "-initrd", &initrd, "-append", line]);
            }
        }
    }

    fn console(&self) -> PathBuf {
        self.folder.join(format!("{}.console", self.spec.name))
    }

    fn socket(&self) -> PathBuf {
        self.folder.join(format!("{}.sh", self.spec.name))
    }

    fn control(&self) -> PathBuf {
        self.folder.join(format!("{}.monitor", self.spec.name))
    }

    /// Pulls the cable of its first interface, `off`, or puts it in again, `on`.
    pub(crate) async fn cable(&self, word: &str) -> anyhow::Result<()> {
        self.monitor(&format!("set_link n0 {word}")).await
    }

    /// A command for QEMU's monitor, which is there soon after the machine is switched on.
    pub(crate) async fn monitor(&self, command: &str) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut line = loop {
            match UnixStream::connect(self.control()).await {
                Ok(line) => break line,
                Err(error) if began.elapsed() > MONITOR => return Err(error.into()),
                Err(_) => tokio::time::sleep(LOOK).await,
            }
        };
        line.write_all(format!("{command}\n").as_bytes()).await?;
        // The monitor reads a line as it comes; what it says ends with its next prompt.
        let mut said = Vec::new();
        while said.windows(6).filter(|part| part == b"(qemu)").count() < 2 {
            anyhow::ensure!(line.read_buf(&mut said).await? > 0, "the machine went off");
        }
        Ok(())
    }

    /// What its console shows since it was switched on.
    pub(crate) fn said(&self) -> String {
        let bytes = fs::read(self.console()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the console shows a text; how long that took.
    ///
    /// # Errors
    /// The time is up, or the machine went off.
    pub(crate) async fn says(&mut self, text: &str, within: u64) -> anyhow::Result<Duration> {
        let (began, within) = (Instant::now(), Duration::from_secs(within));
        while !self.said().contains(text) {
            let child = self.child.as_mut().context("the machine is off")?;
            let ended = child.try_wait()?;
            if ended.is_some() || began.elapsed() > within {
                let said = self.said();
                let lines: Vec<&str> = said.lines().collect();
                let last = lines[lines.len().saturating_sub(QUOTED)..].join("\n  ");
                bail!(
                    "{}: no `{text}` on its console within {within:?}; it shows\n  {last}",
                    self.spec.name
                );
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(began.elapsed())
    }

    /// A shell in it. No machine of a trial reaches a time server, and the clock that it starts
    /// with has whole seconds; the network allows one. So the shell stands in for the server.
    pub(crate) async fn shell(&self) -> anyhow::Result<Shell> {
        let mut shell = Shell::open(&self.socket()).await?;
        if self.spec.clock.is_none() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
            shell
                .good(&format!("date -s @{:.3}", now.as_secs_f64()))
                .await?;
        }
        Ok(shell)
    }

    /// MiB that its process takes of this machine.
    pub(crate) fn resident(&self) -> Option<u64> {
        let id = self.child.as_ref()?.id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib / 1024)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.cut();
    }
}
