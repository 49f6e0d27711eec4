//! A transfer: the form, the question with all that it does, and the deed, which cannot be undone.
//! The question carries a key under which the money moves once, however often it is sent.

use crate::api::Answer;
use crate::api::scope::Scope;
use crate::api::types::{Balance, Signed, TransferRequest, Transferred};
use crate::backend::Node;
use crate::backend::failure::{internal, usage};
use crate::config::parse;
use crate::keys::random;
use crate::web::command::command;
use crate::web::failure::{Failure, Shown, block};
use crate::web::figures::{count, short, signed};
use crate::web::form::Sent;
use crate::web::parts::{Field, Panel, Tone, cli, notice};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::extract::State;
use axum::response::Html;
use gridbay_protocol::ids::{AccountId, to_hex};
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use serde::Deserialize;

/// Characters of a note at the most.
const MEMO: usize = 200;

/// The fields, as texts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Fields {
    to: String,
    amount: String,
    memo: String,
    key: String,
}

/// A transfer that is understood.
struct Meant {
    to: AccountId,
    amount: Credits,
    memo: Option<String>,
}

/// The question, of a form that is filled in.
pub(in crate::web) async fn ask(State(node): State<Node>, sent: Sent<Fields>) -> Shown {
    sent.who.may(Scope::Admin)?;
    let fields = sent.fields;
    let own = node.balance(None).await?;
    let meant = meant(&node, &fields).await;
    let key = random().map_err(|error| internal("no fresh randomness", error))?;
    let body = match &meant {
        Ok(meant) => question(meant, &fields, &own, &to_hex(&key), &sent.who),
        Err(error) => html! { (block(error)) (form(&fields, &sent.who)) },
    };
    let command = line(&fields);
    page(&node, &sent.who, "Transfer credits", &command, body).await
}

/// The deed.
pub(in crate::web) async fn transfer(
    State(node): State<Node>,
    sent: Sent<Fields>,
) -> Result<Html<String>, Failure> {
    sent.who.may(Scope::Admin)?;
    let fields = sent.fields;
    if fields.key.len() < 8 {
        let hint = "go back to the ledger and fill in the form";
        return Err(usage("the form has no key", hint).into());
    }
    let Meant { to, amount, memo } = meant(&node, &fields).await?;
    let request = TransferRequest { to, amount, memo };
    let done = node.transfer(Some(fields.key), request).await?;
    let body = done_text(&done, to, amount);
    page(
        &node,
        &sent.who,
        "Transferred",
        "gridbay ledger history",
        body,
    )
    .await
}

async fn page(node: &Node, who: &Who, title: &str, command: &str, body: Markup) -> Shown {
    let frame = Frame::of(node).await?;
    let page = Page {
        here: "Ledger",
        title,
        lede: "A transfer cannot be taken back.",
        actions: html! {},
        command,
        events: "/events?page=frame",
        body,
    };
    Ok(Html(page.render(&frame, who).into_string()))
}

async fn meant(node: &Node, fields: &Fields) -> Answer<Meant> {
    let amount = parse::credits(fields.amount.trim());
    let amount = amount.map_err(|why| usage(why, "write credits, such as 2.5"))?;
    if amount == Credits::ZERO {
        return Err(usage("a transfer of nothing", "name an amount above zero"));
    }
    let memo = fields.memo.trim();
    if memo.chars().count() > MEMO {
        return Err(usage(
            "the note is too long",
            format!("{MEMO} characters at the most"),
        ));
    }
    let to = node.account_meant(fields.to.trim().to_owned()).await?;
    // An account that the ledger does not know is told before anything is asked.
    node.balance(Some(to)).await?;
    Ok(Meant {
        to,
        amount,
        memo: Some(memo.to_owned()).filter(|memo| !memo.is_empty()),
    })
}

fn line(fields: &Fields) -> String {
    let amount = parse::credits(fields.amount.trim())
        .unwrap_or_default()
        .to_string();
    let to = fields.to.trim();
    let mut words = vec!["gridbay", "ledger", "transfer"];
    if !fields.memo.trim().is_empty() {
        words.extend(["--memo", fields.memo.trim()]);
    }
    words.extend(["--", if to.is_empty() { "ACCOUNT" } else { to }, &amount]);
    command(words)
}

/// The panel with the form.
pub(super) fn panel(who: &Who) -> Markup {
    form(&Fields::default(), who)
}

