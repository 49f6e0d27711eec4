//! The form that makes an offer or changes one. Setting the same again changes nothing.

use crate::api::scope::Scope;
use crate::api::types::OfferRequest;
use crate::api::{Answer, ApiError};
use crate::backend::Node;
use crate::backend::failure::usage;
use crate::config::parse;
use crate::web::command::command;
use crate::web::failure::{Failure, block};
use crate::web::figures::short;
use crate::web::form::Sent;
use crate::web::parts::Panel;
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

/// Classes to choose from at the most.
const CLASSES: usize = 64;

/// The ways to sell that need no further terms: name and word.
const WAYS: [(&str, &str); 3] = [
    ("ausubel", "Auction"),
    ("posted", "At a fixed price"),
    ("reservation", "Reservation"),
];

/// The fields, as texts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Fields {
    label: String,
    class: String,
    units: String,
    reserve: String,
    buy: String,
    notice: String,
    sold: String,
}

/// The deed: answers once the ledger has it.
pub(in crate::web) async fn set(
    State(node): State<Node>,
    sent: Sent<Fields>,
) -> Result<Response, Failure> {
    let who = sent.who;
    who.may(Scope::Operate)?;
    let done = match request(&sent.fields) {
        Ok(request) => node.set_offer(request).await,
        Err(error) => Err(error),
    };
    let error = match done {
        Ok(_) => return Ok(Redirect::to("/seller").into_response()),
        Err(error) => error,
    };
    let frame = Frame::of(&node).await?;
    let classes = node.prices().await?.into_iter().map(|price| price.class);
    let page = mistaken(&error, &sent.fields, &classes.collect::<Vec<_>>(), &who);
    let page = Page {
        here: "Seller",
        title: "Set an offer",
        lede: "The offer was not set.",
        actions: html! {},
        command: &line(&sent.fields),
        events: "/events?page=frame",
        body: page,
    };
    let page = page.render(&frame, &who).into_string();
    Ok((error.code.status(), Html(page)).into_response())
}

fn mistaken(error: &ApiError, fields: &Fields, classes: &[String], who: &Who) -> Markup {
    html! { (block(error)) (panel(fields, classes, who)) }
}

fn request(fields: &Fields) -> Answer<OfferRequest> {
    let number = |name: &str, text: &str| -> Answer<Option<u32>> {
        let read = some(text).map(str::parse).transpose();
        read.map_err(|_| usage(format!("{name}: `{text}` is no whole number"), "write 4"))
    };
    let money = |name: &str, text: &str| -> Answer<Option<Credits>> {
        let read = some(text).map(parse::credits).transpose();
        read.map_err(|why| usage(format!("{name}: {why}"), "write credits, such as 2.5"))
    };
    let needed = |name: &str| usage(format!("{name} is missing"), "fill it in");
    let sold = some(&fields.sold).unwrap_or(WAYS[0].0);
    let named = WAYS.iter().any(|(name, _)| *name == sold);
    let way: Option<Primary> = serde_json::from_value(json!(sold)).ok();
    Ok(OfferRequest {
        label: number("Number", &fields.label)?,
        class: some(&fields.class)
            .ok_or_else(|| needed("Class"))?
            .to_owned(),
        units: number("Units", &fields.units)?.ok_or_else(|| needed("Units"))?,
        reserve: money("Least price", &fields.reserve)?.ok_or_else(|| needed("Least price"))?,
        buy: money("Buy now", &fields.buy)?,
        notice_seconds: number("Notice", &fields.notice)?,
        mechanism: way.filter(|_| named).ok_or_else(|| {
            let why = format!("there is no way to sell `{sold}`");
            usage(why, "see gridbay offer set --help")
        })?,
    })
}

