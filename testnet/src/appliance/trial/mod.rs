//! The trials, a file each.

mod balloon;
mod boot;
mod cut;
mod cuts;
mod faults;
mod fence;
mod handed;
mod mpi;
mod nat;
mod owned;
mod owner;
mod pair;
mod posing;
mod power;
mod reboot;
mod scan;
mod statement;
mod trade;
mod update;

use super::Image;
use super::bench::Bench;
use super::left_out::LeftOut;
use crate::say::Progress;
use std::path::PathBuf;
use std::time::Instant;

/// A choice of trials: each form has the trials of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// A few minutes.
    Quick,
    /// Ten minutes.
    Usual,
    /// All but what another trial does as well.
    All,
    /// A trial that is run by its name alone: a longer one does the same.
    Named,
}

/// Two trials run beside one another, of either kind one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// A machine sells, and nobody else may sell as cheaply.
    Market,
    /// None does.
    Alone,
}

/// A trial: what holds, and when it is run.
struct Trial {
    name: &'static str,
    form: Form,
    lane: Lane,
    run: for<'a> fn(&'a Bench) -> Running<'a>,
}

type Running<'a> = std::pin::Pin<Box<dyn Future<Output = anyhow::Result<String>> + 'a>>;

/// The table of trials: form, lane, name, function.
macro_rules! trials {
    ($($form:ident $lane:ident $name:literal $run:path;)*) => {
        const TRIALS: &[Trial] = &[$(Trial {
            name: $name,
            form: Form::$form,
            lane: Lane::$lane,
            run: |bench| Box::pin($run(bench)),
        }),*];
    };
}

trials! {
    Quick Alone "bios, the disk of invite --image" boot::bios_with_a_disk;
    Quick Alone "uefi, user data on an ISO disk" boot::uefi_with_a_disk;
    Usual Alone "credential, then nothing open but the overlay" boot::credential;
    Quick Alone "no invitation" boot::without;
    Quick Alone "an update that does not become ready" update::left;
    All Alone "an update that becomes ready" update::taken;
    All Alone "an update whose agent does not run" update::mute;
    All Alone "an update handed over by its owner" handed::by_its_owner;
    All Alone "an update handed over on a disk" handed::on_a_disk;
    Named Alone "an update cut at 3 moments" cut::three;
    All Alone "an update cut at 10 moments" cut::ten;
    All Alone "wrong invitations" faults::invitations;
    All Alone "no network" faults::network;
    All Alone "a wrong clock" faults::clock;
    All Alone "a full data disk" faults::full;
    All Alone "a corrupt data partition" faults::corrupt;
    All Alone "disks that pose as its own" posing::disks;
    All Alone "a power cut loses what was not flushed" power::cut;
    All Alone "the sandbox's probes" fence::probes;
    Quick Market "two appliances trade" trade::two;
    Usual Market "each behind its own NAT with a relay" nat::relayed;
    All Market "a job sees neither the API nor the host's network" fence::unseen;
    All Market "an MPI ring and Dask's squares over two appliances" mpi::ring_and_squares;
    All Market "its owner's control from afar" owner::controls;
    All Market "a reboot waits for a lease" reboot::drains_first;
    All Market "memory taken back and given" balloon::down_and_up;
    Named Market "power cuts while trading (3)" cuts::three;
    All Market "power cuts while trading (20)" cuts::twenty;
}

/// How the trials went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Trials that came out right.
    pub(crate) passed: u32,
    /// The others.
    pub(crate) failed: u32,
    /// Those that could not be made here.
    pub(crate) left_out: u32,
}

impl Tally {
    fn and(self, other: Tally) -> Tally {
        Tally {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            left_out: self.left_out + other.left_out,
        }
    }
}

/// Which trials are run, and how.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// Those of this form.
    pub(crate) form: Form,
    /// Instead those whose name contains one of these, if there are any, one after the other.
    pub(crate) only: Vec<String>,
    /// Decides the moments of what happens at random.
    pub(crate) seed: u64,
}

/// Runs the trials that are chosen.
///
/// # Errors
/// There is no such trial, or no local network to be had.
pub(crate) async fn run(
    image: Image,
    program: PathBuf,
    Choice { form, only, seed }: Choice,
    progress: &Progress,
) -> anyhow::Result<Tally> {
    let trials = chosen(form, &only);
    anyhow::ensure!(!trials.is_empty(), "no trial has such a name");
    let bench = Bench::new(image, program, seed, progress).await?;
    if !only.is_empty() {
        return Ok(in_turn(&bench, &trials).await);
    }
    let (market, alone): (Vec<_>, Vec<_>) = trials
        .into_iter()
        .partition(|trial| trial.lane == Lane::Market);
    let (one, other) = tokio::join!(in_turn(&bench, &market), in_turn(&bench, &alone));
    Ok(one.and(other))
}

/// The trials of a form, or those of these names.
fn chosen(form: Form, only: &[String]) -> Vec<&'static Trial> {
    let runs = |trial: &&Trial| match only {
        [] => trial.form <= form,
        parts => parts.iter().any(|part| trial.name.contains(part)),
    };
    TRIALS.iter().filter(runs).collect()
}

async fn in_turn(bench: &Bench, trials: &[&Trial]) -> Tally {
    let (mut tally, progress) = (Tally::default(), &bench.progress);
    for trial in trials {
        let began = Instant::now();
        let ended = (trial.run)(bench).await;
        let (name, took) = (trial.name, began.elapsed().as_secs());
        match ended {
            Ok(saw) => {
                tally.passed += 1;
                progress.tell(&format!("passed  {name}, {took} s: {saw}"));
            }
            Err(error) if error.is::<LeftOut>() => {
                tally.left_out += 1;
                progress.tell(&format!("LEFT OUT {name}: {error}"));
            }
            Err(error) => {
                tally.failed += 1;
                progress.tell(&format!("FAILED  {name}, {took} s: {error:#}"));
            }
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_the_trials_of_those_before_it_and_names_find_all() {
        let names = |form| -> Vec<&str> { chosen(form, &[]).iter().map(|t| t.name).collect() };
        let (quick, usual, all) = (names(Form::Quick), names(Form::Usual), names(Form::All));
        assert!(quick.len() >= 5 && quick.iter().all(|name| usual.contains(name)));
        assert!(usual.len() > quick.len() && usual.iter().all(|name| all.contains(name)));
        let named = chosen(Form::Quick, &["trading (3)".to_owned()]);
        assert_eq!(named.len(), 1);
        assert!(!all.contains(&named[0].name));
        assert!(all.contains(&"power cuts while trading (20)"));
    }
}
