use super::super::clusters::tests::cluster;
use super::super::net::tests::net as network;
use super::super::tests::lease;
use super::*;
use crate::api::scope::Scope;
use crate::api::types::JobState;
use crate::web::command::tests::exist;
use crate::web::samples;

fn detail(part: &str, held: bool) -> Detail {
    let job = JobRecord {
        state: JobState::Running,
        ..samples::job()
    };
    Detail {
        lease: lease(part, 80),
        job: (part != "seller").then_some(job),
        cluster: held.then(|| cluster(2)),
        net: Ok(network(3)),
    }
}

fn shown(detail: &Detail, scope: Scope) -> String {
    let page = detail.render(&samples::frame(), &samples::who(scope));
    page.into_string()
}

#[test]
fn a_page_of_hostile_words_has_no_markup_of_them_and_an_end() {
    for (part, held, commands) in [("buyer", false, 4), ("both", true, 6), ("seller", false, 3)] {
        let page = shown(&detail(part, held), Scope::Trade);
        assert!(!page.contains("<script>alert"), "{page}");
        assert!(page.contains("&lt;script&gt;alert"), "{page}");
        assert_eq!(exist(&page), commands, "{part}");
        assert_eq!(page.contains("16 more nodes"), !held, "{part}");
        for (id, _) in detail(part, held).fragments(&samples::frame()) {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.matches(&place).count(), 1, "{id}");
        }
    }
}

#[test]
fn only_a_trader_is_offered_the_end_of_what_runs() {
    let (job, held) = (
        "/jobs/0123456789abcdef/cancel",
        "/clusters/0123456789abcdef/end",
    );
    assert!(shown(&detail("buyer", false), Scope::Trade).contains(job));
    assert!(shown(&detail("buyer", true), Scope::Trade).contains(held));
    let read = shown(&detail("buyer", true), Scope::Read);
    let sold = shown(&detail("seller", false), Scope::Admin);
    let mut over = detail("buyer", false);
    over.job
        .iter_mut()
        .for_each(|job| job.state = JobState::Done);
    for page in [read, sold, shown(&over, Scope::Admin)] {
        assert!(!page.contains(job) && !page.contains(held), "{page}");
    }
}

#[test]
fn the_time_left_is_of_the_order_or_of_the_slot() {
    let left = |detail: &Detail| detail.left(&samples::frame()).0;
    assert_eq!(left(&detail("buyer", true)), "0:01:01");
    assert_eq!(left(&detail("seller", false)), "0:00:42");
    let mut ahead = detail("seller", false);
    ahead.lease.slot = 4;
    assert_eq!(left(&ahead), NONE);
    assert_eq!(left(&detail("buyer", false)), "0:00:00", "its time is over");
}

#[test]
fn the_question_names_the_cluster_and_its_cost_and_carries_the_token() {
    let who = samples::who(Scope::Trade);
    let page = question(&cluster(2), &who).into_string();
    assert!(
        page.contains("Give up &lt;script&gt;") && !page.contains("<script"),
        "{page}"
    );
    assert!(page.contains(&format!("value=\"{}\"", who.token)) && page.contains("2.00"));
}
