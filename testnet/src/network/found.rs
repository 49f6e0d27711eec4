//! Founding, the way institutions do it: each member describes itself on its own node, one of them
//! puts the genesis together, all of them take it. The network's id is its hash, so nobody has to
//! trust its maker.

use super::folder::RunFolder;
use super::plan::Plan;
use super::seat::Seat;
use super::{cli, ports, settings};
use anyhow::Context as _;
use futures::future::try_join_all;
use gridbay_node::config::Home;
use gridbay_node::keys::private_folder;
use gridbay_protocol::class::Class;
use gridbay_protocol::genesis::Genesis;
use std::fs;
use std::path::{Path, PathBuf};

/// Founds the federation of `plan`: data folders of all founding members with keys, settings and
/// the genesis.
pub(super) async fn found(
    program: &Path,
    folder: &RunFolder,
    plan: &Plan,
) -> anyhow::Result<Genesis> {
    let ports = ports::free(plan.validators.len())?;
    let seats: Vec<Seat> = (0..)
        .zip(ports)
        .map(|(i, port)| plan.seat(&Plan::validator_name(i), port))
        .collect();
    // All at once: each computes its beacon chain, which takes about a second.
    let described = seats.iter().enumerate();
    let described = described.map(|(i, seat)| describe(program, folder, plan, i, seat));
    let descriptions = try_join_all(described).await?;

    let file = folder.path().join("genesis.cbor");
    let mut words: Vec<String> = vec!["found".into(), "--name".into(), plan.name.clone()];
    words.extend([
        "--policy".into(),
        plan.pace.word().into(),
        "--out".into(),
        text(&file),
    ]);
    if let Some(interval) = plan.block_ms {
        words.extend(["--block-ms".into(), interval.to_string()]);
    }
    if let Some(entries) = plan.member_entries {
        words.extend(["--member-entries".into(), entries.to_string()]);
    }
    for path in &descriptions {
        words.extend(["--member".into(), text(path)]);
    }
    for class in plan.classes() {
        words.extend([
            "--class".into(),
            class_text(&class, plan.pace.policy().slot_ms()),
        ]);
    }
    let first = folder.data(&Plan::validator_name(0));
    cli::run(program, &first, &words).await?;
    for i in 0..plan.validators.len() {
        let data = folder.data(&Plan::validator_name(i));
        cli::run(program, &data, &["join".into(), text(&file)]).await?;
    }
    let bytes = fs::read(Home::new(first).genesis())?;
    Ok(Genesis::decode(&bytes)?)
}

/// Makes a member's data folder and keys; returns the file with its description.
async fn describe(
    program: &Path,
    folder: &RunFolder,
    plan: &Plan,
    i: usize,
    seat: &Seat,
) -> anyhow::Result<PathBuf> {
    let name = Plan::validator_name(i);
    let home = Home::new(folder.data(&name));
    private_folder(home.path())?;
    let (log, more) = (&plan.log, plan.more(&name));
    settings::write(&home, &name, seat, log, more, &plan.validators[i])?;
    let file = folder.data(&format!("{name}.member.json"));
    let mut words: Vec<String> = vec!["found".into(), "member".into()];
    words.extend(["--name".into(), name.clone(), "--out".into(), text(&file)]);
    words.extend(["--endowment".into(), plan.endowment.to_string()]);
    for address in &seat.reached {
        words.extend(["--address".into(), address.clone()]);
    }
    cli::run(program, home.path(), &words)
        .await
        .with_context(|| format!("member {name}"))?;
    Ok(file)
}

/// A class as `found --class` takes it, in a network whose slots last so long.
fn class_text(class: &Class, slot_ms: u64) -> String {
    let Class { name, key, .. } = class;
    let price = class.reference_price.hourly(slot_ms);
    format!(
        "name={name},vcpu={},memory={}MiB,disk={}MiB,gpu={},price={price}",
        key.vcpu, key.memory_mib, key.disk_mib, key.gpu
    )
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
