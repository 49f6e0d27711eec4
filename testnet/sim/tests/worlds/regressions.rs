//! Every fault found before stays mended; equal plans give equal traces; and the story can be told.

use gridbay_sim::plan::Plan;
use gridbay_sim::regression;
use gridbay_sim::run::run;
use gridbay_sim::shrink::shrink;
use gridbay_sim::trace::Trace;
use std::path::Path;

#[test]
fn faults_found_before_stay_mended() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for path in regression::files(&folder).expect("the folder is there") {
        let kept = regression::read(&path).expect("a regression");
        let outcome = run(&kept.plan, None, Trace::default());
        let name = path.display();
        assert_eq!(outcome.broken, None, "{name}: {}", kept.fault);
    }
}

#[test]
fn equal_seeds_give_equal_traces_and_others_do_not() {
    let trace = |seed| run(&Plan::draw(seed), Some(10_000), Trace::default()).trace;
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1), trace(2));
}

#[test]
fn a_plan_survives_its_file() {
    for seed in 0..50 {
        let plan = Plan::draw(seed);
        let text = serde_json::to_string(&plan).expect("is data");
        assert_eq!(
            serde_json::from_str::<Plan>(&text).expect("is a plan"),
            plan
        );
        let ascending = plan.faults.windows(2).all(|pair| pair[0].at <= pair[1].at);
        assert!(ascending);
        let (voting, others): (Vec<_>, Vec<_>) =
            { plan.liars.iter() }.partition(|liar| liar.node < plan.validators);
        assert!(voting.len() <= plan.tolerated() && others.len() <= 2);
    }
}

#[test]
fn nothing_to_shrink_comes_back_as_it_is() {
    let mut plan = Plan::calm(3, 4);
    (plan.active_ms, plan.calm_ms) = (3_000, 1_000);
    let outcome = run(&plan, Some(3_000), Trace::default());
    assert_eq!(shrink(outcome, 5).plan, plan);
}
