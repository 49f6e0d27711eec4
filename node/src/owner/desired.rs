//! What an owner told a node from afar: one setting more, checked. Pure.

use super::types::{Desired, Setting, SettingKey};
use crate::config::parse;
use gridbay_protocol::units::Credits;

/// Most units, and processors.
const MANY: u32 = 100_000;

/// Why a setting is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadSetting {
    /// Its value cannot be read.
    #[error("{}: {problem}", key.name())]
    Value {
        /// The setting.
        key: SettingKey,
        /// The fault of its value.
        problem: String,
    },
    /// Buy-it-now would be below the least price.
    #[error("the buy-it-now price {buy} is below the least price {price}")]
    Below {
        /// Buy-it-now.
        buy: Credits,
        /// Least.
        price: Credits,
    },
}

impl BadSetting {
    /// What the owner can do.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            BadSetting::Value {
                key: SettingKey::Units,
                ..
            } => "to sell nothing: set NAME sell off",
            BadSetting::Value { .. } => "`default` goes by the configuration disk again",
            BadSetting::Below { .. } => {
                "first set the other one of the two, or take it back with `default`"
            }
        }
    }
}

impl Desired {
    /// With one setting changed; the change is counted.
    pub(super) fn with(&self, setting: &Setting) -> Result<Desired, BadSetting> {
        let mut after = self.clone();
        let wrong = |problem| BadSetting::Value {
            key: setting.key,
            problem,
        };
        after
            .change(setting.key, setting.value.as_deref())
            .map_err(wrong)?;
        let amount = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
        if let (Some(price), Some(buy)) = (amount(&after.price), amount(&after.buy))
            && buy < price
        {
            return Err(BadSetting::Below { buy, price });
        }
        after.count = self.count.saturating_add(1);
        Ok(after)
    }
    /// With the wish that this node be erased; counted.
    pub(super) fn erasing(&self, node: String) -> Desired {
        Desired {
            reset: Some(node),
            count: self.count.saturating_add(1),
            ..self.clone()
        }
    }
    /// Draining or not; counted if it changes.
    pub(super) fn draining(&self, drain: bool) -> Desired {
        let changed = u64::from(self.drain != drain);
        Desired {
            drain,
            count: self.count.saturating_add(changed),
            ..self.clone()
        }
    }

    fn change(&mut self, key: SettingKey, value: Option<&str>) -> Result<(), String> {
        match key {
            SettingKey::Price => self.price = value.map(credits).transpose()?,
            SettingKey::Buy => self.buy = value.map(credits).transpose()?,
            SettingKey::Units => self.units = value.map(|v| whole(v, 1)).transpose()?,
            SettingKey::ReserveVcpu => {
                self.reserve_vcpu = value.map(|v| whole(v, 0)).transpose()?
            }
            SettingKey::ReserveMemory => self.reserve_memory_mib = value.map(mib).transpose()?,
            SettingKey::ReserveDisk => self.reserve_disk_mib = value.map(mib).transpose()?,
            SettingKey::Hours => self.hours = value.map(hours).transpose()?,
            SettingKey::Sell => self.sell = value.map(switch).transpose()?,
        }
        Ok(())
    }
}

fn credits(text: &str) -> Result<String, String> {
    parse::credits(text).map(|amount| amount.to_string())
}

fn whole(text: &str, least: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (least..=MANY).contains(n));
    number.ok_or_else(|| format!("want a whole number from {least} to {MANY}"))
}

/// A size in MiB, rounded up. A number alone would be bytes, which nobody means here.
fn mib(text: &str) -> Result<u64, String> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "`{text}` has no unit: write {text}MiB or {text}GiB"
        ));
    }
    parse::size(text).map(|bytes| bytes.div_ceil(1 << 20))
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("want on or off".to_owned()),
    }
}

/// Two times of the day, as the agent reads them.
fn hours(text: &str) -> Result<String, String> {
    let wrong =
        || "want two different times from 00:00 to 23:59 in UTC, as in 22:00-06:00".to_owned();
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    match (minute(from), minute(to)) {
        (Some(from), Some(to)) if from != to => Ok(text.to_owned()),
        _ => Err(wrong()),
    }
}

fn minute(text: &str) -> Option<u32> {
    let (hour, minute) = text.split_once(':')?;
    let two = |part: &str, below: u32| {
        let digits = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        part.parse().ok().filter(|n: &u32| digits && *n < below)
    };
    Some(two(hour, 24)? * 60 + two(minute, 60)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// What the agent's tests read, with every key.
    const FILE: &str = include_str!("../../../appliance/tests/data/owner.json");

    fn set(from: &Desired, key: SettingKey, value: &str) -> Result<Desired, BadSetting> {
        let value = Some(value.to_owned());
        from.with(&Setting { key, value })
    }

    #[test]
    fn settings_are_checked_kept_and_taken_back() {
        let none = Desired::default();
        let mut all = none.clone();
        for (key, value) in [
            (SettingKey::Price, "3.50"),
            (SettingKey::Buy, "10"),
            (SettingKey::Units, "2"),
            (SettingKey::ReserveVcpu, "1"),
            (SettingKey::ReserveMemory, "1GiB"),
            (SettingKey::ReserveDisk, "512MiB"),
            (SettingKey::Hours, "22:00-06:00"),
            (SettingKey::Sell, "off"),
        ] {
            all = set(&all, key, value).unwrap();
        }
        let owner = "0a".to_owned();
        let file = Desired {
            owner,
            ..all.draining(true).erasing("0a".to_owned())
        };
        let agreed: Value = serde_json::from_str(FILE).unwrap();
        assert_eq!(serde_json::to_value(&file).unwrap(), agreed);
        assert_eq!(serde_json::from_str::<Desired>(FILE).unwrap(), file);
        for key in SettingKey::ALL {
            all = all.with(&Setting { key, value: None }).unwrap();
        }
        assert_eq!(all, Desired { count: 16, ..none });
        let drained = all.draining(true);
        assert_eq!((drained.count, drained.drain), (17, true));
        assert_eq!(drained.draining(true), drained);
    }

    #[test]
    fn values_that_make_no_sense_are_refused_by_their_name() {
        let priced = set(&Desired::default(), SettingKey::Price, "5").unwrap();
        for (key, value) in [
            (SettingKey::Price, "-1"),
            (SettingKey::Price, "0.0000001"),
            (SettingKey::Units, "0"),
            (SettingKey::ReserveVcpu, "many"),
            (SettingKey::ReserveMemory, "1 mile"),
            (SettingKey::ReserveMemory, "512"),
            (SettingKey::Hours, "22-6"),
            (SettingKey::Hours, "24:00-06:00"),
            (SettingKey::Hours, "06:00-06:00"),
            (SettingKey::Hours, "+6:00-07:00"),
            (SettingKey::Sell, "yes"),
        ] {
            let error = set(&priced, key, value).unwrap_err();
            assert!(error.to_string().starts_with(key.name()), "{error}");
        }
        let below = set(&priced, SettingKey::Buy, "4").unwrap_err();
        assert!(matches!(below, BadSetting::Below { .. }), "{below}");
    }
}
