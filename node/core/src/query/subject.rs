//! The subject of a query: a node and its offers, as the ledger and its advert describe them.

use super::attribute::Attribute;
use super::value::Kind;
use gridbay_protocol::advert::RoundTrip;
use gridbay_protocol::class::Class;
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Units of one class at one node.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The offer.
    pub offer: OfferId,
    /// Its class.
    pub class: &'a Class,
    /// Units free, as the seller says.
    pub free: u32,
    /// Least price per unit-hour.
    pub price: Credits,
    /// Buy-it-now price per unit-hour, if they are sold that way.
    pub buy: Option<Credits>,
    /// Mechanism that they are sold under first.
    pub mechanism: &'static str,
    /// Whether they are never taken back.
    pub firm: bool,
}

/// A node of a seller.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The node.
    pub node: PublicKey,
    /// The seller.
    pub seller: AccountId,
    /// Its statements about itself by name: `site`, `arch`, `os` and names that begin with `x.`.
    pub texts: &'a BTreeMap<String, String>,
    /// Its round trips to landmarks, ascending by landmark.
    pub round_trips: &'a [RoundTrip],
    /// Round trip from here in microseconds, if known.
    pub rtt: Option<u64>,
    /// Its offers, ascending by id.
    pub lines: Vec<Line<'a>>,
}

/// A node's value of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact<'a> {
    /// An amount in the units of [`super::value::Value`].
    Amount(u64, Kind),
    /// A text.
    Text(Cow<'a, str>),
    /// Either way.
    Switch(bool),
    /// Its owner's statement: of the type it is compared with, if it can be read as such.
    Said(&'a str),
}

const MIB: u64 = 1 << 20;
const MILLION: u64 = 1_000_000;

impl<'a> Subject<'a> {
    /// Its statement about itself under a name.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let texts: &'a BTreeMap<String, String> = self.texts;
        texts.get(name).map(String::as_str)
    }

    /// Where it stands.
    pub fn site(&self) -> Option<&'a str> {
        self.text("site")
    }

    /// The value of an attribute of one of its lines; `None` if it is unknown.
    pub fn fact(&self, line: &Line<'a>, attribute: &Attribute) -> Option<Fact<'a>> {
        let number = |n: u64| Some(Fact::Amount(n.saturating_mul(MILLION), Kind::Number));
        let money = |c: Credits| Some(Fact::Amount(c.micros(), Kind::Number));
        let size = |mib: u64| Some(Fact::Amount(mib.saturating_mul(MIB), Kind::Size));
        let text = |t: &'a str| Some(Fact::Text(Cow::Borrowed(t)));
        let key = &line.class.key;
        match attribute {
            Attribute::Cpu => number(key.vcpu.into()),
            Attribute::Gpu => number(key.gpu.into()),
            Attribute::Mem => size(key.memory_mib),
            Attribute::Disk => size(key.disk_mib),
            Attribute::Class => text(&line.class.name),
            Attribute::Isolation => text(key.isolation.name()),
            Attribute::Circle => text(&key.circle),
            Attribute::Free => number(line.free.into()),
            Attribute::Price => money(line.price),
            Attribute::Buy => line.buy.and_then(money),
            Attribute::Mechanism => text(line.mechanism),
            Attribute::Firm => Some(Fact::Switch(line.firm)),
            Attribute::Seller => Some(Fact::Text(self.seller.to_hex().into())),
            Attribute::Node => Some(Fact::Text(self.node.to_hex().into())),
            Attribute::Site => self.site().and_then(text),
            Attribute::Arch => self.text("arch").and_then(text),
            Attribute::Os => self.text("os").and_then(text),
            Attribute::RttMe => self.rtt.map(|micros| Fact::Amount(micros, Kind::Duration)),
            Attribute::Own(name) => {
                let said = self.texts.get(&format!("x.{name}"));
                said.map(|said| Fact::Said(said))
            }
        }
    }
}
