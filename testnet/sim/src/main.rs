//! `gridbay-sim`: the deterministic world alone, without the laboratory around it.

fn main() {
    let seeds: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    for seed in seeds[0]..seeds[1] {
        let plan = if seeds.len() > 2 {
            gridbay_sim::plan::Plan::calm(seed, seeds[2] as usize)
        } else {
            gridbay_sim::plan::Plan::draw(seed)
        };
        let began = std::time::Instant::now();
        let out = gridbay_sim::run::run(&plan, None, Default::default());
        println!(
            "{seed} n={} {:?} {:?} {} {:?} {:?}",
            plan.validators,
            out.yields,
            out.broken,
            &out.trace[..8],
            began.elapsed(),
            out.cover.missing()
        );
    }
}
