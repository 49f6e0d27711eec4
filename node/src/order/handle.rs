//! Orders: quoting, placing, cancelling.
//!
//! A [`Want`] becomes a plan in one look at the core, and the plan a quote or an order. A submitted
//! order is planned afresh: the market may have moved since it was quoted.

use super::class::Chosen;
use super::plan::{Ask, Job, Plan, too_much};
use crate::api::scope::Role;
use crate::api::types::{
    JobId, JobRecord, JobRequest, JobWorth, Prospect, Quote, Relays, Want, Wish,
};
use crate::api::{ApiError, ErrorCode};
use crate::backend::failure::{gone, internal, no_account, usage};
use crate::backend::{NodeBackend, wall_ms};
use crate::buy;
use crate::job::handle::find;
use crate::keys::random;
use crate::market::class_named;
use crate::market::desk::{Answer, Desk};
use crate::market::odds::Odds;
use crate::project::Actor;
use crate::rank::PROGRAM;
use crate::ui::is_unseen;
use gridbay_core::Core;
use gridbay_core::buy::{NewOrder, RelayPay, Relaying};
use gridbay_core::cluster::RANKS;
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_core::project::{ProjectBounds, ProjectMark};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::job::{InputFile, JobSpec};
use gridbay_protocol::limits;
use gridbay_protocol::units::{Credits, Price};

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

    /// Accepts a job under `id`, durably. An id accepted before gives its record again, if it was
    /// for the same request.
    pub async fn submit(&self, id: JobId, request: JobRequest) -> Answer<JobRecord> {
        self.submit_for(&Actor::Node, id, request).await
    }

    /// Refuses an order while the node is halted. Of one that it has taken it does not say that
    /// nothing was done.
    fn may_take(&self, key: &OrderKey) -> Answer<()> {
        match self.parts.orders.holds(key) {
            true => self.parts.body.acknowledges().map_err(gone),
            false => self.acknowledges(),
        }
    }

    /// The same for whoever asks.
    pub(crate) async fn submit_for(
        &self,
        actor: &Actor,
        id: JobId,
        request: JobRequest,
    ) -> Answer<JobRecord> {
        let now_ms = wall_ms();
        let project = self.project_for(actor, &request, now_ms)?;
        let key = order_key(&id)?;
        self.may_take(&key)?;
        let mark = mark(&request)?;
        if self.known_as(key, mark).await? {
            return self.seen(actor, id).await;
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
            project: _,
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
                request: mark,
                entropy,
                name: name(named, &argv)?,
                accepted_ms: now_ms,
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
            let most = plan.most;
            let order = plan.order(at, job);
            let (_, budget, _) = buy::in_words(&order, at.core.state());
            Ok((Box::new(order), most.max(budget)))
        });
        let (order, most) = order.await??;
        self.command(command(order, most, project, actor)).await?;
        // Another request may have come first meanwhile; the core keeps that one.
        self.known_as(key, mark).await?;
        self.job(id).await
    }

    /// The record of a job that was accepted before.
    async fn seen(&self, actor: &Actor, id: JobId) -> Answer<JobRecord> {
        let job = self.job(id).await?;
        match actor.may(&self.parts.projects, job.project.as_deref(), Role::Reader) {
            true => Ok(job),
            false => Err(usage(
                "this key belongs to a job of another project",
                "use a fresh key for each request",
            )),
        }
    }

    /// Whether there is an order of a name.
    ///
    /// # Errors
    /// It is that of another request. Orders of before requests were marked have no mark.
    async fn known_as(&self, key: OrderKey, mark: Hash32) -> Answer<bool> {
        let known = move |core: &Core| core.buyer().order(&key).map(|agent| agent.order().request);
        match self.query(known).await? {
            Some(Some(before)) if before != mark => Err(ApiError::new(
                ErrorCode::Conflict,
                "this key belongs to an order of another request",
                "use a fresh key for each request",
            )),
            known => Ok(known.is_some()),
        }
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

    /// Plans in one look at the core, and makes something of the plan there. An order that names no
    /// class has the cheapest that fits.
    pub(crate) async fn planned<T: Send + 'static>(
        &self,
        want: Want,
        worth: Option<JobWorth>,
        make: impl FnOnce(&Desk<'_>, Plan) -> T + Send + 'static,
    ) -> Answer<T> {
        let chosen = self.class_for(&want).await?;
        self.planned_in(chosen, want, worth, make).await
    }

    /// The same in a class that was chosen.
    pub(super) async fn planned_in<T: Send + 'static>(
        &self,
        (class, among): Chosen,
        want: Want,
        worth: Option<JobWorth>,
        make: impl FnOnce(&Desk<'_>, Plan) -> T + Send + 'static,
    ) -> Answer<T> {
        let board = self.board.clone();
        self.query(move |core| {
            core.account().ok_or_else(no_account)?;
            let mut desk = Desk::of(core, &class)?;
            desk.among = among;
            desk.last = board.last(&desk.market.id).map(|last| last.price);
            let plan = plan(&desk, &want, worth.as_ref())?;
            Ok(make(&desk, plan))
        })
        .await?
    }

    /// The prospects of a wish under each mechanism, as things stand.
    pub async fn prospects(&self, wish: Wish) -> Answer<Vec<Prospect>> {
        let (class, _) = self.class_for_wish(&wish).await?;
        let odds = self.odds_of(&wish, class.clone()).await?;
        let board = self.board.clone();
        self.query(move |core| {
            let mut desk = Desk::of(core, &class)?;
            desk.last = board.last(&desk.market.id).map(|last| last.price);
            desk.odds = odds;
            buy::prospects(&desk, &wish)
        })
        .await?
    }

    /// How bids for a wish would have fared in the last clearings: as [`NodeBackend::odds`] finds.
    async fn odds_of(&self, wish: &Wish, name: String) -> Answer<Odds> {
        if !(1..=limits::ORDER_UNITS).contains(&wish.nodes) {
            return Ok(Odds::default());
        }
        let nodes = wish.nodes;
        let class = move |core: &Core| {
            let state = core.state();
            let class = class_named(state, &name)?.key.id();
            Ok((class, state.calendar().slot_heights()))
        };
        let (class, heights) = self.query(class).await??;
        self.odds(class, nodes, nodes, heights).await
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

/// The mark of a request, which tells it from others.
fn mark(request: &JobRequest) -> Answer<Hash32> {
    let text = serde_json::to_vec(request).map_err(|error| internal("marking a request", error))?;
    Ok(Hash32(blake3::derive_key("gridbay/job-request/1", &text)))
}

/// The command that takes an order, which can cost so much, for a project or for none.
fn command(
    order: Box<NewOrder>,
    most: Credits,
    project: Option<(String, ProjectBounds)>,
    actor: &Actor,
) -> Command {
    let Some((project, bounds)) = project else {
        return Command::Order(order);
    };
    let user = actor.user().map(str::to_owned);
    let mark = ProjectMark {
        project,
        user,
        most,
    };
    Command::ProjectOrder(order, mark, bounds)
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
