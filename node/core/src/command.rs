//! Local commands: which ledger entry one becomes, and why one is refused before anything is sent.

mod amend;

use crate::buyer::deadline;
use crate::buyer::order::Signer;
use crate::buyer::{ContractWish, NewOrder, OrderKey, Record, ReserveTerms, Terms, share};
use crate::core::Core;
use crate::input::Command;
use crate::reply::{Refused, RefusedKind};
use gridbay_host::Trouble;
use gridbay_ledger::{ContractRefusal, Refusal, State};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32};
use gridbay_protocol::order::{Bid, Buy, Flaw};
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::Credits;
use std::sync::Arc;

/// The entry a command becomes; `None` for commands to the agents. Orders are checked here.
pub(crate) fn body_of(core: &Core, command: &Command) -> Result<Option<EntryBody>, Refused> {
    Ok(match command {
        Command::SetOffer(terms) => Some(EntryBody::SetOffer(terms.clone())),
        Command::WithdrawOffer(label) => Some(EntryBody::WithdrawOffer { label: *label }),
        Command::Transfer { to, amount, memo } => Some(EntryBody::Transfer {
            to: *to,
            amount: *amount,
            memo: *memo,
        }),
        Command::CloseAccount(to) if core.account() == Some(*to) => {
            return Err(invalid(
                "range",
                "an account cannot be closed in favour of itself",
                "name another account: what this one has goes there",
            ));
        }
        Command::CloseAccount(to) => Some(EntryBody::CloseAccount { to: *to }),
        Command::Contract(entry) => Some(EntryBody::Contract(entry.clone())),
        Command::Order(order) => {
            check_order(core, order)?;
            None
        }
        Command::Amend {
            order,
            steps,
            budget,
        } => {
            amend::check(core, order, steps, *budget)?;
            None
        }
        Command::Send(_) | Command::Cancel(_) | Command::Join { .. } | Command::Drain => None,
    })
}

/// Whether the ledger would take an entry in the next block, or soon.
pub(crate) fn would_pass(state: &State, entry: SignedEntry) -> Result<Arc<Authentic>, Refused> {
    let entry = Arc::new(authentic(state, entry)?);
    match state.admit(&entry) {
        Ok(_) => Ok(entry),
        // A later block might help here too, but the owner wants to know now.
        Err(
            refusal @ (Refusal::Funds { .. }
            | Refusal::NoAccount(_)
            | Refusal::EntryBudget { .. }
            | Refusal::StillOpen { .. }),
        ) => Err(of_refusal(&refusal)),
        Err(refusal) if refusal.may_pass_later() => Ok(entry),
        Err(refusal) => Err(of_refusal(&refusal)),
    }
}

/// Checks an own entry as if it had come from a stranger.
pub(crate) fn authentic(state: &State, entry: SignedEntry) -> Result<Authentic, Refused> {
    let formed = WellFormed::check(&state.network(), entry).map_err(|error| Refused {
        kind: RefusedKind::Invalid,
        word: error.word(),
        reason: error.to_string(),
        hint: "check the values against the limits in the documents".to_string(),
    })?;
    formed.authenticate().map_err(|error| Refused {
        kind: RefusedKind::Forbidden,
        word: "signature",
        reason: error.to_string(),
        hint: "the node's key file may be damaged".to_string(),
    })
}

fn of_refusal(refusal: &Refusal) -> Refused {
    let kind = match refusal {
        Refusal::Funds { .. } => RefusedKind::Unfunded,
        Refusal::NoAccount(_) => RefusedKind::NotFound,
        _ => RefusedKind::Forbidden,
    };
    Refused {
        kind,
        word: refusal.word(),
        reason: refusal.to_string(),
        hint: refusal.hint().to_string(),
    }
}

/// An order must make sense, and be funded for its first slot, before anything is kept or sent.
fn check_order(core: &Core, order: &NewOrder) -> Result<(), Refused> {
    let state = core.state();
    let account = core.account().ok_or_else(no_account)?;
    if !state.classes().iter().any(|c| c.key.id() == order.class) {
        return Err(no_class(order.class));
    }
    if !order.spec.is_valid() {
        return Err(invalid(
            "job",
            "the job is out of range",
            "shorten arguments or inputs",
        ));
    }
    let needed = cost(core, account, order)?;
    check_funds(state, &account, needed)
}

