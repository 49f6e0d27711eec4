//! The settings `provider.*`: the terms on which a node runs batches of jobs under contract.

use super::parse;
use super::raw::{ConfigError, RawConfig};
use super::read::{read, text};
use gridbay_core::provider::{ProviderPolicy, ProviderTerms};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::limits;
use gridbay_protocol::units::{Credits, Price};
use toml::Value;

/// The owner's settings; amounts per hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Names of classes; all if there are none.
    pub classes: Vec<String>,
    /// The contracts to sign.
    pub policy: PolicyName,
    /// Units counted on, 1 to [`limits::CLASS_UNITS`].
    pub units: u32,
    /// The estimated cost of a unit per hour.
    pub cost: Credits,
    /// The most that is paid for a unit per hour.
    pub most: Credits,
    /// The least pay of a contract per hour, for `high-value-only`.
    pub threshold: Credits,
}

gridbay_protocol::named! {
    /// The policies by name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "see the mechanism's policies of these names")]
    pub enum PolicyName as name {
        Oblivious = "oblivious",
        Average = "average",
        Conservative = "conservative",
        HighValueOnly = "high-value-only",
        PreemptConservative = "preempt-conservative",
        PreemptLeastLoss = "preempt-least-loss",
    }
}

/// Why the settings do not fit a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// No such class.
    #[error("provider.classes: no class `{0}` in this network")]
    Class(String),
    /// Beyond the highest price there is.
    #[error("{0}: more than a price may be")]
    Price(&'static str),
}

/// `None` while the policy is `off`.
pub(super) fn check(raw: &RawConfig) -> Result<Option<ProviderConfig>, ConfigError> {
    let policy = read(raw, "provider.policy", policy)?;
    let classes = read(raw, "provider.classes", |value| {
        let list = value.as_array().ok_or("want a list of names")?;
        list.iter().map(text).collect()
    })?;
    let units = read(raw, "provider.units", |value| match value.as_integer() {
        Some(n) if (1..=i64::from(limits::CLASS_UNITS)).contains(&n) => Ok(n as u32),
        _ => Err(format!("want a number from 1 to {}", limits::CLASS_UNITS)),
    })?;
    let amount = |value: &Value| parse::credits(&text(value)?);
    let cost = read(raw, "provider.cost", amount)?;
    let most = read(raw, "provider.most", amount)?;
    let threshold = read(raw, "provider.threshold", amount)?;
    Ok(policy.map(|policy| ProviderConfig {
        classes,
        policy,
        units,
        cost,
        most,
        threshold,
    }))
}

fn policy(value: &Value) -> Result<Option<PolicyName>, String> {
    let name = text(value)?;
    if name == "off" {
        return Ok(None);
    }
    let found = PolicyName::ALL.into_iter().find(|p| p.name() == name);
    found.map(Some).ok_or_else(|| {
        let names = PolicyName::ALL.map(PolicyName::name);
        format!("want off, {}", names.join(", "))
    })
}

impl ProviderConfig {
    /// In the units of a network.
    ///
    /// # Errors
    /// A class that it does not have, or amounts beyond its prices.
    pub fn terms(&self, genesis: &Genesis) -> Result<ProviderTerms, ProviderError> {
        let slot_ms = genesis.policy.slot_ms();
        let price = |amount: Credits, name| {
            Price::from_hourly(amount, slot_ms).ok_or(ProviderError::Price(name))
        };
        let class = |name: &String| -> Result<ClassId, ProviderError> {
            let found = genesis.classes.iter().find(|class| class.name == *name);
            found
                .map(|class| class.key.id())
                .ok_or_else(|| ProviderError::Class(name.clone()))
        };
        let mut classes = self
            .classes
            .iter()
            .map(class)
            .collect::<Result<Vec<_>, _>>()?;
        if classes.is_empty() {
            classes = genesis.classes.iter().map(|c| c.key.id()).collect();
        }
        classes.sort_unstable();
        classes.dedup();
        Ok(ProviderTerms {
            classes,
            policy: match self.policy {
                PolicyName::Oblivious => ProviderPolicy::Oblivious,
                PolicyName::Average => ProviderPolicy::Average,
                PolicyName::Conservative => ProviderPolicy::Conservative,
                PolicyName::HighValueOnly => ProviderPolicy::HighValueOnly {
                    threshold: price(self.threshold, "provider.threshold")?.0,
                },
                PolicyName::PreemptConservative => ProviderPolicy::PreemptConservative,
                PolicyName::PreemptLeastLoss => ProviderPolicy::PreemptLeastLoss,
            },
            units: self.units,
            cost: price(self.cost, "provider.cost")?,
            most: price(self.most, "provider.most")?,
        })
    }
}
