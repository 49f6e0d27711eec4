//! `sim model`: many nodes' overlays under virtual time.

use super::SimError;
use crate::overlay::Settings;
use crate::overlay::figures::{Figures, table};
use gridbay_core::overlay::CONNECTIONS;
use std::io::Write;
use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Model {
    /// Numbers of nodes that are up
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1000, 10_000], value_parser = nodes)]
    nodes: Vec<usize>,
    /// Decides everything
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measured hours of virtual time
    #[arg(long, default_value_t = 1.0, value_parser = hours)]
    hours: f64,
    /// Lookups to measure
    #[arg(long, default_value_t = 4000)]
    lookups: usize,
    /// Nodes of a thousand that leave in an hour
    #[arg(long, default_value_t = 300)]
    churn: u64,
    /// Nodes of a thousand that cannot be dialled
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(0..=900))]
    private: u64,
    /// Connections that a node may have
    #[arg(long, default_value_t = CONNECTIONS)]
    connections: usize,
    /// Let no node close connections to make room, to see what becomes of it
    #[arg(long)]
    no_room: bool,
    /// Form of the output
    #[arg(short = 'o', long = "format", value_enum, default_value = "table")]
    format: Format,
    /// Besides, compare the model with 100 real nodes in this process (not in the simulator alone)
    #[arg(long)]
    pub check: bool,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

impl Model {
    /// Runs the worlds, and says whether enough was found in each.
    ///
    /// # Errors
    /// The output fails.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let mut all = Vec::new();
        for nodes in &self.nodes {
            let began = Instant::now();
            let figures = Figures::of(&self.settings(*nodes));
            if self.format == Format::Table {
                let seconds = began.elapsed().as_secs_f64();
                writeln!(out, "{nodes} nodes: modelled in {seconds:.1} s")?;
            }
            all.push(figures);
        }
        match self.format {
            Format::Table => write!(out, "\n{}", table(&all))?,
            Format::Json => {
                let text = serde_json::to_string_pretty(&all).map_err(std::io::Error::from)?;
                writeln!(out, "{text}")?;
            }
        }
        Ok(all.iter().all(Figures::is_well))
    }

    /// The seed that decides everything.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    fn settings(&self, nodes: usize) -> Settings {
        Settings {
            measured: Duration::from_secs_f64(3600.0 * self.hours),
            churn: self.churn,
            private: self.private,
            lookups: self.lookups,
            connections: self.connections,
            room: !self.no_room,
            ..Settings::wide_area(nodes, self.seed)
        }
    }
}

fn nodes(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "want a number".to_owned())?;
    if (10..=100_000).contains(&number) {
        Ok(number)
    } else {
        Err("want 10 to 100000".to_owned())
    }
}

fn hours(text: &str) -> Result<f64, String> {
    let hours: f64 = text.parse().map_err(|_| "want a number".to_owned())?;
    if (0.01..=100.0).contains(&hours) {
        Ok(hours)
    } else {
        Err("want 0.01 to 100".to_owned())
    }
}
