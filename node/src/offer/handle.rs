//! Offers: all on the ledger, and setting and withdrawing this node's own.

use crate::api::Answer;
use crate::api::types::{Offer, OfferRequest};
use crate::api::{ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, no_account, not_found, usage};
use crate::executor::NotSold;
use crate::market::price::limit_hourly;
use crate::market::{Held, class_name, class_named, held};
use gridbay_core::Core;
use gridbay_core::input::Command;
use gridbay_ledger::Pending;
use gridbay_protocol::ids::{AccountId, ClassId, OfferId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::offer::{OfferTerms, Reclaim, offer_id};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;
use std::sync::Arc;

impl NodeBackend {
    /// All offers on the ledger, by class and seller.
    pub async fn offers(&self) -> Answer<Vec<Offer>> {
        let mut offers = self
            .query(|core| {
                let (state, own) = (core.state(), core.account());
                let held = held(state);
                let gone = |id: &OfferId| state.offer(id).is_none();
                let absent = own.iter().flat_map(|own| withheld(core, own));
                let absent = absent.filter(|(id, _)| gone(id));
                let offers = state.offers().map(|(id, offer)| (*id, offer.clone()));
                let views = offers
                    .chain(absent)
                    .map(|(id, offer)| view(core, own, &held, &id, &offer));
                views.collect::<Vec<_>>()
            })
            .await?;
        offers.sort_by(|a, b| {
            let key = |o: &Offer| (o.class.clone(), o.account, o.label);
            key(a).cmp(&key(b))
        });
        Ok(offers)
    }

    /// Sets an offer of this node; answers once it is on the ledger.
    pub async fn set_offer(&self, request: OfferRequest) -> Answer<Offer> {
        self.acknowledges()?;
        self.check_sold(&request.class).await?;
        let node = self.parts.node;
        let asked = request.clone();
        let made = self.query(move |core| terms(core, node, &asked)).await??;
        let label = made.label;
        self.on_the_ledger(Command::SetOffer(made.clone())).await?;
        let mut offer = self.own_offer(label).await?;
        // The terms asked for, also while they wait for the close of a round.
        offer.units = made.units;
        offer.reserve = request.reserve;
        offer.buy = request.buy;
        offer.notice_seconds = request.notice_seconds;
        offer.mechanism = request.mechanism;
        Ok(offer)
    }

    /// Withdraws an offer of this node; answers once that is on the ledger.
    pub async fn withdraw_offer(&self, label: u32) -> Answer<Offer> {
        self.acknowledges()?;
        let before = self.own_offer(label).await?;
        if before.held_back {
            self.command(Command::WithdrawOffer(label)).await?;
        } else {
            self.on_the_ledger(Command::WithdrawOffer(label)).await?;
        }
        // An offer of which nothing is leased leaves the ledger at once.
        Ok(self.own_offer(label).await.unwrap_or(Offer {
            on_sale: false,
            withdrawn: true,
            held_back: false,
            ..before
        }))
    }

    /// Refuses a class that promises more isolation than this machine has shown.
    async fn check_sold(&self, class: &str) -> Answer<()> {
        let name = class.to_owned();
        let isolation = self.query(move |core| {
            let class = class_named(core.state(), &name)?;
            Ok::<_, ApiError>(class.key.isolation)
        });
        let sold = self.parts.selling.check(isolation.await??);
        sold.map_err(|why| not_sold(&why))
    }

    /// Whether this machine does not sell a class.
    pub(crate) async fn refuses_class(&self, class: &str) -> bool {
        let refused = self.check_sold(class).await.err();
        refused.is_some_and(|error| error.code == ErrorCode::Refused)
    }

    /// This node's own offers that stand or are held back and that this machine does not sell, by
    /// label, and why.
    pub(crate) async fn unsold_offers(&self) -> Answer<Vec<(u32, NotSold)>> {
        let (selling, node) = (Arc::clone(&self.parts.selling), self.parts.node);
        let unsold = self.query(move |core| {
            let (state, own) = (core.state(), core.account());
            let mine = own.iter().flat_map(|own| state.offers_of(own));
            let here = mine.filter(|(_, offer)| {
                let goes = matches!(offer.pending, Some(Pending::Withdraw));
                let stands = offer.active || offer.pending.is_some();
                offer.terms.node == node && stands && !goes
            });
            let standing = here.map(|(_, offer)| &offer.terms);
            let held_back = own
                .iter()
                .flat_map(|own| core.withheld().absent(state, own));
            let why = |terms: &OfferTerms| {
                let class = state.class(&terms.class)?;
                let why = selling.check(class.key.isolation).err()?;
                Some((terms.label, why))
            };
            let all = standing.chain(held_back);
            all.filter_map(why).collect::<Vec<_>>()
        });
        unsold.await
    }

    async fn own_offer(&self, label: u32) -> Answer<Offer> {
        let looked = self.query(move |core| {
            let (state, own) = (core.state(), core.account().ok_or_else(no_account)?);
            let id = offer_id(&own, label);
            let standing = state.offer(&id).cloned();
            let absent = || withheld(core, &own).find(|(at, _)| *at == id);
            let offer = standing.or_else(|| absent().map(|(_, offer)| offer));
            let offer = offer.ok_or_else(|| {
                not_found(
                    format!("this node has no offer {label}"),
                    "see gridbay offer list",
                )
            })?;
            Ok::<_, ApiError>(view(core, Some(own), &held(state), &id, &offer))
        });
        looked.await?
    }
}

fn not_sold(why: &NotSold) -> ApiError {
    ApiError::new(ErrorCode::Refused, why.to_string(), why.hint())
}

/// This node's offers that it holds back, as if they were on the ledger.
fn withheld<'a>(
    core: &'a Core,
    own: &AccountId,
) -> impl Iterator<Item = (OfferId, gridbay_ledger::Offer)> + 'a {
    let own = *own;
    let absent = core.withheld().absent(core.state(), &own);
    absent.map(move |terms| {
        let offer = gridbay_ledger::Offer {
            seller: own,
            terms: terms.clone(),
            active: false,
            bound: 0,
            pending: None,
            disputed_by: Vec::new(),
            disputed_in: 0,
        };
        (offer_id(&own, terms.label), offer)
    })
}

