//! A machine whose partitions are files.

use gridbay_appliance::data::report::{NAME as DATA, Report};
use gridbay_appliance::shell::places::Places;
use gridbay_appliance::shell::update::make::{make_update, new_key};
use gridbay_appliance::shell::update::run::{By, UpdateError, update};
use gridbay_appliance::shell::watch::Watch;
use gridbay_appliance::status::{NAME, Status};
use gridbay_appliance::update::env::Env;
use gridbay_appliance::update::manifest::Manifest;
use gridbay_appliance::update::slot::Slot;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SYSTEMCTL: &str = "#!/bin/sh\necho \"$1\" >> \"$(dirname \"$0\")/systemctl.calls\"\n";

/// A machine whose partitions are files, and a builder's folder beside it.
pub(crate) struct Machine {
    pub(crate) dir: TempDir,
    pub(crate) places: Places,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let dir = TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        let systemctl = at("systemctl");
        fs::write(&systemctl, SYSTEMCTL).unwrap();
        fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
        let places = Places {
            data: at("data"),
            run: at("run"),
            credentials: None,
            labels: at("labels"),
            blocks: at("blocks"),
            devices: at("devices"),
            networks: at("networks"),
            image: at("image.json"),
            partitions: at("partitions"),
            command_line: at("cmdline"),
            boot_id: at("boot_id"),
            update_keys: at("update-keys"),
            gridbay: vec!["false".to_owned()],
            systemctl: systemctl.to_str().unwrap().to_owned(),
            user: None,
            must_be_mounted: false,
        };
        for folder in [
            places.node(),
            places.state(),
            places.run.clone(),
            at("built"),
        ] {
            fs::create_dir_all(folder).unwrap();
        }
        let machine = Machine { dir, places };
        machine.partitions();
        let report = serde_json::to_vec(&Report::mounted("")).unwrap();
        fs::write(machine.places.run.join(DATA), report).unwrap();
        machine.image("0.1.0", 1_000);
        machine.runs(Slot::A);
        let public = new_key(&machine.at("key")).unwrap();
        fs::write(machine.at("update-keys"), format!("{public}\n")).unwrap();
        machine
    }
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    fn partitions(&self) {
        let boot = self.places.boot();
        for folder in ["grub", "a", "b"] {
            fs::create_dir_all(boot.join(folder)).unwrap();
        }
        self.env(&Env::only(Slot::A).block());
        for slot in ["a", "b"] {
            fs::write(boot.join(slot).join("vmlinuz"), [1; 3_000]).unwrap();
            fs::write(boot.join(slot).join("initrd.img"), [2; 3_000]).unwrap();
            let root = self.at(&format!("partitions/gridbay-root-{slot}"));
            fs::write(root, [3; 9_000]).unwrap();
        }
    }
    pub(crate) fn env(&self, block: &[u8]) {
        fs::write(self.places.boot().join("grub/env"), block).unwrap();
    }
    /// What the running image says of itself.
    pub(crate) fn image(&self, version: &str, built: u64) {
        let text =
            format!("{{\"version\":\"{version}\",\"flavour\":\"base\",\"built\":{built}}}\n");
        fs::write(&self.places.image, text).unwrap();
    }
    /// Boots this system.
    pub(crate) fn runs(&self, slot: Slot) {
        let boot = fs::read_to_string(&self.places.boot_id).unwrap_or_default();
        fs::write(&self.places.boot_id, format!("{boot}x")).unwrap();
        let (label, name) = (slot.label(), slot.name());
        let line = format!("root=PARTLABEL={label} ro gridbay.slot={name}\n");
        fs::write(&self.places.command_line, line).unwrap();
    }
    /// An update as `appliance/build` makes it.
    pub(crate) fn made(&self, version: &str, built: u64) -> PathBuf {
        let folder = self.at("built");
        let own = fs::read(&self.places.image).unwrap();
        self.image(version, built);
        fs::rename(&self.places.image, folder.join("image.json")).unwrap();
        fs::write(&self.places.image, own).unwrap();
        fs::write(folder.join("root.sqfs"), [7; 8_000]).unwrap();
        fs::write(folder.join("vmlinuz"), [8; 2_000]).unwrap();
        fs::write(folder.join("initrd.img"), [9; 1_000]).unwrap();
        let out = self.at("gridbay-update");
        make_update(&folder, &self.at("key"), &out).unwrap();
        out
    }
    pub(crate) fn update(&self, file: &Path) -> Result<Manifest, UpdateError> {
        let by = By::Command { allow_older: false };
        update(&self.places, file, by, |_| {})
    }
    /// All bytes of all partitions.
    pub(crate) fn disk(&self) -> Vec<Vec<u8>> {
        let boot = self.places.boot();
        let names = [
            "a/vmlinuz",
            "a/initrd.img",
            "b/vmlinuz",
            "b/initrd.img",
            "grub/env",
        ];
        let roots = ["a", "b"].map(|slot| self.at(&format!("partitions/gridbay-root-{slot}")));
        let files = names.iter().map(|name| boot.join(name)).chain(roots);
        files.map(|file| fs::read(file).unwrap()).collect()
    }
    /// One turn of a new agent.
    pub(crate) fn status(&self) -> Status {
        Watch::new(self.places.clone()).unwrap().turn().unwrap();
        Status::read(&self.places.run.join(NAME)).unwrap()
    }
}
