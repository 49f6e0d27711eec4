//! Measures the effect of a job's weight: two jobs that never rest share one processor, one of
//! three times the other's weight.
//!
//! `cargo run -p gridbay-node --example weight -- FOLDER [SECONDS]`, as somebody who may write
//! FOLDER, a folder of control groups. The example goes into `FOLDER/node`, as a delegated node
//! does, and prints the processor time of both jobs.
#![allow(clippy::print_stdout, reason = "it reports to its reader")]

use gridbay_node::executor::{
    Config, Executor as _, Finished, Isolation, JobName, JobSpec, ProcessExecutor, supervisor,
};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

type Error = Box<dyn std::error::Error>;

/// Busy on the first processor until its time is over. It ends by itself, so that all its time is
/// counted.
fn busy(name: &str, weight: u32, seconds: u64) -> Result<JobSpec, Error> {
    let job = JobName::new(name)?;
    let script =
        format!("timeout {seconds} taskset -c 0 sh -c 'while :; do :; done'; test $? = 124");
    let mut spec = JobSpec::new(job, ["sh", "-c", &script]);
    spec.limits.wall = Duration::from_secs(seconds + 10);
    spec.limits.weight = weight;
    Ok(spec)
}

fn main() -> Result<(), Error> {
    supervisor::run_if_asked();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().ok_or("want a folder of control groups")?);
    let seconds = words.next().map_or(Ok(10), |text| text.parse())?;
    fs::create_dir_all(folder.join("node"))?;
    fs::write(folder.join("node/cgroup.procs"), "0")?;

    let jobs = std::env::temp_dir().join(format!("gridbay-weight-{}", std::process::id()));
    let mut config = Config::new(&jobs);
    config.isolation = Isolation::Preferred;
    let executor = ProcessExecutor::new(config)?;
    println!("{:#?}", executor.probe()?);
    let specs = [
        busy("heavy", 3_000, seconds)?,
        busy("light", 1_000, seconds)?,
    ];
    for spec in &specs {
        executor.prepare(&spec.job, spec.limits.disk_bytes)?;
    }
    for spec in &specs {
        executor.start(spec)?;
    }
    let mut used = Vec::new();
    for spec in &specs {
        let Finished { exit, usage, .. } = runtime.block_on(executor.wait(&spec.job))?;
        println!(
            "{} weighs {}: {} ms of processor, {exit:?}",
            spec.job,
            spec.limits.weight,
            usage.cpu_ns / 1_000_000
        );
        used.push(usage.cpu_ns as f64);
        executor.cleanup(&spec.job)?;
    }
    println!("{:.2} to 1", used[0] / used[1]);
    fs::remove_dir_all(&jobs)?;
    Ok(())
}
