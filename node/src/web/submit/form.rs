//! The form: what the work needs, who could run it, how to get it, and what is sent.

use super::Checked;
use super::fields::{ARRAY, Fields, SEND};
use super::quotes::Quotes;
use super::terms::{SCRIPT, Terms, WAYS};
use super::upload::FILE;
use crate::api::limits::FORM_FILE_BYTES;
use crate::api::scope::Scope;
use crate::web::failure::block;
use crate::web::figures::{bytes, short};
use crate::web::parts::{Panel, cli};
use crate::web::session::Who;
use maud::{Markup, html};

/// Classes to choose from at the most.
const CLASSES: usize = 64;

/// The form and what was found out about it. A session that may not send checks by `GET`.
pub(super) fn shown(checked: &Checked, who: &Who) -> Markup {
    let (fields, sends) = (&checked.fields, who.may(Scope::Trade).is_ok());
    let mistake = checked
        .terms
        .as_ref()
        .and_then(|terms| terms.as_ref().err());
    html! {
        @if let Some(error) = &checked.refused { (block(error)) }
        @if let Some(error) = mistake { (block(error)) }
        form.stack method=(if sends { "post" } else { "get" }) action="/submit"
            enctype=[sends.then_some("multipart/form-data")] {
            @if sends { (hidden(fields, who)) }
            div.cols.side {
                (needs(fields, &checked.classes, sends))
                div.stack {
                    @if let Some((sellers, _)) = &checked.looked { (sellers.panel()) }
                    @else { (first()) }
                }
            }
            @match &checked.looked {
                Some((_, quotes)) => (quotes.panel()),
                None => (ways(fields)),
            }
            (bid(checked, sends))
        }
    }
}

fn hidden(fields: &Fields, who: &Who) -> Markup {
    let kept = [
        ("token", who.token.as_str()),
        ("key", &fields.key),
        ("mark", &fields.mark),
        ("told_class", &fields.told_class),
        ("told_price", &fields.told_price),
        ("told_most", &fields.told_most),
        ("file_name", &fields.file_name),
        ("file_id", &fields.file_id),
        ("file_bytes", &fields.file_bytes),
    ];
    html! {
        @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
    }
}

/// One field: label, input, hint.
fn field(name: &str, label: &str, value: &str, hint: &str, class: &str) -> Markup {
    html! {
        div class={ "field " (class) } {
            label for={ "f-" (name) } { (label) }
            input id={ "f-" (name) } name=(name) value=(value) autocomplete="off"
                spellcheck="false" class={ "input " (if class == "full" { "code" } else { "fig" }) }
                aria-describedby=[(!hint.is_empty()).then(|| format!("h-{name}"))];
            @if !hint.is_empty() { span.hint id={ "h-" (name) } { (hint) } }
        }
    }
}

