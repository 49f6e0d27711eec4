//! The end of an offer: what it does is said first.

use crate::api::scope::Scope;
use crate::api::types::Offer;
use crate::backend::Node;
use crate::backend::failure::not_found;
use crate::web::failure::{Failure, Shown};
use crate::web::figures::{count, money, short};
use crate::web::form::{Nothing, Sent};
use crate::web::parts::Panel;
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use maud::{Markup, html};

/// The page that asks.
pub(in crate::web) async fn ask(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(label): Path<u32>,
) -> Shown {
    who.may(Scope::Operate)?;
    let frame = Frame::of(&node).await?;
    let offers = node.offers().await?;
    let mut own = offers.iter().filter(|offer| offer.own);
    let offer = own.find(|offer| offer.label == label).ok_or_else(|| {
        not_found(
            format!("this node has no offer {label}"),
            "see gridbay offer list",
        )
    })?;
    let command = format!("gridbay offer withdraw {label}");
    let page = Page {
        here: "Seller",
        title: "Withdraw an offer",
        lede: "Its units are for sale no more.",
        actions: html! {},
        command: &command,
        events: "/events?page=frame",
        body: question(offer, &who),
    };
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The deed; repeating it changes nothing.
pub(in crate::web) async fn withdraw(
    State(node): State<Node>,
    Path(label): Path<u32>,
    sent: Sent<Nothing>,
) -> Result<Redirect, Failure> {
    let Nothing {} = sent.fields;
    sent.who.may(Scope::Operate)?;
    node.withdraw_offer(label).await?;
    Ok(Redirect::to("/seller"))
}

fn question(offer: &Offer, who: &Who) -> Markup {
    let title = format!("Withdraw offer {}?", offer.label);
    let what = match offer.leased {
        0 => "Nothing of it is leased, so it leaves the ledger at once.".to_owned(),
        1 => "1 unit is leased: that lease ends at the next slot boundary.".to_owned(),
        n => format!(
            "{} units are leased: their leases end at the next slot boundary.",
            count(n)
        ),
    };
    let panel = Panel {
        id: "end",
        title: &title,
        body: html! {
            div.panel-body {
                p {
                    (count(offer.units)) " units of class " (short(&offer.class, 40)) " from "
                    (money(offer.reserve)) " credits per node-hour on. " (what)
                }
                form.actions method="post"
                    action={ "/seller/offers/" (offer.label) "/withdraw" } {
                    input type="hidden" name="token" value=(who.token);
                    button.btn.danger { "Withdraw it" }
                    a.btn href="/seller" { "Keep it" }
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
    use crate::web::samples;
    use crate::web::seller::tests::offer;

    #[test]
    fn the_question_tells_what_it_does_and_carries_the_token() {
        let who = samples::who(Scope::Operate);
        let page = question(&offer(3), &who).into_string();
        assert!(
            !page.contains("<script") && page.contains("&lt;script"),
            "{page}"
        );
        assert!(
            page.contains("1 unit is leased") && page.contains(&who.token),
            "{page}"
        );
        let idle = Offer {
            leased: 0,
            ..offer(3)
        };
        assert!(question(&idle, &who).into_string().contains("at once"));
    }
}
