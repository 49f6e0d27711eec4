//! Updates for machines under trial, made as a builder makes them.

use super::{Image, disk};
use anyhow::Context as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts of an update, beside what the image says of itself.
const PARTS: [&str; 3] = ["root.sqfs", "vmlinuz", "initrd.img"];
/// The agent in the image's root.
const PROGRAM: &str = "usr/bin/gridbay-appliance";

/// What an update's initial RAM disk is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initrd {
    /// The image's.
    Whole,
    /// Bytes that no kernel can unpack, so that it finds no root.
    Broken,
}

/// A builder with a key of its own.
pub(crate) struct Builder {
    image: Image,
    folder: PathBuf,
    program: PathBuf,
    public: String,
}

impl Builder {
    /// A builder in a new folder of this name, with the image's own program and a new key.
    ///
    /// # Errors
    /// The image's root cannot be read, or a tool is missing.
    pub(crate) fn new(image: &Image, folder: &Path, name: &str) -> anyhow::Result<Builder> {
        let folder = folder.join(format!("builder-{name}"));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir(&folder)?;
        let root = folder.join("root");
        let mut unpack = Command::new("unsquashfs");
        unpack
            .args(["-quiet", "-no-progress", "-no-xattrs", "-dest"])
            .arg(&root);
        disk::done(unpack.arg(image.file("root.sqfs")).arg(PROGRAM))?;
        let program = root.join(PROGRAM);
        let key = disk::done(
            Command::new(&program)
                .arg("new-key")
                .arg(folder.join("key")),
        )?;
        Ok(Builder {
            image: image.clone(),
            folder,
            program,
            public: key.trim().to_owned(),
        })
    }

    /// The public half of its key.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// An update of the image's parts as a disk.
    ///
    /// # Errors
    /// A part is missing, or it was not made.
    pub(crate) fn update(&self, version: &str, initrd: Initrd) -> anyhow::Result<PathBuf> {
        let out = self.made(version, initrd, 0)?;
        disk::whole_sectors(&out)?;
        Ok(out)
    }

    /// The same as a file, built a second after the image.
    ///
    /// # Errors
    /// A part is missing, or it was not made.
    pub(crate) fn newer(&self, version: &str, initrd: Initrd) -> anyhow::Result<PathBuf> {
        self.made(version, initrd, 1)
    }

    /// An update that was built so many seconds after the image.
    fn made(&self, version: &str, initrd: Initrd, later: u64) -> anyhow::Result<PathBuf> {
        let parts = self.folder.join("parts");
        fs::create_dir(&parts)?;
        for part in PARTS {
            symlink(self.image.file(part), parts.join(part))?;
        }
        if initrd == Initrd::Broken {
            fs::remove_file(parts.join("initrd.img"))?;
            fs::write(parts.join("initrd.img"), [0x55; 1 << 20])?;
        }
        let mut about = self.image.about()?;
        about["version"] = version.into();
        let built = about["built"].as_u64();
        about["built"] = (built.context("the image tells no time")? + later).into();
        fs::write(parts.join("image.json"), about.to_string())?;
        let out = self.folder.join("update.img");
        let mut make = Command::new(&self.program);
        make.arg("make-update")
            .arg("--key")
            .arg(self.folder.join("key"));
        disk::done(make.arg("--from").arg(&parts).arg(&out))?;
        Ok(out)
    }

    /// The update that the build signed, as a disk, if there is one.
    ///
    /// # Errors
    /// It was not copied.
    pub(crate) fn built(&self) -> anyhow::Result<Option<PathBuf>> {
        let built = self.image.file("gridbay-update");
        if !built.is_file() {
            return Ok(None);
        }
        let (out, _) = disk::of_file(&self.folder, "built", &built)?;
        Ok(Some(out))
    }
}
