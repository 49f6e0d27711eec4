//! Orders: quoting, placing, cancelling.
//!
//! A [`Want`] becomes a plan in one look at the core, and the plan a quote or an order. A submitted
//! order is planned afresh: the market may have moved since it was quoted.

use super::plan::{Ask, Job, Plan, too_much};
use crate::api::types::{
    JobId, JobRecord, JobRequest, JobWorth, Prospect, Quote, Relays, Want, Wish,
};
use crate::backend::failure::{internal, no_account, usage};
use crate::backend::{NodeBackend, wall_ms};
use crate::buy;
use crate::job::handle::find;
use crate::keys::random;
use crate::market::class_named;
use crate::market::desk::{Answer, Desk};
use crate::market::odds::{Odds, odds};
use crate::rank::PROGRAM;
use crate::ui::is_unseen;
use gridbay_core::Core;
use gridbay_core::buy::{RelayPay, Relaying};
use gridbay_core::cluster::RANKS;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::job::{InputFile, JobSpec};
use gridbay_protocol::limits;
use gridbay_protocol::units::Price;

/// The plan of an order for a want.
///
/// # Errors
/// The node has no account, there is no such class, or what is wanted cannot be had.
pub(crate) fn plan(at: &Desk<'_>, want: &Want, worth: Option<&JobWorth>) -> Answer<Plan> {
    let (way, ask) = (want.how.way(), ask(want));
    let plan = way.plan(at, &ask)?;
    match worth {
        None => Ok(plan),
        Some(worth) => way.by_worth(plan, worth, at, &ask),
    }
}

fn ask(want: &Want) -> Ask {
    Ask {
        nodes: want.nodes,
        max_price: want.max_price,
        seconds: want.seconds,
        budget: want.budget,
    }
}

impl NodeBackend {
    /// The quote for an order.
    pub async fn quote(&self, want: Want) -> Answer<Quote> {
        let nodes = want.all_nodes();
        self.planned(want, None, move |at, plan| plan.quote(at, nodes))
            .await?
    }

    /// Accepts a job under `id`, durably. An id accepted before gives its record again.
    pub async fn submit(&self, id: JobId, request: JobRequest) -> Answer<JobRecord> {
        self.acknowledges()?;
        let key = order_key(&id)?;
        if self
            .query(move |core| core.buyer().order(&key).is_some())
            .await?
        {
            return self.job(id).await;
        }
        self.check_staged(&request.inputs).await?;
        let entropy = random().map_err(|error| internal("no fresh randomness", error))?;
        let JobRequest {
            name: named,
            want,
            worth,
            argv,
            env,
            inputs,
            outputs,
            network,
            internet,
            relays,
            checkpoint,
        } = request;
        let (nodes, wall_seconds) = (want.all_nodes(), want.seconds);
        if network && nodes > RANKS {
            let hint = format!("ask for {RANKS} nodes at most, or leave the network away");
            return Err(usage(
                format!("{nodes} tasks are too many for a network"),
                hint,
            ));
        }
        let order = self.planned(want, worth, move |at, plan| {
            let job = Job {
                key,
                entropy,
                name: name(named, &argv)?,
                accepted_ms: wall_ms(),
                nodes,
                relay: relaying(relays, at.market.policy.slot_ms(), plan.slots)?,
                spec: JobSpec {
                    argv,
                    env,
                    inputs,
                    outputs,
                    wall_seconds,
                    network,
                    internet,
                    checkpoint,
                },
            };
            Ok(plan.order(at, job))
        });
        self.command(Command::Order(Box::new(order.await??)))
            .await?;
        self.job(id).await
    }

    /// Ends a job: a standing order at once, a running one with its slot. Repeating changes
    /// nothing.
    pub async fn cancel(&self, id: JobId) -> Answer<JobRecord> {
        self.acknowledges()?;
        let key = self.query(move |core| match find(core, &id) {
            Ok((key, agent)) => Ok((key, agent.finish().is_some() || agent.is_cancelling())),
            Err(error) => Err(error),
        });
        let (key, over) = key.await??;
        if !over {
            self.command(Command::Cancel(key)).await?;
        }
        self.job(job_id(&key)).await
    }

    /// Plans in one look at the core, and makes something of the plan there.
    pub(crate) async fn planned<T: Send + 'static>(
        &self,
        want: Want,
        worth: Option<JobWorth>,
        make: impl FnOnce(&Desk<'_>, Plan) -> T + Send + 'static,
    ) -> Answer<T> {
        let board = self.board.clone();
        self.query(move |core| {
            core.account().ok_or_else(no_account)?;
            let mut desk = Desk::of(core, want.class.as_deref())?;
            desk.last = board.last(&desk.market.id).map(|last| last.price);
            let plan = plan(&desk, &want, worth.as_ref())?;
            Ok(make(&desk, plan))
        })
        .await?
    }

