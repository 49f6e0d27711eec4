//! A booking by a form: what it would cost is asked first, and it is sent once. It orders nodes to
//! hold, on which programs are run when their time comes.

use crate::api::scope::needed;
use crate::api::types::{ClusterRequest, JobId, Quote, Relays, Want};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::Node;
use crate::backend::failure::usage;
use crate::buy::{Ahead, How, Start};
use crate::cli::text::span;
use crate::config::parse;
use crate::web::command::command;
use crate::web::failure::{Failure, Shown, block};
use crate::web::figures::{money, short};
use crate::web::form::Sent;
use crate::web::parts::{Field, Panel, Tone, notice};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use crate::web::submit::{fresh, hopeless};
use axum::extract::State;
use axum::response::{Html, Redirect};
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use serde::Deserialize;
use std::time::Duration;

/// The address of the API whose scope a booking asks for.
pub(super) const ADDRESS: &str = "/clusters";
/// Classes to choose from at the most.
const CLASSES: usize = 64;
/// Characters of a name at the most.
const NAME: usize = 80;

/// The fields, as texts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Fields {
    class: String,
    nodes: String,
    time: String,
    from: String,
    until: String,
    budget: String,
    name: String,
    /// Id of the cluster to be.
    key: String,
}

/// The question, of a form that is filled in.
pub(in crate::web) async fn ask(State(node): State<Node>, sent: Sent<Fields>) -> Shown {
    sent.who.may(needed("post", ADDRESS))?;
    let fields = sent.fields;
    let told = match want(&fields) {
        Ok(want) => {
            let quote = node.quote(want.clone()).await;
            quote.map(|quote| (want, quote))
        }
        Err(error) => Err(error),
    };
    let body = match &told {
        Ok((want, quote)) => question(want, quote, &fields, &fresh()?, &sent.who),
        Err(error) => {
            let classes = node.reservations().await?.into_iter().map(|w| w.class);
            let classes: Vec<String> = classes.collect();
            html! { (block(error)) (panel(&fields, &classes, &sent.who)) }
        }
    };
    let line = line(&fields);
    let page = Page {
        here: "Reservations",
        title: "Book nodes",
        lede: "A booking is decided at the end of the slot in which it is opened.",
        actions: html! {},
        command: &line,
        events: "/events?page=frame",
        body,
    };
    let frame = Frame::of(&node).await?;
    Ok(Html(page.render(&frame, &sent.who).into_string()))
}

/// The deed. The form carries the id, so sending it twice books once.
pub(in crate::web) async fn book(
    State(node): State<Node>,
    sent: Sent<Fields>,
) -> Result<Redirect, Failure> {
    sent.who.may(needed("post", ADDRESS))?;
    let fields = sent.fields;
    let id = JobId::try_from(fields.key.clone())
        .map_err(|_| ApiError::new(ErrorCode::Usage, "the form has no id", "open it again"))?;
    let want = want(&fields)?;
    let quote = node.quote(want.clone()).await?;
    if let Some(error) = hopeless(&want, &quote) {
        return Err(error.into());
    }
    let request = ClusterRequest {
        name: some(&fields.name).map(str::to_owned),
        want,
        relays: Relays::Free,
        internet: false,
        runtimes: Default::default(),
    };
    let cluster = node.hold(id, request).await?;
    Ok(Redirect::to(&format!("/jobs/{}", cluster.id)))
}