fn some(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// The command that does the same, as far as the fields are understood.
fn line(fields: &Fields) -> String {
    let Ok(request) = request(fields) else {
        return "gridbay offer list".to_owned();
    };
    let mut words: Vec<String> = vec!["gridbay".into(), "offer".into(), "set".into()];
    let mut option = |name: &str, value: String| words.push(format!("--{name}={value}"));
    option("class", request.class);
    option("units", request.units.max(1).to_string());
    option("reserve", request.reserve.to_string());
    if let Some(buy) = request.buy {
        option("buy", buy.to_string());
    }
    if let Some(seconds) = request.notice_seconds {
        option("notice", seconds.to_string());
    }
    if let Some(label) = request.label {
        option("label", label.to_string());
    }
    option("mechanism", request.mechanism.name().to_owned());
    command(words.iter().map(String::as_str))
}

/// The panel with the form.
pub(super) fn panel(fields: &Fields, classes: &[String], who: &Who) -> Markup {
    let panel = Panel {
        id: "set",
        title: "Set an offer",
        meta: Some(html! {
            "Of a class that is offered already, this changes that offer; its number says which \
             one, if there are several. New prices count from the next round on."
        }),
        body: html! {
            form.panel-body method="post" action="/seller/set" {
                input type="hidden" name="token" value=(who.token);
                (inputs(fields, classes))
                div.actions { button.btn.primary { "Set the offer" } }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

fn inputs(fields: &Fields, classes: &[String]) -> Markup {
    let figures = [
        ("units", "Units", &fields.units, "how many"),
        (
            "reserve",
            "Least price",
            &fields.reserve,
            "credits per node-hour",
        ),
        (
            "buy",
            "Buy now",
            &fields.buy,
            "credits per node-hour, or nothing",
        ),
        (
            "notice",
            "Notice",
            &fields.notice,
            "seconds; never taken back without it",
        ),
        ("label", "Number", &fields.label, "of an offer to change"),
    ];
    html! {
        div.fields {
            div.field {
                label for="s-class" { "Class" }
                select.input id="s-class" name="class" {
                    @for class in classes.iter().take(CLASSES) {
                        option value=(class) selected[*class == fields.class] {
                            (short(class, 40))
                        }
                    }
                }
            }
            @for (name, word, value, hint) in figures {
                div.field {
                    label for={ "s-" (name) } { (word) }
                    input.input.fig id={ "s-" (name) } name=(name) value=(value)
                        autocomplete="off" inputmode="decimal" aria-describedby={ "h-" (name) };
                    span.hint id={ "h-" (name) } { (hint) }
                }
            }
            div.field {
                label for="s-sold" { "Sold by" }
                select.input id="s-sold" name="sold" aria-describedby="h-sold" {
                    @for (name, word) in WAYS {
                        option value=(name) selected[name == fields.sold] { (word) }
                    }
                }
                span.hint id="h-sold" { "deadlines and pools: gridbay offer set --help" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;
    use crate::web::command::tests::exist;
    use crate::web::parts::cli;
    use crate::web::samples::{self, HOSTILE};

    fn fields() -> Fields {
        Fields {
            class: HOSTILE.to_owned(),
            units: " 4 ".to_owned(),
            reserve: "1.5".to_owned(),
            buy: "9".to_owned(),
            notice: "30".to_owned(),
            label: "2".to_owned(),
            sold: "posted".to_owned(),
        }
    }

    #[test]
    fn a_form_becomes_an_offer_and_its_command() {
        let asked = request(&fields()).unwrap();
        assert_eq!(
            (asked.units, asked.label, asked.notice_seconds),
            (4, Some(2), Some(30))
        );
        assert_eq!(
            (asked.reserve.to_string(), asked.mechanism.name()),
            ("1.5".into(), "posted")
        );
        assert_eq!(exist(&cli("a", &line(&fields())).into_string()), 1);
        let least = Fields {
            buy: String::new(),
            notice: String::new(),
            label: String::new(),
            sold: String::new(),
            ..fields()
        };
        let asked = request(&least).unwrap();
        assert_eq!((asked.buy, asked.mechanism), (None, Primary::Ausubel));
        assert_eq!(exist(&cli("a", &line(&least)).into_string()), 1);
    }

    #[test]
    fn mistakes_are_told_and_what_was_written_stays() {
        let wrong: [fn(&mut Fields); 6] = [
            |f| f.class.clear(),
            |f| f.units = "-4".to_owned(),
            |f| f.reserve.clear(),
            |f| f.buy = HOSTILE.to_owned(),
            |f| f.notice = "soon".to_owned(),
            |f| f.sold = "theft".to_owned(),
        ];
        for change in wrong {
            let mut fields = fields();
            change(&mut fields);
            let error = request(&fields).unwrap_err();
            assert_eq!(error.code, ErrorCode::Usage);
            let classes = [HOSTILE.to_owned()];
            let page = mistaken(&error, &fields, &classes, &samples::who(Scope::Operate));
            assert!(
                !page.0.contains("<script") && page.0.contains("value=\" 4 \"")
                    || fields.units == "-4",
                "{}",
                page.0
            );
            assert_eq!(exist(&cli("a", &line(&fields)).into_string()), 1);
        }
    }
}
