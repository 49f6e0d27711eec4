//! The whole loop over a folder that stands for the machine, with scripts in the place of the
//! node's program and of systemctl. Neither root nor a network is needed.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use gridbay_appliance::data::report::{NAME as DATA, Report};
use gridbay_appliance::shell::care::{self, Drained};
use gridbay_appliance::shell::places::Places;
use gridbay_appliance::shell::watch::Watch;
use gridbay_appliance::status::{NAME, Status};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// The node's program: its folder says whether it runs and what it offers. The words that it was
/// called with are kept, which shows whether a secret was among them.
const GRIDBAY: &str = r#"#!/bin/sh
data=$2
echo "$*" >> "$data/../calls"
shift 2
fail() {
  echo "{\"exit\":$1,\"what\":\"w\",\"why\":\"$2\",\"next\":\"do\"}" >&2
  exit "$1"
}
case "$1 $2" in
"join --file")
  read -r token
  case "$token" in
  gridbay1good*) ;;
  *) fail 9 "the signature is wrong" ;;
  esac
  [ -e "$data/invitation" ] || echo "$token" > "$data/invitation"
  [ -e "$data/keys" ] || mkdir "$data/keys"
  echo '{}'
  ;;
"node status")
  [ -e "$data/drained" ] && state=draining || state=ready
  echo "{\"state\":\"$state\",\"name\":\"bay\",\"account\":\"ab\",\"peers\":2,\"height\":7}"
  ;;
"node drain") touch "$data/drained" ;;
"market prices")
  echo '[{"class":"small","vcpu":1,"memory_mib":1,"disk_mib":1,"gpu":0,"last":"3"}]'
  ;;
"offer list") cat "$data/offers" 2>/dev/null || echo '[]' ;;
"offer set")
  shift 2
  echo "[{\"label\":1,\"own\":true,\"class\":\"small\",\"units\":$3,\"reserve\":\"$5\"}]" \
    > "$data/offers"
  ;;
*) fail 2 "not understood: $*" ;;
esac
"#;

const SYSTEMCTL: &str = r#"#!/bin/sh
here=$(dirname "$0")
case "$1" in
show)
  [ -e "$here/running" ] && echo ActiveState=active || echo ActiveState=inactive
  ;;
start | restart)
  echo "$1" >> "$here/starts"
  touch "$here/running"
  ;;
esac
"#;

struct Machine {
    dir: TempDir,
    places: Places,
}

impl Machine {
    fn new() -> Machine {
        let dir = TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        let script = |name: &str, text: &str| {
            fs::write(at(name), text).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
            at(name).to_str().unwrap().to_owned()
        };
        let places = Places {
            data: at("data"),
            run: at("run"),
            credentials: Some(at("credentials")),
            labels: at("labels"),
            blocks: at("blocks"),
            devices: at("devices"),
            networks: at("networks"),
            image: at("image.json"),
            partitions: at("partitions"),
            command_line: at("cmdline"),
            boot_id: at("boot_id"),
            update_keys: at("update-keys"),
            gridbay: vec![script("gridbay", GRIDBAY)],
            systemctl: script("systemctl", SYSTEMCTL),
            user: None,
            must_be_mounted: false,
        };
        for folder in [places.node(), places.state(), places.run.clone()] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::create_dir_all(at("credentials")).unwrap();
        let machine = Machine { dir, places };
        machine.report(&Report::mounted(""));
        machine
    }
    fn report(&self, report: &Report) {
        let text = serde_json::to_vec(report).unwrap();
        fs::write(self.places.run.join(DATA), text).unwrap();
    }
    /// A folder in the place of a disk.
    fn disk(&self, text: &str) {
        let folder = self.places.labels.join("GRIDBAY");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("invite.toml"), text).unwrap();
    }
    fn watch(&self) -> Watch {
        Watch::new(self.places.clone()).unwrap()
    }
    fn status(&self) -> Status {
        Status::read(&self.places.run.join(NAME)).unwrap()
    }
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }
}

