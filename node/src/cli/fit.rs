//! The class of an order: the one that is named, or else the cheapest that fits. The node chooses
//! it, but for orders that ask for a size: see [`crate::buy::fit`].

use super::error::{CliError, During as _};
use super::exit::Exit;
use crate::api::ApiError;
use crate::api::client::Client;
use crate::api::types::{ClassPrice, How, Quote, Want};
use crate::buy::BidHow;
use crate::buy::fit::{Candidate, cheapest};
use crate::config::parse;
use crate::market::BETWEEN;
use crate::ui;
use clap::Args;

/// A class, or what one must have.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Fit {
    /// Name of the class [default: the cheapest that fits]
    #[arg(long)]
    pub(super) class: Option<String>,
    /// Processors that each node must have
    #[arg(
        long, value_name = "N", conflicts_with = "class",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(super) cpus: Option<u32>,
    /// Memory that each node must have
    #[arg(long, value_name = "SIZE", conflicts_with = "class", value_parser = parse::size)]
    pub(super) memory: Option<u64>,
    /// Disk that each node must have
    #[arg(long, value_name = "SIZE", conflicts_with = "class", value_parser = parse::size)]
    pub(super) disk: Option<u64>,
}

impl Fit {
    /// The wish with a class, and its quote; says which was chosen, and why, where there is a
    /// choice. What is sent then is what was told, whatever becomes cheaper meanwhile.
    pub(super) async fn quoted(
        &self,
        client: &Client,
        mut want: Want,
        what: &str,
    ) -> Result<(Want, Quote), CliError> {
        want.class.clone_from(&self.class);
        if self.asks_for_size() {
            want.class = Some(self.cheapest(client, &want, what).await?);
        }
        let chosen = want.class.is_none();
        let quote: Quote = client.post("/quote", &want, None).await.during(what)?;
        if chosen {
            // Of several classes, the first is the one that the node chose.
            let class = quote.class.split(BETWEEN).next().unwrap_or_default();
            want.class = Some(class.to_owned());
            if let Some(among) = quote.among {
                ui::note(&reason(class, &quote, among));
            }
        }
        Ok((want, quote))
    }

    fn asks_for_size(&self) -> bool {
        self.cpus.is_some() || self.memory.is_some() || self.disk.is_some()
    }

    /// The cheapest of the classes that are large enough; says which, and why.
    async fn cheapest(&self, client: &Client, want: &Want, what: &str) -> Result<String, CliError> {
        let classes: Vec<ClassPrice> = client.get("/prices").await.during(what)?;
        let all = classes.len();
        let mut candidates = Vec::new();
        for class in self.large_enough(classes, want) {
            let mut want = want.clone();
            want.class = Some(class.class.clone());
            let quote: Result<Quote, ApiError> = client.post("/quote", &want, None).await;
            candidates.push(Candidate::of(class, quote, &want));
        }
        let serving = candidates.iter().filter(|found| found.serves).count();
        let Some(best) = cheapest(candidates) else {
            let next = "see the classes: gridbay market prices";
            return Err(CliError::new(Exit::NO_MATCH, what, self.unmet(), next));
        };
        if let Some(quote) = best.quote.ok().filter(|_| all > 1) {
            let serving = u32::try_from(serving).unwrap_or(u32::MAX);
            ui::note(&reason(&best.class.class, &quote, serving));
        }
        Ok(best.class.class)
    }

    /// The classes that have what is asked, and are not named beside the first one.
    fn large_enough(&self, classes: Vec<ClassPrice>, want: &Want) -> Vec<ClassPrice> {
        let mib = |bytes: Option<u64>| bytes.unwrap_or(0).div_ceil(1 << 20);
        let (memory, disk) = (mib(self.memory), mib(self.disk));
        let fits = |class: &ClassPrice| {
            class.vcpu >= self.cpus.unwrap_or(0)
                && class.memory_mib >= memory
                && class.disk_mib >= disk
                && want.how.also().iter().all(|also| also.class != class.class)
        };
        classes.into_iter().filter(fits).collect()
    }

    /// Why there is no class.
    fn unmet(&self) -> String {
        let size = |bytes: Option<u64>, of: &str| {
            bytes.map(|bytes| format!("{} MiB of {of}", bytes.div_ceil(1 << 20)))
        };
        let cpus = self.cpus.map(|cpus| format!("{cpus} processors"));
        let asked = [cpus, size(self.memory, "memory"), size(self.disk, "disk")];
        let asked: Vec<String> = asked.into_iter().flatten().collect();
        match asked.is_empty() {
            true => "no class is left for it".to_owned(),
            false => format!("no class has {}", asked.join(" and ")),
        }
    }
}

/// A bid for so many nodes, for commands that ask about a class and send no order.
pub(super) fn bid(nodes: u32, divisible: bool, seconds: u32) -> Want {
    Want {
        class: None,
        nodes,
        max_price: None,
        seconds,
        budget: None,
        how: How::Ausubel(BidHow { divisible }),
    }
}

fn reason(class: &str, quote: &Quote, serving: u32) -> String {
    match (serving, quote.asked) {
        (0, _) => format!("class {class}, for want of one that can serve it"),
        (1, _) => format!("class {class}, the only one that fits"),
        (n, Some(asked)) => format!(
            "class {class}, the cheapest of {n} that fit: sellers ask {asked} per node-hour"
        ),
        (n, None) => format!("class {class}, the cheapest of {n} that fit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buy::fit::tests::class;

    #[test]
    fn what_is_asked_bounds_the_choice() {
        let want = bid(1, false, 60);
        let all = || vec![class("small", 1, 512), class("large", 8, 4_096)];
        let names = |fit: &Fit| {
            let fits = fit.large_enough(all(), &want).into_iter();
            fits.map(|class| class.class).collect::<Vec<_>>()
        };
        assert_eq!(names(&Fit::default()), ["small", "large"]);
        let cpus = Fit {
            cpus: Some(2),
            ..Fit::default()
        };
        assert_eq!(names(&cpus), ["large"]);
        let memory = Fit {
            memory: Some((512 << 20) + 1),
            ..Fit::default()
        };
        assert_eq!(names(&memory), ["large"]);
        let both = Fit {
            cpus: Some(9),
            disk: Some(1 << 30),
            ..Fit::default()
        };
        assert_eq!(names(&both), Vec::<String>::new());
        assert_eq!(
            both.unmet(),
            "no class has 9 processors and 1024 MiB of disk"
        );
    }
}
