//! Under which names nodes are found in the DHT, and which of them a query needs.
//!
//! 1. A selling node announces [`Bucket`]s: one for all sellers; the names of its classes; its
//!    architecture and system; its site with every suffix of it at a dot (`cs.example.edu`,
//!    `example.edu`, `edu`); and, up to its largest unit, each power of two of processors, GiB of
//!    memory and graphics processors from [`LEAST`] on.
//! 2. A query needs a bucket if every node that fits is in it. Only conditions joined by `&&` at
//!    the top say so. A list needs one bucket for each of its values, up to [`ALTERNATIVES`].
//! 3. The narrowest is looked up: a class before a site (longer before shorter), before memory,
//!    graphics and processors (larger before smaller), before an architecture, a system, and all
//!    sellers.
//!
//! A bucket says nothing that is relied upon: nodes found in it are asked for their adverts, and
//! those are judged.

use super::Query;
use super::attribute::Attribute;
use super::condition::{Condition, Operator};
use super::subject::Subject;
use super::value::Value;
use std::collections::BTreeSet;

/// Values of a list that are looked up one by one.
pub const ALTERNATIVES: usize = 8;
/// Buckets of one node at the most.
pub const BUCKETS: usize = 64;
/// Smallest amount that has a bucket of its own: less is what most nodes have.
pub const LEAST: u64 = 2;
/// Largest power of two that has a bucket.
const MOST_POWER: u32 = 16;

/// Something that nodes provide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    /// Of what sort.
    pub kind: &'static str,
    /// Which.
    pub name: String,
}

impl Bucket {
    fn new(kind: &'static str, name: impl Into<String>) -> Bucket {
        let name = name.into();
        Bucket { kind, name }
    }
    /// All sellers' nodes.
    pub fn sellers() -> Bucket {
        Bucket::new("sellers", "")
    }
}

/// The power of two at or below an amount that has a bucket.
fn power(amount: u64) -> Option<u32> {
    let power = amount.checked_ilog2()?;
    (amount >= LEAST).then_some(power.min(MOST_POWER))
}

/// The buckets that a node is in, at most [`BUCKETS`].
pub fn of_node(subject: &Subject<'_>) -> Vec<Bucket> {
    let mut buckets = BTreeSet::from([Bucket::sellers()]);
    let (mut cpu, mut mem, mut gpu) = (0, 0, 0);
    for line in &subject.lines {
        let key = &line.class.key;
        buckets.insert(Bucket::new("class", line.class.name.to_ascii_lowercase()));
        cpu = cpu.max(key.vcpu.into());
        mem = mem.max(key.memory_mib >> 10);
        gpu = gpu.max(key.gpu.into());
    }
    for (kind, amount) in [("cpu", cpu), ("mem", mem), ("gpu", gpu)] {
        let powers = 1..=power(amount).unwrap_or(0);
        buckets.extend(powers.map(|p| Bucket::new(kind, (1u64 << p).to_string())));
    }
    for kind in ["arch", "os"] {
        let said = subject.text(kind).map(str::to_ascii_lowercase);
        buckets.extend(said.map(|said| Bucket::new(kind, said)));
    }
    let site = subject.site().map(str::to_ascii_lowercase);
    let mut rest = site.as_deref();
    while let Some(suffix) = rest.filter(|suffix| !suffix.is_empty()) {
        buckets.insert(Bucket::new("site", suffix));
        rest = suffix.split_once('.').map(|(_, shorter)| shorter);
    }
    buckets.into_iter().take(BUCKETS).collect()
}

/// The buckets of which one holds every node that fits, the narrowest that the query tells.
pub fn of_query(query: &Query) -> Vec<Bucket> {
    let needed = query.conjuncts().iter().filter_map(needed);
    let narrowest = needed.min_by_key(|(width, _)| *width);
    narrowest.map_or_else(|| vec![Bucket::sellers()], |(_, buckets)| buckets)
}

/// How wide a bucket is: sort, then size, then how many must be looked up.
type Width = (u8, u32, usize);

fn needed(condition: &Condition) -> Option<(Width, Vec<Bucket>)> {
    match condition {
        Condition::Compare(attribute, operator, value) => {
            let (width, bucket) = bucket(attribute, *operator, value)?;
            Some((width, vec![bucket]))
        }
        Condition::In(attribute, values) if values.len() <= ALTERNATIVES => {
            let one = |value| bucket(attribute, Operator::Equal, value);
            let all: Vec<_> = values.iter().map(one).collect::<Option<_>>()?;
            let (sort, size, _) = all.iter().map(|(width, _)| *width).max()?;
            let buckets: BTreeSet<Bucket> = all.into_iter().map(|(_, bucket)| bucket).collect();
            let buckets: Vec<Bucket> = buckets.into_iter().collect();
            Some(((sort, size, buckets.len()), buckets))
        }
        _ => None,
    }
}

fn bucket(attribute: &Attribute, operator: Operator, value: &Value) -> Option<(Width, Bucket)> {
    let equal = operator == Operator::Equal;
    let large = equal || matches!(operator, Operator::Above | Operator::AtLeast);
    let sized = |sort: u8, kind, amount: u64| {
        let power = power(amount).filter(|_| large)?;
        let bucket = Bucket::new(kind, (1u64 << power).to_string());
        Some(((sort, u32::MAX - power, 1), bucket))
    };
    let plain = |text: &str| !text.contains('*') && equal;
    match (attribute, value) {
        (Attribute::Class, Value::Text(name)) if plain(name) => {
            Some(((0, 0, 1), Bucket::new("class", name.to_ascii_lowercase())))
        }
        (Attribute::Site, Value::Text(pattern)) if equal => {
            let suffix = suffix(pattern)?;
            let labels = suffix.split('.').count();
            let narrow = u32::MAX - u32::try_from(labels).unwrap_or(u32::MAX);
            Some(((1, narrow, 1), Bucket::new("site", suffix)))
        }
        (Attribute::Mem, Value::Size(bytes)) => sized(2, "mem", bytes >> 30),
        (Attribute::Gpu, Value::Number(n)) => sized(3, "gpu", n / 1_000_000),
        (Attribute::Cpu, Value::Number(n)) => sized(4, "cpu", n / 1_000_000),
        (Attribute::Arch, Value::Text(arch)) if plain(arch) => {
            Some(((5, 0, 1), Bucket::new("arch", arch.to_ascii_lowercase())))
        }
        (Attribute::Os, Value::Text(os)) if plain(os) => {
            Some(((6, 0, 1), Bucket::new("os", os.to_ascii_lowercase())))
        }
        _ => None,
    }
}

/// The ending of every site that fits a pattern, after a dot or as a whole.
fn suffix(pattern: &str) -> Option<String> {
    let suffix = match pattern.rsplit_once('*') {
        None => pattern,
        Some((_, after)) => after.split_once('.')?.1,
    };
    (!suffix.is_empty()).then(|| suffix.to_ascii_lowercase())
}