    /// The prospects of a wish under each mechanism, as things stand.
    pub async fn prospects(&self, wish: Wish) -> Answer<Vec<Prospect>> {
        let odds = self.odds_of(&wish).await?;
        let board = self.board.clone();
        self.query(move |core| {
            let mut desk = Desk::of(core, wish.class.as_deref())?;
            desk.last = board.last(&desk.market.id).map(|last| last.price);
            desk.odds = odds;
            buy::prospects(&desk, &wish)
        })
        .await?
    }

    /// How bids for a wish would have fared in the last clearings: cleared again outside the core.
    async fn odds_of(&self, wish: &Wish) -> Answer<Odds> {
        if !(1..=limits::ORDER_UNITS).contains(&wish.nodes) {
            return Ok(Odds::default());
        }
        let (name, nodes) = (wish.class.clone(), wish.nodes);
        let class = move |core: &Core| {
            let state = core.state();
            let class = class_named(state, name.as_deref())?.key.id();
            Ok((class, state.calendar().slot_heights()))
        };
        let (class, heights) = self.query(class).await??;
        let records = self.last_clearings(class).await?;
        let tried = tokio::task::spawn_blocking(move || odds(&records, nodes, nodes, heights));
        tried
            .await
            .map_err(|error| internal("clearing again", error))
    }

    /// Every input file must be on this node: the sellers fetch it from here.
    async fn check_staged(&self, inputs: &[InputFile]) -> Answer<()> {
        let (store, inputs) = (self.parts.contents.clone(), inputs.to_vec());
        let missing = tokio::task::spawn_blocking(move || {
            inputs
                .into_iter()
                .find(|input| store.size(&input.content) != Some(input.bytes))
        });
        match missing
            .await
            .map_err(|error| internal("looking for staged files", error))?
        {
            None => Ok(()),
            Some(input) => Err(usage(
                format!(
                    "input {} is not staged with {} bytes",
                    input.path, input.bytes
                ),
                "upload it first: PUT /content",
            )),
        }
    }
}

/// Relays as the core buys them; each for as long as the order runs.
fn relaying(relays: Relays, slot_ms: u64, slots: u32) -> Answer<Relaying> {
    Ok(match relays {
        Relays::Free => Relaying::Free,
        Relays::Off => Relaying::Off,
        Relays::Paid(hourly) => {
            let price = Price::from_hourly(hourly, slot_ms);
            let limit = price
                .and_then(|price| price.times(1))
                .ok_or_else(too_much)?;
            Relaying::Paid(RelayPay { limit, slots })
        }
    })
}

/// The order's local name: the job's id of 16 hex digits.
pub(crate) fn order_key(id: &JobId) -> Answer<OrderKey> {
    id.as_str()
        .parse()
        .map_err(|_| usage(format!("`{id}` is no fresh job id"), "want 16 hex digits"))
}

/// The job's id of an order's local name.
pub(crate) fn job_id(key: &OrderKey) -> JobId {
    JobId::from_bytes(key.0.to_be_bytes())
}

/// Where the user's program stands behind [`PROGRAM`], `lead` and the kind of runtime.
const LED: usize = 3;

/// The name given, or without its folder that of the program, which another may lead; shortened.
fn name(given: Option<String>, argv: &[String]) -> Answer<String> {
    if let Some(name) = given {
        let fits = (1..=limits::NAME_CHARS).contains(&name.chars().count());
        let printable = !name.chars().any(is_unseen);
        return if fits && printable {
            Ok(name)
        } else {
            let hint = format!("want 1 to {} printable characters", limits::NAME_CHARS);
            Err(usage("a job's name out of range", hint))
        };
    }
    let is_led = argv.first().is_some_and(|first| first == PROGRAM);
    let own = argv.get(if is_led { LED } else { 0 }).or(argv.first());
    let program = own.map_or("", String::as_str);
    let file = program.rsplit('/').next().unwrap_or(program);
    let printable = file.chars().filter(|c| !is_unseen(*c));
    Ok(printable.take(limits::NAME_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;

    #[test]
    fn job_ids_and_order_keys_are_the_same_eight_bytes() {
        let key = OrderKey(0x0123_4567_89ab_cdef);
        assert_eq!(job_id(&key).as_str(), "0123456789abcdef");
        assert_eq!(order_key(&job_id(&key)), Ok(key));
        let short = JobId::try_from("0123456789".to_owned()).unwrap();
        assert_eq!(order_key(&short).unwrap_err().code, ErrorCode::Usage);
    }

    #[test]
    fn names() {
        let argv = ["x/y/tool".to_owned()];
        assert_eq!(name(None, &argv).unwrap(), "tool");
        let led = [PROGRAM, "lead", "mpi", "./a.out", "x"].map(str::to_owned);
        assert_eq!(name(None, &led).unwrap(), "a.out");
        assert_eq!(name(Some("my job".into()), &argv).unwrap(), "my job");
        assert_eq!(
            name(None, &["a".repeat(99)]).unwrap().len(),
            limits::NAME_CHARS
        );
        for bad in [String::new(), "a\nb".into(), "a".repeat(65)] {
            assert_eq!(name(Some(bad), &argv).unwrap_err().code, ErrorCode::Usage);
        }
    }
}
