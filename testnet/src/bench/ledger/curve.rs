//! The curve of a run as a picture: what each step reached, and how long a payment took then.

use super::Figures;
use super::load::Step;
use gridbay_node::chart::{Place, Scale, below, grid, point, stretched};
use maud::{Markup, html};

/// Sizes, and the space around the plot, as the documentation's other pictures have them.
const WIDTH: u32 = 640;
const HEIGHT: u32 = 340;
const LEFT: u32 = 60;
const RIGHT: u32 = 90;
const TOP: u32 = 74;
const BOTTOM: u32 = 46;
/// Steps of an axis at the most.
const STEPS: u64 = 5;
/// A picture stands alone, without the style of the node's pages.
const STYLE: &str = "text{font:13px sans-serif;fill:#24292f}.t{font-weight:bold}\
    .grid{stroke:#d0d7de}.y,.end{text-anchor:end}.x{text-anchor:middle}.load{font-size:11px}\
    path{fill:none;vector-effect:non-scaling-stroke}.line{stroke-width:2}\
    .point{stroke-width:8;stroke-linecap:round}.c1{stroke:#1a56b8}.c2{stroke:#c2500a}";
/// A figure of a step.
type Of = fn(&Step) -> u64;
/// The lines: class, name and time of a step.
const LINES: [(&str, &str, Of); 2] = [
    ("c1", "p50", |step| step.p50_ms),
    ("c2", "p95", |step| step.p95_ms),
];

/// The picture as SVG; the same for the same figures.
pub(crate) fn curve(figures: &Figures) -> String {
    let answered = figures.steps.iter().filter(|step| step.done > 0);
    let steps: Vec<&Step> = answered.collect();
    let most = |of: Of| steps.iter().map(|step| of(step)).max().unwrap_or(0);
    let wide = Scale::of(most(|step| step.per_second), STEPS);
    let high = Scale::of(most(|step| step.p95_ms.max(step.p50_ms)), STEPS);
    let title = format!(
        "Payments of {} validators, blocks {} ms apart",
        figures.validators, figures.block_ms
    );
    let machine = format!(
        "on {} cores, each of which checks {} signatures a second",
        figures.machine.cores, figures.machine.checks_per_core
    );
    let (across, down) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
            style { (STYLE) }
            rect width=(WIDTH) height=(HEIGHT) rx="6" fill="#fff" {}
            text.t x=(LEFT) y="20" { (title) }
            text x=(LEFT) y="38" { (machine) }
            text x="8" y=(TOP - 14) { "ms from when a payment was due to its answer" }
            text.end x=(WIDTH - RIGHT) y=(HEIGHT - 8) { "payments a second" }
            @for (n, (class, name, _)) in (0u32..).zip(LINES) {
                @let at = TOP + 20 * n;
                path.line.(class) d={ "M" (WIDTH - RIGHT + 14) " " (at) "h18" } {}
                text x=(WIDTH - RIGHT + 38) y=(at + 4) { (name) }
            }
            svg x=(LEFT) y=(TOP) width=(across) height=(down) overflow="visible" {
                (plot(&steps, &wide, &high))
            }
        }
    };
    picture.into_string() + "\n"
}

/// All between the axes: steps in their order, since beyond what is carried a line turns back.
fn plot(steps: &[&Step], wide: &Scale, high: &Scale) -> Markup {
    let x = |step: &Step| wide.place(step.per_second);
    html! {
        (grid(high, |ms| ms.to_string()))
        @for mark in wide.marks() { (below(wide.place(mark), &mark.to_string(), "")) }
        @for (class, _, of) in LINES {
            @let points: Vec<_> = steps.iter().map(|step| (x(step), high.height(of(step)))).collect();
            (stretched(&html! {
                path.line.(class) d=(line(&points)) {}
                @for (at, height) in &points { (point(class, *at, *height)) }
            }))
        }
        @for step in steps { (load(step, x(step), high.height(step.p95_ms))) }
    }
}

fn line(points: &[(Place, Place)]) -> String {
    let words = points.iter().map(|(at, height)| format!("{at} {height}"));
    format!("M{}", words.collect::<Vec<_>>().join("L"))
}

/// The load of a step above its upper point, on the side that has room.
fn load(step: &Step, at: Place, height: Place) -> Markup {
    let class = if at > Place::of(1, 2) {
        "load end"
    } else {
        "load"
    };
    html! { text class=(class) x={ (at) "%" } y={ (height) "%" } dy="-8" { (step.load) } }
}

#[cfg(test)]
mod tests {
    use super::super::tests::figures;
    use super::*;

    fn step(load: &str, per_second: u64, p50_ms: u64, p95_ms: u64) -> Step {
        Step {
            load: load.to_owned(),
            done: per_second,
            per_second,
            p50_ms,
            p95_ms,
            ..Step::default()
        }
    }

    #[test]
    fn steps_are_points_of_two_lines_in_their_order() {
        let steps = vec![
            step("500 a second", 500, 200, 300),
            step("2000 a second", 1_000, 300, 800),
            step("4000 a second", 900, 400, 1_000),
            Step::default(),
        ];
        let figures = figures(steps);
        let picture = curve(&figures);
        for part in [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 340\">",
            ">Payments of 4 validators, blocks 250 ms apart</text>",
            ">on 2 cores, each of which checks 8000 signatures a second</text>",
            "class=\"line c1\" d=\"M50 80L100 70L90 60\"",
            "class=\"line c2\" d=\"M50 70L100 20L90 0\"",
            "class=\"load\" x=\"50%\" y=\"70%\" dy=\"-8\">500 a second</text>",
            "class=\"load end\" x=\"90%\" y=\"0%\" dy=\"-8\">4000 a second</text>",
        ] {
            assert!(picture.contains(part), "{part} in {picture}");
        }
        assert_eq!(
            picture.matches("class=\"load").count(),
            3,
            "one had no answer"
        );
        assert_eq!(picture, curve(&figures));
    }

    #[test]
    fn text_is_escaped() {
        let picture = curve(&figures(vec![step("<b>&\"", 1, 1, 1)]));
        assert!(
            picture.contains(">&lt;b&gt;&amp;&quot;</text>"),
            "{picture}"
        );
    }
}