fn view(
    core: &Core,
    own: Option<AccountId>,
    held: &BTreeMap<OfferId, Held>,
    id: &OfferId,
    offer: &gridbay_ledger::Offer,
) -> Offer {
    let state = core.state();
    let slot_ms = state.policy().slot_ms();
    let terms = &offer.terms;
    let is_own = own == Some(offer.seller);
    let held_back = is_own && withheld(core, &offer.seller).any(|(held, _)| held == *id);
    let withdrawn = match &offer.pending {
        Some(Pending::Withdraw) => true,
        Some(Pending::Set(_)) => false,
        None => !offer.active,
    };
    Offer {
        offer: *id,
        label: terms.label,
        account: offer.seller,
        name: state.member_name(&offer.seller).map(str::to_owned),
        own: is_own,
        class: class_name(state, &terms.class),
        units: terms.units,
        leased: held.get(id).copied().unwrap_or_default().units,
        reserve: limit_hourly(terms.reserve, slot_ms),
        buy: terms.buy_price.map(|price| limit_hourly(price, slot_ms)),
        notice_seconds: match terms.reclaim {
            Reclaim::None => None,
            Reclaim::Notice(seconds) => Some(seconds),
        },
        mechanism: terms.mechanism,
        on_sale: offer.active,
        withdrawn,
        held_back,
    }
}

/// The terms that a request asks for.
fn terms(core: &Core, node: PublicKey, request: &OfferRequest) -> Answer<OfferTerms> {
    let state = core.state();
    let own = core.account().ok_or_else(no_account)?;
    let class = class_named(state, &request.class)?.key.id();
    let mine = state
        .offers_of(&own)
        .map(|(_, o)| (o.terms.label, o.terms.class));
    let label = label(request.label, &class, mine.collect())?;
    let slot_ms = state.policy().slot_ms();
    let made = OfferTerms {
        label,
        class,
        units: request.units,
        reserve: price(request.reserve, slot_ms)?,
        buy_price: request.buy.map(|buy| price(buy, slot_ms)).transpose()?,
        reclaim: request
            .notice_seconds
            .map_or(Reclaim::None, Reclaim::Notice),
        mechanism: request.mechanism,
        node,
    };
    if !made.is_valid() {
        let hint = format!(
            "want 1 to {} units, and a buy price that is not below the reserve; only what is auctioned has a buy price or a notice",
            gridbay_protocol::limits::OFFER_UNITS
        );
        return Err(usage("an offer out of range", hint));
    }
    Ok(made)
}

fn price(hourly: Credits, slot_ms: u64) -> Answer<Price> {
    Price::from_hourly(hourly, slot_ms)
        .ok_or_else(|| usage(format!("{hourly} credits an hour"), "name a lower price"))
}

/// The label asked for; else that of the only offer of the class, else the first that is free.
fn label(asked: Option<u32>, class: &ClassId, mine: BTreeMap<u32, ClassId>) -> Answer<u32> {
    if let Some(label) = asked {
        return Ok(label);
    }
    let mut of_class = mine
        .iter()
        .filter(|(_, c)| *c == class)
        .map(|(label, _)| *label);
    match (of_class.next(), of_class.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(usage(
            "this node has several offers of the class",
            "name one by its label",
        )),
        (None, _) => {
            let free = (1..=u32::MAX).find(|label| !mine.contains_key(label));
            free.ok_or_else(|| internal("numbering an offer", "no label is free"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let (small, large) = (ClassId([1; 32]), ClassId([2; 32]));
        let none = BTreeMap::new();
        assert_eq!(label(None, &small, none.clone()), Ok(1));
        assert_eq!(label(Some(9), &small, none), Ok(9));
        let mine = BTreeMap::from([(1, large), (2, small)]);
        assert_eq!(
            label(None, &small, mine.clone()),
            Ok(2),
            "the only one of its class"
        );
        assert_eq!(label(None, &ClassId([3; 32]), mine.clone()), Ok(3));
        let many = BTreeMap::from([(1, small), (2, small)]);
        assert_eq!(
            label(None, &small, many).unwrap_err().code,
            ErrorCode::Usage
        );
    }

    #[test]
    fn prices_out_of_range() {
        assert_eq!(price("10".parse().unwrap(), 2_000), Ok(Price(5_555)));
        assert_eq!(
            price(Credits::MAX, u64::MAX).unwrap_err().code,
            ErrorCode::Usage
        );
    }
}
