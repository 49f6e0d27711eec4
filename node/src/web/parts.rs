//! The small parts that pages are made of. Text is escaped where it is put in.

use maud::{Markup, Render, html};

/// The id of a place that the stream of changes fills again, and its content.
pub(super) type Fragment = (&'static str, Markup);

/// How a state is shown: by shape, word and colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Idle,
    Live,
    Ok,
    Warn,
    Bad,
}

impl Tone {
    fn name(self) -> &'static str {
        match self {
            Tone::Idle => "idle",
            Tone::Live => "live",
            Tone::Ok => "ok",
            Tone::Warn => "warn",
            Tone::Bad => "bad",
        }
    }
}

/// A state in a word.
pub(super) fn pill(tone: Tone, word: &str) -> Markup {
    html! { span.pill data-tone=(tone.name()) { (word) } }
}

/// What is wrong or worth knowing, and what to do.
pub(super) fn notice(tone: Tone, what: &str, more: &str) -> Markup {
    html! {
        div.notice data-tone=(tone.name()) { p { strong { (what) } " " (more) } }
    }
}

/// A condition with its figures.
pub(super) fn check(met: bool, condition: &str, figures: &str) -> Markup {
    let tone = if met { Tone::Ok } else { Tone::Bad };
    html! {
        li {
            span.check data-tone=(tone.name()) {
                span { (condition) span.sr { (if met { ": met" } else { ": not met" }) } }
            }
            span.fig { (figures) }
        }
    }
}

/// The command that does the same.
pub(super) fn cli(id: &str, command: &str) -> Markup {
    html! {
        div.cli {
            code id=(id) { (command) }
            button.copy type="button" data-copy=(id) aria-label={ "Copy command: " (command) } {
                "Copy"
            }
        }
    }
}

/// The figures of a page in a row, replaced as they change. The number of columns stands in the
/// class: a row that took it from what has arrived would move while the page arrives.
pub(super) fn row_of_stats(stats: Markup) -> Markup {
    let columns = stats.0.matches("<div class=\"stat\">").count().clamp(2, 6);
    html! {
        dl class={ "stats n" (columns) } id="stats" data-live="replace" { (stats) }
    }
}

/// A figure with its name, its unit and a word about it.
pub(super) fn stat(name: &str, figure: &str, unit: &str, note: &str) -> Markup {
    html! {
        div.stat {
            dt { (name) }
            dd { (figure) @if !unit.is_empty() { " " small { (unit) } } }
            @if !note.is_empty() { dd.note { (note) } }
        }
    }
}

/// A part of a whole as a bar, in per cent.
pub(super) fn meter(percent: u32, name: &str) -> Markup {
    html! {
        span.meter {
            progress max="100" value=(percent) aria-label=(name) {}
            span.num { (percent) " %" }
        }
    }
}

/// A column of a table.
pub(super) struct Column {
    name: &'static str,
    class: &'static str,
}

/// A column with the classes of its heading.
pub(super) const fn column(name: &'static str, class: &'static str) -> Column {
    Column { name, class }
}

/// A table in a wrapper that scrolls where it must.
pub(super) fn table(caption: &str, columns: &[Column], rows: Markup) -> Markup {
    html! {
        div.tbl-wrap tabindex="0" role="group" aria-label=(caption) {
            table.tbl {
                caption.sr { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            th scope="col" class=[some(column.class)] { (column.name) }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

fn some(class: &str) -> Option<&str> {
    Some(class).filter(|class| !class.is_empty())
}

/// A panel: its heading, a line about it, a way on, content and foot.
#[derive(Default)]
pub(super) struct Panel<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) meta: Option<Markup>,
    pub(super) more: Option<Markup>,
    pub(super) body: Markup,
    pub(super) foot: Option<Markup>,
}

impl Render for Panel<'_> {
    fn render(&self) -> Markup {
        html! {
            section.panel aria-labelledby={ "h-" (self.id) } {
                header.panel-head {
                    h2 id={ "h-" (self.id) } { (self.title) }
                    @if let Some(meta) = &self.meta { p.meta { (meta) } }
                    @if let Some(more) = &self.more { div.actions { (more) } }
                }
                (self.body)
                @if let Some(foot) = &self.foot { footer.panel-foot { (foot) } }
            }
        }
    }
}

/// A field of a form: its label, what is written in it, and a hint.
#[derive(Default)]
pub(super) struct Field<'a> {
    /// Begins the ids of this form's fields, so that two forms on a page keep apart.
    pub(super) form: &'a str,
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    pub(super) value: &'a str,
    /// Below the field; nothing if it is empty.
    pub(super) hint: &'a str,
    /// In the empty field; nothing if it is empty.
    pub(super) sample: &'a str,
    /// Of a phone's keys, as in `decimal`; all of them if it is empty.
    pub(super) keys: &'a str,
    /// `fig` for figures, `code` for what a program reads.
    pub(super) look: &'a str,
    /// A class of the whole field.
    pub(super) class: &'a str,
    pub(super) required: bool,
    /// Characters at the most.
    pub(super) most: Option<usize>,
}

impl Render for Field<'_> {
    fn render(&self) -> Markup {
        let id = format!("{}-{}", self.form, self.name);
        let hint = format!("{}h-{}", self.form, self.name);
        html! {
            div class={ "field" @if !self.class.is_empty() { " " (self.class) } } {
                label for=(id) { (self.label) }
                input id=(id) name=(self.name) value=(self.value) autocomplete="off"
                    spellcheck="false" required[self.required] maxlength=[self.most]
                    class={ "input" @if !self.look.is_empty() { " " (self.look) } }
                    placeholder=[some(self.sample)] inputmode=[some(self.keys)]
                    aria-describedby=[some(self.hint).map(|_| &hint)];
                @if !self.hint.is_empty() { span.hint id=(hint) { (self.hint) } }
            }
        }
    }
}

