//! The attributes of nodes and offers that queries ask for, by name and type.

use super::value::Kind;
use std::fmt;

/// Something that a query compares.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attribute {
    /// Virtual processors of a unit.
    Cpu,
    /// Memory of a unit.
    Mem,
    /// Disk of a unit.
    Disk,
    /// Graphics processors of a unit.
    Gpu,
    /// Name of the class.
    Class,
    /// How strongly jobs are kept apart: `process`, `container`, `machine`.
    Isolation,
    /// Name of the circle that may trade the class.
    Circle,
    /// Units free, as the seller says.
    Free,
    /// Least price, credits per unit-hour.
    Price,
    /// Buy-it-now price, credits per unit-hour; unknown where it is not sold that way.
    Buy,
    /// Mechanism that the units are sold under first.
    Mechanism,
    /// Whether the seller never takes units back before a lease ends.
    Firm,
    /// The seller's account, hex.
    Seller,
    /// The node, hex.
    Node,
    /// Its site, as its owner says.
    Site,
    /// Its processor, as in `amd64`.
    Arch,
    /// Its operating system, as in `linux`.
    Os,
    /// Round trip from here.
    RttMe,
    /// The owner's own statement under this name (without `x.`).
    Own(String),
}

/// All attributes that have a fixed name, each with its word and its type, in the order of the
/// documentation.
pub static FIXED: [(Attribute, &str, Kind); 18] = [
    (Attribute::Cpu, "cpu", Kind::Number),
    (Attribute::Mem, "mem", Kind::Size),
    (Attribute::Disk, "disk", Kind::Size),
    (Attribute::Gpu, "gpu", Kind::Number),
    (Attribute::Class, "class", Kind::Text),
    (Attribute::Isolation, "isolation", Kind::Text),
    (Attribute::Circle, "circle", Kind::Text),
    (Attribute::Free, "free", Kind::Number),
    (Attribute::Price, "price", Kind::Number),
    (Attribute::Buy, "buy", Kind::Number),
    (Attribute::Mechanism, "mechanism", Kind::Text),
    (Attribute::Firm, "firm", Kind::Switch),
    (Attribute::Seller, "seller", Kind::Text),
    (Attribute::Node, "node", Kind::Text),
    (Attribute::Site, "site", Kind::Text),
    (Attribute::Arch, "arch", Kind::Text),
    (Attribute::Os, "os", Kind::Text),
    (Attribute::RttMe, "rtt", Kind::Duration),
];

/// Begins the names that owners give.
pub const OWN: &str = "x.";

impl Attribute {
    fn fixed(&self) -> Option<&'static (Attribute, &'static str, Kind)> {
        FIXED.iter().find(|(attribute, ..)| attribute == self)
    }

    /// As written, without the brackets of `rtt(me)`.
    pub fn word(&self) -> &str {
        match self {
            Attribute::Own(name) => name,
            fixed => fixed.fixed().map_or("", |(_, word, _)| word),
        }
    }

    /// Its type; `None` for what owners say, which is of the type that it is compared with.
    pub fn kind(&self) -> Option<Kind> {
        self.fixed().map(|(.., kind)| *kind)
    }

    /// Its meaning, for people: "money per unit-hour" rather than "a number".
    pub fn meaning(&self) -> &'static str {
        match (self, self.kind()) {
            (Attribute::Price | Attribute::Buy, _) => "money, in credits per unit-hour",
            (_, Some(kind)) => kind.name(),
            (_, None) => "what an owner says",
        }
    }

    /// The attribute with a name as written.
    pub(super) fn named(word: &str) -> Option<Attribute> {
        if let Some(name) = word.strip_prefix(OWN) {
            return name_is_valid(name).then(|| Attribute::Own(name.to_owned()));
        }
        let found = FIXED.iter().find(|(_, own, _)| *own == word);
        found.map(|(attribute, ..)| attribute.clone())
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::RttMe => f.write_str("rtt(me)"),
            Attribute::Own(name) => write!(f, "{OWN}{name}"),
            fixed => f.write_str(fixed.word()),
        }
    }
}

/// Characters of a name that an owner gives, at the most.
pub const NAME_CHARS: usize = 32;

/// Whether an owner may give this name: a letter, then letters, digits, `_` and `-`, all small.
pub fn name_is_valid(name: &str) -> bool {
    let rest = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    name.len() <= NAME_CHARS
        && name.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
        && name.bytes().all(rest)
}

/// Names that people know from elsewhere, and the attributes that they mean here.
const ELSEWHERE: [(&str, Attribute); 12] = [
    ("cpus", Attribute::Cpu),
    ("cores", Attribute::Cpu),
    ("vcpu", Attribute::Cpu),
    ("memory", Attribute::Mem),
    ("ram", Attribute::Mem),
    ("gpus", Attribute::Gpu),
    ("storage", Attribute::Disk),
    ("cost", Attribute::Price),
    ("latency", Attribute::RttMe),
    ("ping", Attribute::RttMe),
    ("region", Attribute::Site),
    ("account", Attribute::Seller),
];

/// Letters by which a word may differ from a name that it is taken for.
const SLIPS: usize = 2;

/// Up to three names that may be meant by a word, nearest first.
pub(super) fn nearest(word: &str) -> Vec<Attribute> {
    let word = word.to_ascii_lowercase();
    let fixed = FIXED.iter().map(|(a, word, _)| (*word, a));
    let elsewhere = ELSEWHERE.iter().map(|(name, a)| (*name, a));
    let mut near: Vec<(usize, &Attribute)> = fixed
        .chain(elsewhere)
        .map(|(name, attribute)| (distance(name, &word), attribute))
        .filter(|(slips, a)| *slips <= SLIPS && *slips < a.word().len())
        .collect();
    let begins = |a: &Attribute| a.word().bytes().next() != word.bytes().next();
    near.sort_by_key(|(slips, attribute)| (*slips, begins(attribute)));
    let mut names: Vec<Attribute> = Vec::new();
    for (_, attribute) in near {
        if !names.contains(attribute) {
            names.push(attribute.clone());
        }
    }
    names.truncate(3);
    names
}

/// Letters to insert, remove or replace to get from one word to the other. Long words differ by
/// their length.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().abs_diff(b.len()) > SLIPS {
        return a.len().abs_diff(b.len());
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_names_are_distinct_and_found() {
        for (attribute, word, _) in &FIXED {
            assert_eq!(Attribute::named(word), Some(attribute.clone()));
        }
        assert_eq!(
            Attribute::named("x.gpu-model"),
            Some(Attribute::Own("gpu-model".into()))
        );
        for bad in ["x.", "x.Model", "x.1", "Cpu", "", "rtt(me)"] {
            assert_eq!(Attribute::named(bad), None, "{bad}");
        }
    }

    #[test]
    fn slips_and_other_systems_names_are_understood() {
        assert_eq!(nearest("memory"), [Attribute::Mem]);
        assert_eq!(nearest("CPU")[0], Attribute::Cpu);
        assert_eq!(nearest("pirce")[0], Attribute::Price);
        assert_eq!(nearest("sites")[0], Attribute::Site);
        assert_eq!(nearest("mechanisn"), [Attribute::Mechanism]);
        assert_eq!(nearest("reliability"), []);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
