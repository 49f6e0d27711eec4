//! The bank's publications, from the ledger's figures.

use crate::api::Answer;
use crate::api::types::{BankReport, BankRules, ClassIndex, EpochMoney, MoneySupply};
use crate::backend::NodeBackend;
use crate::market::class_name;
use gridbay_ledger::State;
use gridbay_ledger::bank::supply::Supply;
use gridbay_protocol::bank::{BankPolicy, Revenue};
use gridbay_protocol::units::Credits;

impl NodeBackend {
    /// The bank's publications.
    pub async fn bank(&self) -> Answer<BankReport> {
        self.query(|core| report(core.state())).await
    }
}

fn report(state: &State) -> BankReport {
    let epochs = state.epochs().map(|(epoch, money)| EpochMoney {
        epoch,
        payments: amount(money.volume),
        supply: money.supply.map(supply),
    });
    let classes = state.classes().iter().map(|class| {
        let id = class.key.id();
        ClassIndex {
            class: class_name(state, &id),
            index_ppm: state.prices(&id).map(|prices| ppm(prices.index.value())),
        }
    });
    BankReport {
        height: state.height(),
        policy: rules(&state.policy().bank),
        supply: supply(state.supply_of_money().unwrap_or_default()),
        velocity_ppm: state.velocity(),
        taxing: state.sweep().is_some(),
        epochs: epochs.collect(),
        classes: classes.collect(),
    }
}

fn rules(bank: &BankPolicy) -> BankRules {
    BankRules {
        shared_every: match bank.revenue {
            Revenue::Owners => None,
            Revenue::Shares { every } => Some(every),
        },
        baseline: bank.baseline,
        shares: bank.shares,
        tax_ppm: bank.tax.map(|tax| tax.ppm),
        tax_every: bank.tax.map(|tax| tax.every),
        tax_goes_to: bank.tax.map(|tax| tax.mode),
    }
}

fn supply(supply: Supply) -> MoneySupply {
    MoneySupply {
        minted: amount(supply.minted),
        circulating: amount(supply.circulating),
        drawn: amount(supply.drawn),
        treasury: amount(supply.treasury),
    }
}

fn amount(micros: u64) -> Credits {
    Credits::from_micros(micros).unwrap_or(Credits::MAX)
}

/// A Q32 number in millionths, rounded down.
fn ppm(q32: u64) -> u64 {
    let wide = (u128::from(q32) * 1_000_000) >> 32;
    u64::try_from(wide).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_in_millionths() {
        assert_eq!((ppm(1 << 32), ppm(3 << 31)), (1_000_000, 1_500_000));
        assert_eq!(ppm(1), 0);
        assert_eq!(ppm(u64::MAX), 4_294_967_295_999_999);
    }

    #[test]
    fn policies_in_words() {
        let owners = rules(&BankPolicy::default());
        assert_eq!((owners.shared_every, owners.tax_ppm), (None, None));
        let mirage = rules(&BankPolicy::mirage(1_000));
        assert_eq!(mirage.shared_every, Some(3_600));
        assert_eq!(mirage.tax_ppm, Some(50_000));
        assert_eq!(mirage.baseline.to_string(), "1000");
    }
}