fn some(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn time(name: &str, text: &str) -> Answer<Option<Duration>> {
    let read = some(text).map(parse::duration).transpose();
    read.map_err(|why| usage(format!("{name}: {why}"), "write a time, such as 2h"))
}

fn seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

fn want(fields: &Fields) -> Answer<Want> {
    let nodes = some(&fields.nodes).unwrap_or("1").parse::<u32>();
    let nodes = nodes.ok().filter(|nodes| *nodes > 0);
    let budget = some(&fields.budget).map(parse::credits).transpose();
    let length = time("Time", &fields.time)?.map_or(3_600, seconds);
    if fields.name.chars().count() > NAME {
        return Err(usage(
            "the name is too long",
            format!("{NAME} characters at the most"),
        ));
    }
    Ok(Want {
        class: some(&fields.class).map(str::to_owned),
        nodes: nodes.ok_or_else(|| usage("Nodes: want a whole number", "write 2"))?,
        max_price: None,
        seconds: length,
        budget: budget.map_err(|why| usage(format!("Budget: {why}"), "write credits, as 2.5"))?,
        how: How::Reservation(Ahead {
            groups: Vec::new(),
            from: Start::In(time("Not before", &fields.from)?.map_or(0, seconds)),
            until: time("Not after", &fields.until)?.map(|until| Start::In(seconds(until))),
            channels: None,
        }),
    })
}

/// The command that does the same, as far as the fields are understood.
fn line(fields: &Fields) -> String {
    let Ok(want) = want(fields) else {
        return "gridbay market calendar".to_owned();
    };
    let mut words: Vec<String> = ["gridbay", "cluster", "new", "--reserve"]
        .map(str::to_owned)
        .to_vec();
    let mut option = |name: &str, value: String| words.push(format!("--{name}={value}"));
    if let Some(class) = want.class {
        option("class", class);
    }
    option("nodes", want.nodes.to_string());
    option("time", format!("{}s", want.seconds));
    if let Some(from) = some(&fields.from) {
        option("from", from.to_owned());
    }
    if let Some(until) = some(&fields.until) {
        option("until", until.to_owned());
    }
    if let Some(budget) = want.budget {
        option("budget", budget.to_string());
    }
    if let Some(name) = some(&fields.name) {
        option("name", name.to_owned());
    }
    command(words.iter().map(String::as_str))
}

/// What is written, or what a form is opened with.
fn or<'t>(text: &'t str, other: &'t str) -> &'t str {
    if text.is_empty() { other } else { text }
}

/// The panel with the form.
pub(super) fn panel(fields: &Fields, classes: &[String], who: &Who) -> Markup {
    let field = |name, label, value, hint| Field {
        form: "b",
        name,
        label,
        value,
        hint,
        look: "fig",
        ..Field::default()
    };
    let panel = Panel {
        id: "book",
        title: "Book",
        meta: Some(html! { "Nodes to hold. Nothing is sent before you have seen what it costs." }),
        body: html! {
            form.panel-body method="post" action="/reservations/ask" {
                input type="hidden" name="token" value=(who.token);
                div.fields {
                    div.field {
                        label for="b-class" { "Class" }
                        select.input id="b-class" name="class" {
                            @for class in classes.iter().take(CLASSES) {
                                option value=(class) selected[*class == fields.class] {
                                    (short(class, 40))
                                }
                            }
                        }
                    }
                    (field("nodes", "Nodes", or(&fields.nodes, "1"), "all together"))
                    (field("time", "Time", or(&fields.time, "1h"), "such as 30m"))
                    (field("from", "Not before", &fields.from, "from now, such as 2h"))
                    (field("until", "Not after", &fields.until, "latest start, from now"))
                    (field("budget", "Bid", &fields.budget, "credits for all; the least without"))
                    (field("name", "Name", &fields.name, "of the cluster"))
                }
                div.actions { button.btn { "Look at it" } }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

fn question(want: &Want, quote: &Quote, fields: &Fields, key: &str, who: &Who) -> Markup {
    let refused = hopeless(want, quote);
    // It bids the price that is told now, also if the posted price were to change meanwhile.
    let bid = want.budget.unwrap_or(quote.most);
    let bid = bid.to_string();
    let kept = [
        ("token", who.token.as_str()),
        ("key", key),
        ("class", fields.class.as_str()),
        ("nodes", &fields.nodes),
        ("time", &fields.time),
        ("from", &fields.from),
        ("until", &fields.until),
        ("budget", &bid),
        ("name", &fields.name),
    ];
    let least = quote.posted.unwrap_or(Credits::ZERO);
    let panel = Panel {
        id: "sure",
        title: "Book these nodes?",
        body: html! {
            div.panel-body {
                dl.kv.left {
                    dt { "Nodes" }
                    dd { (want.nodes) " of class " (short(&quote.class, 60)) }
                    dt { "For" } dd { (span(u64::from(quote.seconds) * 1_000)) ", whole slots" }
                    dt { "Bid" } dd { strong { (money(quote.most)) } " credits, paid if it wins" }
                    dt { "The least" } dd { (money(least)) " credits, by the posted price" }
                    dt { "Locked now" } dd { (money(quote.needed_now)) " credits" }
                    dt { "Can be spent" } dd { (money(quote.spendable)) " credits" }
                    dt { "Units ahead" } dd { (quote.units_offered) }
                }
                @match &refused {
                    Some(error) => (block(error)),
                    None => (notice(Tone::Idle, "Others’ bids are sealed.",
                        "It is booked if it is worth more than what it displaces, and else it \
                         stands until its latest start.")),
                }
                form.actions method="post" action="/reservations/book" {
                    @for (name, value) in kept {
                        input type="hidden" name=(name) value=(value);
                    }
                    @if refused.is_none() { button.btn.primary { "Book for " (money(quote.most)) } }
                    a.btn href="/reservations" { "Leave it" }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::parts::cli;
    use crate::web::samples::{self, HOSTILE};
    use serde_json::json;

    fn fields(nodes: &str) -> Fields {
        Fields {
            class: HOSTILE.to_owned(),
            nodes: nodes.to_owned(),
            time: "30m".to_owned(),
            from: "2h".to_owned(),
            until: "3h".to_owned(),
            name: HOSTILE.to_owned(),
            ..Fields::default()
        }
    }

    fn asked(funded: bool) -> String {
        let quote: Quote = serde_json::from_value(json!({
            "class": HOSTILE, "nodes": 2, "seconds": 1_800, "slots": 30, "max_price": "1",
            "most": "5", "likely": "5", "posted": "4", "needed_now": "5", "spendable": "9",
            "funded": funded, "units_offered": 6, "units_free": 6, "deadline": null,
        }))
        .unwrap();
        let (fields, who) = (fields("2"), samples::who(Scope::Trade));
        question(
            &want(&fields).unwrap(),
            &quote,
            &fields,
            "0123456789abcdef",
            &who,
        )
        .into_string()
    }

    #[test]
    fn the_question_tells_all_and_escapes_it() {
        let page = asked(true);
        assert!(
            !page.contains("<script") && page.contains("&lt;script"),
            "{page}"
        );
        for told in [
            "5.00",
            "4.00",
            "30m00s",
            "name=\"budget\" value=\"5\"",
            "0123456789abcdef",
        ] {
            assert!(page.contains(told), "{told}: {page}");
        }
        let poor = asked(false);
        assert!(
            poor.contains("can be spent") && !poor.contains("Book for"),
            "{poor}"
        );
    }

    #[test]
    fn the_command_is_one_whatever_is_written() {
        for fields in [fields("2"), fields("x"), fields("0"), Fields::default()] {
            let page = cli("a", &line(&fields)).into_string();
            assert_eq!(exist(&page), 1, "{page}");
        }
    }

    #[test]
    fn a_wish_is_read_or_refused() {
        let want_of = |fields: &Fields| want(fields).map(|want| (want.nodes, want.seconds));
        assert_eq!(want_of(&fields("2")).unwrap(), (2, 1_800));
        assert_eq!(want_of(&Fields::default()).unwrap(), (1, 3_600));
        for wrong in ["0", "-1", "many"] {
            assert!(want_of(&fields(wrong)).is_err(), "{wrong}");
        }
        let late = Fields {
            from: "tomorrow".to_owned(),
            ..fields("1")
        };
        assert!(want_of(&late).unwrap_err().message.contains("Not before"));
        let long = Fields {
            name: "x".repeat(NAME + 1),
            ..fields("1")
        };
        assert!(want_of(&long).is_err());
    }
}
