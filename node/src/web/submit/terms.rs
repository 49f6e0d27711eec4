//! What the fields mean: the terms of an order, or the first mistake.

use super::fields::{ARRAY, Fields};
use super::file;
use crate::api::types::{ClassPrice, How, Want, Wish};
use crate::api::{Answer, ApiError};
use crate::backend::NodeBackend;
use crate::backend::failure::usage;
use crate::buy::fit::{Candidate, cheapest};
use crate::buy::plain;
use crate::config::parse;
use crate::web::command::{command, split};
use gridbay_protocol::job::InputFile;
use gridbay_protocol::units::Credits;

/// The name of the script in the job's folder.
pub(super) const SCRIPT: &str = "script";
/// Bytes of a script at the most.
const SCRIPT_BYTES: usize = 256 * 1024;

/// The ways that the form orders by: name, word, what it is.
pub(super) const WAYS: [(&str, &str, &str); 3] = [
    (
        "ausubel",
        "Auction",
        "Usually cheapest. May lose its nodes at the end of a slot when others bid more.",
    ),
    (
        "buy",
        "Buy now",
        "Starts at once, and keeps its nodes for the whole time.",
    ),
    (
        "posted",
        "Hire",
        "At the price that sellers post, first come, first served.",
    ),
];

/// The terms of an order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Terms {
    pub(super) name: Option<String>,
    pub(super) argv: Vec<String>,
    pub(super) script: Option<String>,
    /// The file that goes along, as it is kept.
    pub(super) file: Option<InputFile>,
    pub(super) outputs: Vec<String>,
    pub(super) want: Want,
    /// The class chosen, with what its units have.
    pub(super) class: ClassPrice,
}

impl Terms {
    /// Of the fields, in a market of these classes.
    pub(super) fn of(fields: &Fields, classes: &[ClassPrice]) -> Answer<Terms> {
        let script = script(&fields.script)?;
        let mut file = file::input(fields, script.is_some())?;
        let argv = argv(&fields.argv, script.as_deref(), file.as_ref())?;
        if let (Some(file), Some(program)) = (&mut file, argv.first()) {
            file.executable = program.strip_prefix("./") == Some(file.path.as_str());
        }
        let class = class(fields, classes)?;
        let seconds =
            parse::duration(some(&fields.time).unwrap_or("1h")).map_err(|why| of("Time", why))?;
        let seconds = u32::try_from(seconds.as_millis().div_ceil(1_000));
        let seconds = seconds.ok().filter(|seconds| *seconds > 0);
        let (divisible, how) = (fields.shape == ARRAY, fields.how.as_str());
        let how = match how {
            "" => WAYS[0].0,
            how => how,
        };
        let offered = WAYS.iter().any(|(name, ..)| *name == how);
        let how = plain(how, divisible).filter(|_| offered);
        let how = how.ok_or_else(|| usage("there is no such way to buy", "choose another"))?;
        if divisible && !how.is_divisible() {
            let why = "separate tasks are bought in the auction only";
            return Err(usage(why, "choose the auction, or all nodes or none"));
        }
        let nodes = some(&fields.nodes).unwrap_or("1");
        Ok(Terms {
            name: some(&fields.name).map(str::to_owned),
            argv,
            script,
            file,
            outputs: outputs(&fields.outputs),
            want: Want {
                class: Some(class.class.clone()),
                nodes: nodes.parse().map_err(|_| {
                    usage(
                        format!("Nodes: `{nodes}` is no number of nodes"),
                        "write 1 or more",
                    )
                })?,
                max_price: money("Most per node-hour", &fields.max_price)?,
                seconds: seconds.ok_or_else(|| {
                    usage("Time: nothing, or longer than any lease", "write 30m or 2h")
                })?,
                budget: money("Budget", &fields.budget)?,
                how,
            },
            class,
        })
    }

    /// What is wanted, at the prices that were told where none are written.
    pub(super) fn told(&self, fields: &Fields) -> Want {
        let mut want = self.want.clone();
        let told = |text: &str| text.parse().ok();
        want.budget = want.budget.or_else(|| told(&fields.told_most));
        if matches!(want.how, How::Ausubel(_)) {
            want.max_price = want.max_price.or_else(|| told(&fields.told_price));
        }
        want
    }

    /// What is wanted, for any way to buy.
    pub(super) fn wish(&self) -> Wish {
        Wish {
            class: self.want.class.clone(),
            nodes: self.want.nodes,
            seconds: self.want.seconds,
            within_seconds: None,
            budget: self.want.budget,
        }
    }

    /// The command that quotes it.
    pub(super) fn quote_command(&self) -> String {
        let mut words = vec!["gridbay".to_owned(), "market".into(), "quote".into()];
        words.extend(self.size("-n"));
        command(words.iter().map(String::as_str))
    }

    /// The command that orders it; one whose bid is below what sellers ask is sent `anyway`.
    pub(super) fn run_command(&self, anyway: bool) -> String {
        let mut words = vec!["gridbay".to_owned(), "run".into()];
        let mut option = |name: &str, value: &str| match value.starts_with('-') {
            true => words.push(format!("{name}={value}")),
            false => words.extend([name.to_owned(), value.to_owned()]),
        };
        if let Some(name) = &self.name {
            option("--name", name);
        }
        if let Some(price) = self.want.max_price {
            option("--max-price", &price.to_string());
        }
        for file in self.brought() {
            option("--input", file);
        }
        for output in &self.outputs {
            option("--output", output);
        }
        let units = if self.want.how.is_divisible() {
            "--array"
        } else {
            "-n"
        };
        words.extend(self.size(units));
        if anyway {
            words.push("--anyway".to_owned());
        }
        // Every way but the first has an option of its name.
        if self.want.how.name() != WAYS[0].0 {
            words.push(format!("--{}", self.want.how.name()));
        }
        words.push("--".to_owned());
        words.extend(self.argv.iter().cloned());
        command(words.iter().map(String::as_str))
    }