/// What must be locked first can be spent.
fn check_funds(state: &State, account: &AccountId, needed: Credits) -> Result<(), Refused> {
    let available = spendable(state, account);
    if needed > available {
        return Err(Refused {
            kind: RefusedKind::Unfunded,
            word: "funds",
            reason: format!("{available} credits available, {needed} must be locked first"),
            hint: "ask for less, or for a transfer: `gridbay ledger transfer`".to_string(),
        });
    }
    Ok(())
}

fn no_class(class: ClassId) -> Refused {
    Refused {
        kind: RefusedKind::NotFound,
        word: Refusal::NoClass(class).word(),
        reason: format!("no class {class}"),
        hint: "`gridbay market prices` lists the classes".to_string(),
    }
}

/// What must be free of the account when the order is sent, if its terms make sense.
fn cost(core: &Core, account: AccountId, order: &NewOrder) -> Result<Credits, Refused> {
    let state = core.state();
    match &order.terms {
        Terms::Sealed {
            steps,
            min,
            budget,
            patience,
        } => {
            let bid = Bid {
                class: order.class,
                steps: steps.clone(),
                min: *min,
                slots: order.slots,
                budget: *budget,
                stands_until: state.height().saturating_add(*patience),
                work: Default::default(),
            };
            cost_of_bid(&bid, order.tasks)
        }
        Terms::Buy {
            parts,
            limit,
            patience,
            surcharge,
        } => {
            let buy = Buy {
                parts: parts.clone(),
                slots: order.slots,
                limit: *limit,
                stands_until: state.height().saturating_add(*patience),
                surcharge: *surcharge,
                work: Default::default(),
            };
            cost_of_buy(state, &buy, order.tasks)
        }
        Terms::Reserve(terms) => cost_of_reservation(state, order, terms),
        Terms::Deadline { .. } => cost_of_job(state, &account, order),
        Terms::Contract(wish) => cost_of_contract(state, &account, order, wish),
        Terms::Share { rate, .. } => {
            check_claim(core, account, order)?;
            Ok(*rate)
        }
    }
}

/// What must be locked for a contract: the most that all its jobs can cost.
fn cost_of_contract(
    state: &State,
    account: &AccountId,
    order: &NewOrder,
    wish: &ContractWish,
) -> Result<Credits, Refused> {
    let terms = wish.proposal(order, state);
    if terms.job.units != 1 || terms.job.slots != order.slots {
        return Err(invalid(
            Flaw::Units.word(),
            "a job of a contract takes one unit",
            "split it into jobs of one unit",
        ));
    }
    terms.check().map_err(|fault| {
        let hint = "change the terms of the contract";
        invalid(fault.word(), &fault.to_string(), hint)
    })?;
    let refusal = if terms.provider == *account {
        Some(ContractRefusal::WithOneself(*account))
    } else if state.account(&terms.provider).is_none() {
        Some(ContractRefusal::NoProvider(terms.provider))
    } else {
        None
    };
    match (refusal, terms.lock()) {
        (Some(refusal), _) => Err(of_refusal(&refusal.into())),
        (None, Some(lock)) => Ok(lock),
        (None, None) => Err(of_refusal(&Refusal::Overflow)),
    }
}

/// Whether the ledger would take a claim now. It is open and comes once, so the owner can know.
fn check_claim(core: &Core, account: AccountId, order: &NewOrder) -> Result<(), Refused> {
    let state = core.state();
    let mut record = Record::new(order.clone());
    record.valid_until = state.height().saturating_add(1);
    let Some(claim) = share::claim(&record) else {
        return Ok(());
    };
    let signer = Signer {
        account,
        key: &core.key,
    };
    let entry = signer.sign(state, EntryBody::Share(claim), record.valid_until);
    let entry = Arc::new(authentic(state, entry)?);
    let admitted = state.admit(&entry);
    admitted.map(|_| ()).map_err(|refusal| of_refusal(&refusal))
}

/// What must be locked for a bid: one slot at its price.
fn cost_of_bid(bid: &Bid, tasks: u32) -> Result<Credits, Refused> {
    bid.check().map_err(flawed)?;
    if bid.units() != tasks {
        return Err(flawed(Flaw::Units));
    }
    let slot = bid.slot();
    if slot > bid.budget {
        return Err(invalid(
            "budget",
            "the budget does not cover one slot at the price named",
            "raise --budget or lower --max-price",
        ));
    }
    Ok(slot)
}