/// A place that the stream of changes fills again.
pub(super) fn live(id: &str, content: &Markup) -> Markup {
    html! { div id=(id) data-live="replace" { (content) } }
}

/// Nothing there, and how to begin.
pub(super) fn empty(title: &str, text: &str, command: Option<(&str, &str)>) -> Markup {
    html! {
        div.empty {
            h3 { (title) }
            p { (text) }
            @if let Some((id, command)) = command { (cli(id, command)) }
        }
    }
}

/// Links to the pages of a list, where it has more than one.
pub(super) fn pages(base: &str, page: usize, last: usize) -> Markup {
    html! {
        @if last > 0 {
            nav.actions aria-label="Pages of the list" {
                @if page > 0 {
                    a.btn.small rel="prev" href={ (base) (page - 1) } { "Newer" }
                }
                span { "Page " (page + 1) " of " (last + 1) }
                @if page < last {
                    a.btn.small rel="next" href={ (base) (page + 1) } { "Older" }
                }
            }
        }
    }
}

/// Links to the pages of a list whose end is not known.
pub(super) fn leaf(base: &str, page: usize, more: bool) -> Markup {
    html! {
        @if page > 0 || more {
            nav.actions aria-label="Pages of the list" {
                @if page > 0 {
                    a.btn.small rel="prev" href={ (base) (page - 1) } { "Newer" }
                }
                span { "Page " (page + 1) }
                @if more { a.btn.small rel="next" href={ (base) (page + 1) } { "Older" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text that would break out of text, an attribute or a tag.
    const HOSTILE: &str = "\"'><script>alert(1)</script>&";

    #[test]
    fn a_row_of_figures_has_a_column_for_each() {
        let row = |n: usize| {
            let stats = html! { @for _ in 0..n { (stat("Free", "1", "", "")) } };
            row_of_stats(stats).into_string()
        };
        for n in 2..=6 {
            let start = format!("<dl class=\"stats n{n}\" id=\"stats\" ");
            assert!(row(n).starts_with(&start), "{}", row(n));
        }
        assert!(row(9).contains("stats n6"));
    }

    #[test]
    fn hostile_text_stays_text_in_every_part() {
        let parts = [
            pill(Tone::Bad, HOSTILE),
            notice(Tone::Warn, HOSTILE, HOSTILE),
            check(false, HOSTILE, HOSTILE),
            cli("a", HOSTILE),
            stat(HOSTILE, HOSTILE, HOSTILE, HOSTILE),
            table(HOSTILE, &[column("x", "")], html! { (HOSTILE) }),
            empty(HOSTILE, HOSTILE, Some(("a", HOSTILE))),
            pages(HOSTILE, 1, 2),
            meter(1, HOSTILE),
            leaf(HOSTILE, 1, true),
            html! { (Field { name: HOSTILE, label: HOSTILE, value: HOSTILE, hint: HOSTILE,
            sample: HOSTILE, ..Field::default() }) },
        ];
        for part in parts {
            let text = part.into_string();
            assert!(
                !text.contains("<script") && text.contains("&lt;script"),
                "{text}"
            );
            assert!(!text.contains("\"'"), "{text}");
        }
    }

    #[test]
    fn a_list_of_one_page_has_no_links() {
        assert_eq!(pages("/x?page=", 0, 0).into_string(), "");
        let first = pages("/x?page=", 0, 1).into_string();
        assert!(first.contains("/x?page=1") && !first.contains("Newer"));
    }
}
