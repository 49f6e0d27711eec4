//! Disks of machines: copies of the image's, and small ones with a configuration.

use super::Image;
use anyhow::{Context as _, bail};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// A disk that begins as the image's and holds what differs from it.
pub(crate) fn copy(image: &Image, folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let disk = folder.join(format!("{name}.qcow2"));
    let mut command = Command::new("qemu-img");
    command.args(["create", "-q", "-f", "qcow2", "-F", "qcow2", "-b"]);
    done(command.arg(image.disk()).arg(&disk))?;
    Ok(disk)
}

/// Makes a machine's disk larger while the machine is off; the size as `qemu-img` takes it.
pub(crate) fn resize(disk: &Path, size: &str) -> anyhow::Result<()> {
    let mut command = Command::new("qemu-img");
    command.args(["resize", "-q", "-f", "qcow2"]).arg(disk);
    done(command.arg(size)).map(drop)
}

/// The image's disk as bytes, without a format of QEMU's.
pub(crate) fn whole(image: &Image, folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let disk = folder.join(format!("{name}.raw"));
    let mut command = Command::new("qemu-img");
    command.args(["convert", "-q", "-O", "raw"]);
    done(command.arg(image.disk()).arg(&disk))?;
    Ok(disk)
}

/// A FAT disk of 1.44 MB with the label `GRIDBAY` and these files.
pub(crate) fn config(folder: &Path, name: &str, files: &[(&str, &str)]) -> anyhow::Result<PathBuf> {
    let disk = folder.join(format!("{name}.img"));
    let mut make = Command::new("mkfs.vfat");
    path(&mut make);
    if disk.exists() {
        std::fs::remove_file(&disk)?;
    }
    done(make.args(["-C", "-n", "GRIDBAY"]).arg(&disk).arg("1440"))?;
    for (file, text) in files {
        let from = folder.join(format!("{name}.{file}"));
        std::fs::write(&from, text)?;
        let mut copy = Command::new("mcopy");
        copy.arg("-i").arg(&disk).arg(&from);
        done(copy.arg(format!("::{file}")))?;
    }
    Ok(disk)
}

/// An ISO 9660 disk with a label and one file.
pub(crate) fn iso(
    folder: &Path,
    (name, label): (&str, &str),
    (file, text): (&str, &str),
) -> anyhow::Result<PathBuf> {
    let disk = folder.join(format!("{name}.iso"));
    let from = folder.join(format!("{name}.{file}"));
    std::fs::write(&from, text)?;
    let mut make = Command::new("xorrisofs");
    make.args(["-quiet", "-V", label, "-J", "-r", "-graft-points", "-o"]);
    done(make.arg(&disk).arg(format!("{file}={}", from.display())))?;
    whole_sectors(&disk)?;
    Ok(disk)
}

/// A disk that begins with the bytes of a file, and how many these are.
pub(crate) fn of_file(folder: &Path, name: &str, from: &Path) -> anyhow::Result<(PathBuf, u64)> {
    let disk = folder.join(format!("{name}.img"));
    let bytes = std::fs::copy(from, &disk)?;
    whole_sectors(&disk)?;
    Ok((disk, bytes))
}

/// Disks have whole sectors: makes a file as long as some.
pub(super) fn whole_sectors(file: &Path) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).open(file)?;
    let bytes = file.metadata()?.len();
    Ok(file.set_len(bytes.next_multiple_of(SECTOR))?)
}

/// Tools of file systems are not in every user's path.
fn path(command: &mut Command) {
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
}

/// Runs a tool to its good end; what it prints.
pub(super) fn done(command: &mut Command) -> anyhow::Result<String> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let ran = command.output();
    let ran = ran.with_context(|| format!("{tool} does not run: appliance/tools test"))?;
    if !ran.status.success() {
        bail!("{tool}: {}", String::from_utf8_lossy(&ran.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}