/// What must be locked for a buy: its slots and the rest of the running one at the limit.
fn cost_of_buy(state: &State, buy: &Buy, tasks: u32) -> Result<Credits, Refused> {
    buy.check().map_err(flawed)?;
    let known = |class: &ClassId| state.class(class).is_some();
    if let Some(class) = buy.classes().find(|class| !known(class)) {
        return Err(no_class(class));
    }
    if buy.units() != tasks {
        return Err(flawed(Flaw::Units));
    }
    if buy.surcharge > Credits::ZERO && !state.policy().buy.evicts() {
        return Err(of_refusal(&Refusal::Surcharge(buy.surcharge)));
    }
    Ok(buy.lock().unwrap_or(Credits::MAX))
}

/// What must be locked for a reservation: all that it can cost.
fn cost_of_reservation(
    state: &State,
    order: &NewOrder,
    terms: &ReserveTerms,
) -> Result<Credits, Refused> {
    let wish = order.reservation(terms, Hash32::default());
    wish.check().map_err(flawed)?;
    if wish.units() != order.tasks {
        return Err(flawed(Flaw::Units));
    }
    match order.unbookable(state) {
        Some(why) => Err(of_refusal(&why.into())),
        None => Ok(wish.value),
    }
}

fn flawed(flaw: Flaw) -> Refused {
    invalid(
        flaw.word(),
        &flaw.to_string(),
        "check nodes, price and time",
    )
}

/// What must be locked for a job by a deadline: its highest price.
fn cost_of_job(state: &State, account: &AccountId, order: &NewOrder) -> Result<Credits, Refused> {
    let Some(job) = deadline::order_of(order, Hash32::default()) else {
        return Err(flawed(Flaw::Deadlines));
    };
    job.check().map_err(flawed)?;
    match state.check_deadline(account, &job) {
        // Said below in the words for all orders.
        Ok(()) | Err(Refusal::Funds { .. }) => Ok(job.pmax),
        Err(refusal) => Err(of_refusal(&refusal)),
    }
}

fn invalid(word: &'static str, reason: &str, hint: &str) -> Refused {
    Refused {
        kind: RefusedKind::Invalid,
        word,
        reason: reason.to_string(),
        hint: hint.to_string(),
    }
}

pub(crate) fn no_account() -> Refused {
    Refused {
        kind: RefusedKind::NotReady,
        word: "no_account",
        reason: "this node has no account on the ledger yet".to_string(),
        hint: "wait for `gridbay node status` to show one, or join with an invitation".to_string(),
    }
}

pub(crate) fn in_trouble(trouble: &Trouble) -> Refused {
    Refused {
        kind: RefusedKind::NotReady,
        word: "trouble",
        reason: trouble.to_string(),
        hint: "set the clock right; the node goes on by itself at the next block".to_string(),
    }
}

pub(crate) fn no_room() -> Refused {
    Refused {
        kind: RefusedKind::NotReady,
        word: "trouble",
        reason: "the disk is nearly full, so this node holds its offers back".to_string(),
        hint: "free some space: `gridbay doctor` tells how much there is".to_string(),
    }
}

pub(crate) fn too_many() -> Refused {
    Refused {
        kind: RefusedKind::NotReady,
        word: "busy",
        reason: "too many entries of this account wait for their inclusion".to_string(),
        hint: "try again after the next blocks".to_string(),
    }
}

pub(crate) fn no_order(key: &OrderKey) -> Refused {
    Refused {
        kind: RefusedKind::NotFound,
        word: "no_order",
        reason: format!("no order {key} that could be cancelled"),
        hint: "`gridbay job list` shows the orders".to_string(),
    }
}

/// What an account can still pay: its purse and its credit line.
fn spendable(state: &State, account: &AccountId) -> Credits {
    let balance = state.balance(account);
    let line = i64::try_from(balance.credit_line.micros()).unwrap_or(i64::MAX);
    let sum = u64::try_from(balance.free.saturating_add(line)).unwrap_or(0);
    Credits::from_micros(sum).unwrap_or(Credits::MAX)
}