/// Turns until the status is as wanted; answers the lines told on the way.
fn until(machine: &Machine, watch: &mut Watch, wanted: impl Fn(&Status) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..100 {
        let (_, line) = watch.turn().unwrap();
        lines.extend(line);
        if wanted(&machine.status()) {
            return lines;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{lines:#?}\n{:#?}", machine.status());
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn from_a_disk_to_a_node_that_sells_and_on_after_a_restart_of_the_agent() {
    let machine = Machine::new();
    machine.disk("invitation = \"gridbay1good\"\nname = \"bay\"\n");
    let mut watch = machine.watch();
    let sells = |status: &Status| status.reason.starts_with("sells ");
    let lines = until(&machine, &mut watch, sells);
    assert!(
        lines.last().unwrap().starts_with("ready sells "),
        "{lines:#?}"
    );
    assert!(
        machine
            .text("data/gridbay/offers")
            .contains("\"reserve\":\"3\"")
    );
    assert_eq!(
        machine.text("data/gridbay/gridbay.toml"),
        "name = \"bay\"\n"
    );
    assert_eq!(machine.text("starts"), "start\n");
    assert!(!machine.text("data/calls").contains("gridbay1good"));
    let kept = machine.places.kept().join("invite.toml");
    let mode = fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The same disk, and no disk, change nothing for a new agent.
    for _ in 0..2 {
        let calls = machine.text("data/calls").matches("offer set").count();
        until(&machine, &mut machine.watch(), sells);
        assert_eq!(
            machine.text("data/calls").matches("offer set").count(),
            calls
        );
        assert_eq!(machine.text("starts"), "start\n");
        drop(fs::remove_dir_all(&machine.places.labels));
    }
    // Another price changes the offer, and nothing else.
    machine.disk("invitation = \"gridbay1good\"\nname = \"bay\"\n[sell]\nprice = \"2.5\"\n");
    until(&machine, &mut machine.watch(), |status| {
        status.reason.ends_with(" at 2.5 an hour")
    });
    assert_eq!(machine.text("starts"), "start\n");
}

#[test]
fn a_credential_is_the_first_place_and_a_forged_one_makes_no_keys() {
    let machine = Machine::new();
    machine.disk("invitation = \"gridbay1good\"");
    let credential = machine.dir.path().join("credentials/gridbay.invite");
    fs::write(&credential, "gridbay1forged\n").unwrap();
    let mut watch = machine.watch();
    until(&machine, &mut watch, |status| {
        status.state == "error" && status.reason.contains("the signature is wrong")
    });
    assert_eq!(names(&machine.places.node()), Vec::<String>::new());
    assert!(!machine.text("run/status.json").contains("gridbay1f"));
    fs::remove_file(&credential).unwrap();
    until(&machine, &mut machine.watch(), |status| {
        status.state == "ready"
    });
}

#[test]
fn a_broken_data_partition_is_told_and_nothing_is_written_to_it() {
    let machine = Machine::new();
    machine.disk("invitation = \"gridbay1good\"");
    machine.report(&Report {
        mounted: false,
        reason: "damaged".to_owned(),
        hint: "e2fsck".to_owned(),
    });
    let mut watch = machine.watch();
    for _ in 0..3 {
        watch.turn().unwrap();
    }
    let status = machine.status();
    assert_eq!(
        (status.state.as_str(), status.reason.as_str()),
        ("error", "damaged")
    );
    assert_eq!(machine.text("data/calls"), "");
    assert_eq!(names(&machine.places.node()), Vec::<String>::new());
}

#[test]
fn a_drained_node_is_left_alone_and_its_log_holds_no_invitation() {
    let machine = Machine::new();
    machine.disk("invitation = \"gridbay1good\"");
    let mut watch = machine.watch();
    until(&machine, &mut watch, |status| status.state == "ready");
    let drained = care::drain(&machine.places, Duration::from_secs(5)).unwrap();
    assert_eq!(drained, Drained::Empty);
    until(&machine, &mut watch, |status| status.state == "draining");
    let log = machine.status().log;
    let last = log.last().unwrap();
    assert!(last.contains("Z agent: draining "), "{last}");
    assert!(!log.concat().contains("gridbay1good"));
}