fn needs(fields: &Fields, classes: &[String], sends: bool) -> Markup {
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    let panel = Panel {
        id: "what",
        title: "What it needs",
        body: html! {
            div.panel-body {
                div.fields {
                    (field("argv", "Command", &fields.argv,
                        "Program and arguments, split as by a shell; nothing is expanded.",
                        "full"))
                    div.field.full {
                        label for="f-script" { "Script" }
                        textarea.input.code id="f-script" name="script" rows="4"
                            spellcheck="false" aria-describedby="h-script" {
                            // A browser takes the first line break away.
                            "\n" (fields.script)
                        }
                        span.hint id="h-script" {
                            "Kept here and sent along as a file named script. Without a command \
                             it is run."
                        }
                    }
                    @if sends { (file_field(fields)) }
                    (class_field(fields, classes))
                    (field("cpus", "Processors", &fields.cpus, "at least", ""))
                    (field("memory", "Memory", &fields.memory, "such as 4GiB", ""))
                    (field("disk", "Disk", &fields.disk, "such as 10GiB", ""))
                    (field("nodes", "Nodes", &or(&fields.nodes, "1"), "", ""))
                    (field("time", "Time, at most", &or(&fields.time, "1h"), "such as 30m", ""))
                    (field("name", "Name", &fields.name, "else that of the program", ""))
                    (field("outputs", "Bring back", &fields.outputs,
                        "files, with blanks between", ""))
                    (shape(fields))
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

/// The file that goes along: one to choose, and the one that is kept already.
fn file_field(fields: &Fields) -> Markup {
    let kept = !fields.file_name.is_empty();
    let size = fields.file_bytes.parse().map_or(String::new(), bytes);
    html! {
        div.field.full {
            label for="f-file" { (if kept { "Another file instead" } else { "File" }) }
            input.input id="f-file" type="file" name=(FILE) aria-describedby="h-file";
            span.hint id="h-file" {
                "Up to " (bytes(FORM_FILE_BYTES)) ", kept here from the check on and sent along \
                 under its name. Without a command and a script it is run. More and larger ones: \
                 gridbay run --input."
            }
            @if kept {
                span { "Goes along: " code { (short(&fields.file_name, 80)) } ", " (size) }
                label.choice {
                    input type="checkbox" name="drop" value="yes";
                    "Leave it out"
                }
            }
        }
    }
}

fn class_field(fields: &Fields, classes: &[String]) -> Markup {
    html! {
        div.field {
            label for="f-class" { "Class" }
            select.input id="f-class" name="class" {
                option value="" selected[fields.class.is_empty()] { "Cheapest" }
                @for class in classes.iter().take(CLASSES) {
                    option value=(class) selected[*class == fields.class] { (short(class, 40)) }
                }
            }
        }
    }
}

fn shape(fields: &Fields) -> Markup {
    let array = fields.shape == ARRAY;
    html! {
        fieldset.field.full {
            legend.label { "Are fewer nodes of use?" }
            div.choices {
                label.choice {
                    input type="radio" name="shape" value="" checked[!array];
                    "No, all or none"
                }
                label.choice {
                    input type="radio" name="shape" value=(ARRAY) checked[array];
                    "Yes, they are separate tasks"
                }
            }
        }
    }
}

/// In the place of what a check tells.
fn first() -> Markup {
    let panel = Panel {
        id: "scr",
        title: "Who could run it",
        body: html! {
            div.panel-body {
                p.muted {
                    "Fill in what you know and check: sellers, the cost of each way to buy, and \
                     what a bid needs are shown then."
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

/// The ways to buy before they are quoted.
fn ways(fields: &Fields) -> Markup {
    let chosen = |name: &str| fields.how == name || (fields.how.is_empty() && name == WAYS[0].0);
    let panel = Panel {
        id: "how",
        title: "How to get it",
        body: html! {
            div.panel-body {
                fieldset.field {
                    legend.sr { "Way to buy" }
                    @for (name, word, about) in WAYS {
                        label.choice {
                            input type="radio" name="how" value=(name) checked[chosen(name)];
                            span { strong { (word) } " " span.muted { (about) } }
                        }
                    }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

fn bid(checked: &Checked, sends: bool) -> Markup {
    let fields = &checked.fields;
    let quotes = checked.looked.as_ref().map(|(_, quotes)| quotes);
    let terms = checked.terms.as_ref().and_then(|terms| terms.as_ref().ok());
    let panel = Panel {
        id: "bid",
        title: "Your order",
        body: html! {
            div.panel-body {
                div.fields {
                    (field("max_price", "Most per node-hour", &fields.max_price,
                        "credits; the node suggests one without it", ""))
                    (field("budget", "Budget", &fields.budget, "credits for everything", ""))
                }
                @if let Some(quotes) = quotes { (quotes.cost()) }
                @if let Some(terms) = terms {
                    @let anyway = quotes.is_some_and(Quotes::is_too_low);
                    div.field {
                        span.label { "The same as a command" }
                        (cli("cli-run", &terms.run_command(anyway)))
                        (brought(terms))
                    }
                }
            }
        },
        foot: Some(html! {
            div.actions {
                button class={ "btn" @if quotes.is_none() { " primary" } } name="do" value="check" {
                    "Check"
                }
                @if sends { (send(quotes, terms)) }
            }
            span { (note(quotes, sends)) }
        }),
        ..Panel::default()
    };
    html! { (panel) }
}

/// What the command wants to find, which the reader may have nowhere but here.
fn brought(terms: &Terms) -> Markup {
    let script = terms.script.is_some();
    html! {
        @if script {
            span.hint { "It reads the script from a file: save it as " code { (SCRIPT) } " first." }
        }
        @if let Some(file) = &terms.file {
            span.hint {
                "It takes " code { (short(&file.path, 80)) } " from the folder where it is run."
            }
        }
    }
}

fn send(quotes: Option<&Quotes>, terms: Option<&Terms>) -> Markup {
    let name = terms.and_then(|terms| terms.name.as_deref());
    html! {
        @if quotes.is_some_and(Quotes::can_be_sent) {
            button.btn.primary name="do" value=(SEND) {
                "Submit " (short(name.unwrap_or("the job"), 40))
            }
        }
    }
}

fn note(quotes: Option<&Quotes>, sends: bool) -> &'static str {
    match quotes {
        _ if !sends => "This session may look and not order: gridbay web --scope trade.",
        None => "A check sends nothing.",
        Some(quotes) if quotes.can_be_sent() => {
            "What changes above is checked again before it is sent."
        }
        Some(_) => "As it is, this order comes to nothing and is not sent.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ApiError, ErrorCode};
    use crate::web::command::tests::exist;
    use crate::web::samples::{self, HOSTILE};
    use crate::web::submit::terms::tests::fields;
    use crate::web::submit::{quotes, sellers};

    fn hostile() -> Fields {
        let text = || HOSTILE.to_owned();
        Fields {
            script: text(),
            name: text(),
            class: text(),
            cpus: text(),
            file_name: text(),
            file_id: text(),
            file_bytes: text(),
            outputs: text(),
            max_price: text(),
            key: text(),
            mark: text(),
            ..fields()
        }
    }

    fn page(checked: &Checked, scope: Scope) -> String {
        let page = checked.render(&samples::frame(), &samples::who(scope));
        page.into_string()
    }

    #[test]
    fn hostile_words_stay_text_in_a_checked_form() {
        let checked = Checked {
            terms: Some(Terms::of(&fields(), &[samples::price("small")])),
            fields: hostile(),
            classes: vec![HOSTILE.to_owned()],
            looked: Some((sellers::tests::of(1), quotes::tests::of("5", true))),
            refused: Some(ApiError::new(ErrorCode::Refused, HOSTILE, HOSTILE)),
        };
        let page = page(&checked, Scope::Trade);
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert!(
            page.contains("value=\"send\"") && page.contains("name=\"token\""),
            "{page}"
        );
        assert_eq!(exist(&page), 3, "of the page, the quotes and the order");
    }

    #[test]
    fn the_command_says_what_it_wants_to_find_and_that_its_bid_is_low() {
        let written = Fields {
            script: "echo a".to_owned(),
            file_name: "data.csv".to_owned(),
            file_id: "ab".repeat(32),
            file_bytes: "2048".to_owned(),
            ..fields()
        };
        let of = |price: &str| Checked {
            terms: Some(Terms::of(&written, &[samples::price("small")])),
            fields: written.clone(),
            classes: vec![],
            looked: Some((sellers::tests::of(1), quotes::tests::of(price, true))),
            refused: None,
        };
        let low = page(&of("2.5"), Scope::Trade);
        for told in [
            "--input script --input data.csv",
            "--anyway",
            "save it as <code>script</code>",
            "<code>data.csv</code>, 2.0 KiB",
            "name=\"file_bytes\" value=\"2048\"",
        ] {
            assert!(low.contains(told), "{told}: {low}");
        }
        assert_eq!(exist(&low), 3);
        assert!(!page(&of("5"), Scope::Trade).contains("--anyway"));
        assert!(!page(&of("5"), Scope::Read).contains("type=\"file\""));
    }

    #[test]
    fn a_new_form_has_nothing_to_send() {
        let checked = Checked {
            fields: Fields::default(),
            terms: None,
            classes: vec!["small".to_owned()],
            looked: None,
            refused: None,
        };
        let page = page(&checked, Scope::Trade);
        assert!(
            !page.contains("value=\"send\"") && page.contains("value=\"check\""),
            "{page}"
        );
        assert_eq!(exist(&page), 1);
    }

    #[test]
    fn a_session_that_reads_checks_without_a_token_in_the_address() {
        let checked = Checked {
            terms: Some(Terms::of(&fields(), &[samples::price("small")])),
            fields: fields(),
            classes: vec![],
            looked: Some((sellers::tests::of(1), quotes::tests::of("5", true))),
            refused: None,
        };
        let page = page(&checked, Scope::Read);
        let form = page.split_once("action=\"/submit\"").unwrap().1;
        assert!(
            !form.contains("name=\"token\"") && !form.contains("value=\"send\""),
            "{form}"
        );
        assert!(page.contains("method=\"get\" action=\"/submit\""), "{page}");
    }
}