fn form(fields: &Fields, who: &Who) -> Markup {
    let field = |name, label, value| Field {
        form: "t",
        name,
        label,
        value,
        ..Field::default()
    };
    let to = Field {
        look: "code",
        required: true,
        sample: "account or member",
        ..field("to", "To", &fields.to)
    };
    let amount = Field {
        look: "fig",
        required: true,
        keys: "decimal",
        ..field("amount", "Credits", &fields.amount)
    };
    let memo = Field {
        most: Some(MEMO),
        sample: "optional",
        ..field("memo", "Note", &fields.memo)
    };
    let panel = Panel {
        id: "transfer",
        title: "Transfer",
        meta: Some(html! { "Nothing moves before you have seen what it does." }),
        body: html! {
            form.panel-body method="post" action="/ledger/ask" {
                input type="hidden" name="token" value=(who.token);
                div.fields {
                    (to) (amount) (memo)
                }
                div.actions { button.btn { "Review the transfer" } }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

fn question(meant: &Meant, fields: &Fields, own: &Balance, key: &str, who: &Who) -> Markup {
    let left = Signed(own.balance.0.saturating_sub(Signed::from(meant.amount).0));
    let kept = [
        ("token", who.token.as_str()),
        ("to", fields.to.as_str()),
        ("amount", &fields.amount),
        ("memo", &fields.memo),
        ("key", key),
    ];
    let own_account = meant.to == own.account;
    let short_of = meant.amount > own.spendable();
    // To the last micro-credit: it is what moves.
    let title = format!("Transfer {} credits?", meant.amount);
    let panel = Panel {
        id: "sure",
        title: &title,
        body: html! {
            div.panel-body {
                dl.kv.left {
                    dt { "To" }
                    dd { (short(&fields.to, 80)) br; code { (meant.to.to_hex()) } }
                    dt { "Amount" } dd { strong { (meant.amount) } " credits" }
                    dt { "Free after it" } dd { (signed(left)) }
                    @if let Some(memo) = &meant.memo { dt { "Note" } dd { (short(memo, MEMO)) } }
                }
                @if short_of {
                    (notice(Tone::Bad, "That is more than can be spent.", &format!(
                        "{} can be: less, or wait for what is held.", own.spendable())))
                }
                @if own_account {
                    (notice(Tone::Bad, "That is this node's own account.", "Name another one."))
                }
                form.actions method="post" action="/ledger/transfer" {
                    @for (name, value) in kept {
                        input type="hidden" name=(name) value=(value);
                    }
                    @if !short_of && !own_account { button.btn.primary { "Transfer " (meant.amount) } }
                    a.btn href="/ledger" { "Keep it" }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

fn done_text(done: &Transferred, to: AccountId, amount: Credits) -> Markup {
    let what = format!("{amount} credits are transferred.");
    let more = format!(
        "The ledger has it in the block of height {}.",
        count(done.height)
    );
    html! {
        (notice(Tone::Ok, &what, &more))
        dl.kv.left {
            dt { "To" } dd { code { (to.to_hex()) } }
            dt { "Entry" } dd { code { (done.entry.to_hex()) } }
        }
        (cli("cli-verify", "gridbay ledger verify"))
        div.actions { a.btn href="/ledger" { "To the ledger" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};

    fn fields(amount: &str) -> Fields {
        Fields {
            to: HOSTILE.to_owned(),
            amount: amount.to_owned(),
            memo: HOSTILE.to_owned(),
            key: String::new(),
        }
    }

    fn asked(amount: &str) -> String {
        let meant = Meant {
            to: AccountId([7; 32]),
            amount: amount.parse().unwrap(),
            memo: Some(HOSTILE.to_owned()),
        };
        let who = samples::who(Scope::Admin);
        question(&meant, &fields(amount), &samples::balance(), "0011", &who).into_string()
    }

    #[test]
    fn the_question_tells_all_and_escapes_it() {
        let page = asked("2.25");
        assert!(
            !page.contains("<script") && page.contains("&lt;script"),
            "{page}"
        );
        for told in [
            "Transfer 2.25 credits?",
            "10.25",
            &"07".repeat(32),
            "value=\"0011\"",
        ] {
            assert!(page.contains(told), "{told}: {page}");
        }
        let exact = asked("2.249999");
        assert!(exact.contains("2.249999 credits?") && exact.contains("Transfer 2.249999</"));
        let poor = asked("99");
        assert!(poor.contains("more than can be spent") && !poor.contains("Transfer 99</"));
        let own = samples::balance().account;
        let who = samples::who(Scope::Admin);
        let meant = Meant {
            to: own,
            amount: "2".parse().unwrap(),
            memo: None,
        };
        let own = question(&meant, &fields("2"), &samples::balance(), "0011", &who).into_string();
        assert!(
            own.contains("own account") && !own.contains("Transfer 2</"),
            "{own}"
        );
    }

    #[test]
    fn the_command_is_one_whatever_is_written() {
        for fields in [fields("2"), fields("<b>"), Fields::default()] {
            let page = crate::web::parts::cli("a", &line(&fields)).into_string();
            assert_eq!(exist(&page), 1, "{page}");
        }
        let page = form(&fields("<b>"), &samples::who(Scope::Admin)).into_string();
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    }
}