    /// The names of the files that go along, which the command looks for where it is run.
    pub(super) fn brought(&self) -> Vec<&str> {
        let script = self.script.as_ref().map(|_| SCRIPT);
        let file = self.file.as_ref().map(|file| file.path.as_str());
        script.into_iter().chain(file).collect()
    }

    fn size(&self, units: &str) -> Vec<String> {
        let mut words = vec![
            "--class".to_owned(),
            self.class.class.clone(),
            units.to_owned(),
            self.want.nodes.to_string(),
            "-t".to_owned(),
            format!("{}s", self.want.seconds),
        ];
        if let Some(budget) = self.want.budget {
            words.extend(["--budget".to_owned(), budget.to_string()]);
        }
        words
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn of(field: &str, why: String) -> ApiError {
    usage(
        format!("{field}: {why}"),
        "change the field, and check again",
    )
}

fn money(field: &str, text: &str) -> Answer<Option<Credits>> {
    let amount = some(text).map(parse::credits).transpose();
    amount.map_err(|why| of(field, why))
}

/// A script as it is run: with the line ends of the machine that runs it.
fn script(text: &str) -> Answer<Option<String>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    if text.len() > SCRIPT_BYTES {
        let why = format!("the script has more than {} KiB", SCRIPT_BYTES >> 10);
        return Err(usage(why, "send larger ones by gridbay run --input"));
    }
    let mut text = text.replace("\r\n", "\n");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Some(text))
}

/// The command's words; without any, the script is run, or the file without a script.
fn argv(text: &str, script: Option<&str>, file: Option<&InputFile>) -> Answer<Vec<String>> {
    let words = split(text).ok_or_else(|| {
        usage(
            "Command: a quotation has no end",
            "close it, or write \\' for the sign",
        )
    })?;
    if !words.is_empty() {
        return Ok(words);
    }
    match (script, file) {
        (Some(script), _) if script.starts_with("#!") => Ok(vec![format!("./{SCRIPT}")]),
        (Some(_), _) => Ok(vec!["sh".to_owned(), SCRIPT.to_owned()]),
        (None, Some(file)) => Ok(vec![format!("./{}", file.path)]),
        (None, None) => Err(usage(
            "nothing to run",
            "write a command or a script, or choose a file that is a program",
        )),
    }
}

/// Files to bring back, sorted.
fn outputs(text: &str) -> Vec<String> {
    let mut names: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// The class named, or the first one whose units have what is asked.
fn class(fields: &Fields, classes: &[ClassPrice]) -> Answer<ClassPrice> {
    let number = |name: &str, text: &str| -> Answer<u32> {
        let read = some(text).map_or(Ok(0), str::parse);
        read.map_err(|_| usage(format!("{name}: `{text}` is no whole number"), "write 4"))
    };
    let size = |name: &str, text: &str| -> Answer<u64> {
        let bytes = some(text).map_or(Ok(0), parse::size);
        Ok(bytes.map_err(|why| of(name, why))?.div_ceil(1 << 20))
    };
    let cpus = number("Processors", &fields.cpus)?;
    let memory = size("Memory", &fields.memory)?;
    let disk = size("Disk", &fields.disk)?;
    let fits = |c: &&ClassPrice| c.vcpu >= cpus && c.memory_mib >= memory && c.disk_mib >= disk;
    if let Some(name) = some(&fields.class) {
        let named = classes.iter().find(|class| class.class == name);
        let named = named.ok_or_else(|| {
            usage(
                format!("there is no class `{name}`"),
                "choose one of the list",
            )
        })?;
        return match fits(&named) {
            true => Ok(named.clone()),
            false => Err(usage(
                format!("a unit of class {name} has less than that"),
                "choose another class, or let the node choose",
            )),
        };
    }
    // The classes are those of the choice, the best one first.
    classes.iter().find(fits).cloned().ok_or_else(|| {
        usage(
            "no class has units of that size",
            "ask for less; see gridbay market prices",
        )
    })
}

/// The classes from which the terms take theirs: where the form names none, the cheapest one for
/// the order alone, or that which was told when the form was checked.
pub(super) async fn choice(
    node: &NodeBackend,
    fields: &Fields,
    classes: Vec<ClassPrice>,
) -> Vec<ClassPrice> {
    if some(&fields.class).is_some() {
        return classes;
    }
    if fields.wants_to_send() {
        let told = |class: &ClassPrice| class.class == fields.told_class;
        return classes.into_iter().filter(told).collect();
    }
    let mut candidates = Vec::new();
    for class in &classes {
        if let Ok(terms) = Terms::of(fields, std::slice::from_ref(class)) {
            let quote = node.quote(terms.want.clone()).await;
            candidates.push(Candidate::of(class.clone(), quote, &terms.want));
        }
    }
    match cheapest(candidates) {
        Some(best) => vec![best.class],
        None => classes,
    }
}

#[cfg(test)]
pub(super) mod tests;
