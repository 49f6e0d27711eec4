//! Orders: quoting, placing, cancelling.

use super::contract;
use super::deadline;
use super::failure::{internal, no_account, usage};
use super::job::find;
use super::ledger::spendable;
use super::market::{Market, class_named, held};
use super::plan::{Plan, buy, plan, quote, slots};
use super::{Answer, NodeBackend, share, wall_ms};
use crate::api::ApiError;
use crate::api::types::{How, JobId, JobRecord, JobRequest, JobWorth, Quote, Want};
use crate::keys::random;
use gridbay_core::buy::{BidTerms, NewOrder, Terms, Worth};
use gridbay_core::input::Command;
use gridbay_core::key::OrderKey;
use gridbay_protocol::job::{InputFile, JobSpec};
use gridbay_protocol::limits;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::Credits;

impl NodeBackend {
    /// What an order would cost.
    pub async fn quote(&self, want: Want) -> Answer<Quote> {
        let (market, plan, spendable) = self.plan_order(&want).await?;
        Ok(quote(&want, &market, &plan, spendable))
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
        let (market, plan, _) = self.plan_order(&request.want).await?;
        let entropy = random().map_err(|error| internal("no fresh randomness", error))?;
        let order = new_order(key, entropy, wall_ms(), request, &market, plan)?;
        self.command(Command::Order(Box::new(order))).await?;
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

    /// The market of the wanted class, the plan, and what the own account could spend.
    pub(super) async fn plan_order(&self, want: &Want) -> Answer<(Market, Plan, Credits)> {
        let asked = want.clone();
        let looked = self.query(move |core| {
            let state = core.state();
            let account = core.account().ok_or_else(no_account)?;
            let class = class_named(state, asked.class.as_deref())?;
            let mut market = Market::of(state, class, &held(state));
            if let How::Share(claim) = &asked.how {
                market.pool = Some(share::look(core, class, &asked, claim)?);
            }
            let planned = match &asked.how {
                How::Deadline { .. } => Some(deadline::plan(state, &account, &asked, &market)?),
                How::Contract(how) => {
                    let provider = contract::provider(state, &how.provider)?;
                    Some(contract::plan(&asked, how, &market, provider)?)
                }
                How::Buy { also, .. } if !also.is_empty() => {
                    let others = buy::others(state, &asked, &market)?;
                    let plan = buy::buy(&asked, &market, &others, slots(&asked, &market)?)?;
                    market.and(others);
                    Some(plan)
                }
                How::Ausubel { .. } | How::Buy { .. } | How::Reservation(_) | How::Share(_) => None,
            };
            Ok::<_, ApiError>((market, planned, spendable(state, &account)))
        });
        let (market, planned, spendable) = looked.await??;
        let plan = match planned {
            Some(plan) => plan,
            None => {
                let last = self.board.last(&market.id).map(|last| last.price);
                plan(want, &market, last)?
            }
        };
        Ok((market, plan, spendable))
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

/// The order's local name: the job's id of 16 hex digits.
pub(super) fn order_key(id: &JobId) -> Answer<OrderKey> {
    id.as_str()
        .parse()
        .map_err(|_| usage(format!("`{id}` is no fresh job id"), "want 16 hex digits"))
}

/// The job's id of an order's local name.
pub(super) fn job_id(key: &OrderKey) -> JobId {
    JobId::from_bytes(key.0.to_be_bytes())
}

fn new_order(
    key: OrderKey,
    entropy: [u8; 32],
    accepted_ms: u64,
    request: JobRequest,
    market: &Market,
    plan: Plan,
) -> Answer<NewOrder> {
    let worth = worth(request.worth, &request.want, market)?;
    let mut plan = plan;
    if let (Some(worth), Terms::Sealed(BidTerms { steps, .. })) = (worth, &mut plan.terms) {
        let units = request.want.nodes;
        let price = worth.bid(worth.length, units);
        *steps = vec![Step { units, price }];
    }
    Ok(NewOrder {
        worth,
        key,
        entropy,
        name: name(request.name, &request.argv)?,
        accepted_ms,
        class: market.id,
        terms: plan.terms,
        slots: plan.slots,
        tasks: request.want.all_nodes(),
        spec: JobSpec {
            argv: request.argv,
            env: request.env,
            inputs: request.inputs,
            outputs: request.outputs,
            wall_seconds: request.want.seconds,
        },
    })
}

/// A worth is for a bid for all nodes or none; its length in whole slots, rounded up, fits the order's time.
fn worth(asked: Option<JobWorth>, want: &Want, market: &Market) -> Answer<Option<Worth>> {
    let Some(asked) = asked else {
        return Ok(None);
    };
    if want.how != How::BID {
        return Err(usage(
            "a worth is for a bid for all nodes or none",
            "leave out --worth, or the other way to get nodes",
        ));
    }
    if asked.length_seconds == 0 || asked.length_seconds > want.seconds {
        let what = format!("a job of {} seconds", asked.length_seconds);
        let hint = format!(
            "it has {} seconds at most: give it more --time",
            want.seconds
        );
        return Err(usage(what, hint));
    }
    let slot_ms = market.policy.slot_ms().max(1);
    let slots = (u64::from(asked.length_seconds) * 1_000).div_ceil(slot_ms);
    Ok(Some(Worth {
        worth: asked.worth,
        length: u32::try_from(slots).unwrap_or(u32::MAX),
    }))
}

/// The name given, or the program's without its folder, shortened.
fn name(given: Option<String>, argv: &[String]) -> Answer<String> {
    if let Some(name) = given {
        let fits = (1..=limits::NAME_CHARS).contains(&name.chars().count());
        let printable = !name.chars().any(char::is_control);
        return if fits && printable {
            Ok(name)
        } else {
            let hint = format!("want 1 to {} printable characters", limits::NAME_CHARS);
            Err(usage("a job's name out of range", hint))
        };
    }
    let program = argv.first().map_or("", String::as_str);
    let file = program.rsplit('/').next().unwrap_or(program);
    let printable = file.chars().filter(|c| !c.is_control());
    Ok(printable.take(limits::NAME_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::super::market::tests::market;
    use super::*;
    use crate::api::ErrorCode;

    fn request() -> JobRequest {
        JobRequest {
            worth: None,
            name: None,
            want: Want {
                class: None,
                nodes: 4,
                max_price: None,
                seconds: 9,
                budget: None,
                how: How::Ausubel { divisible: true },
            },
            argv: vec!["/bin/echo".into(), "hi".into()],
            env: vec![("A".into(), "b".into())],
            inputs: vec![],
            outputs: vec!["out".into()],
        }
    }

    #[test]
    fn job_ids_and_order_keys_are_the_same_eight_bytes() {
        let key = OrderKey(0x0123_4567_89ab_cdef);
        assert_eq!(job_id(&key).as_str(), "0123456789abcdef");
        assert_eq!(order_key(&job_id(&key)), Ok(key));
        let short = JobId::try_from("0123456789".to_owned()).unwrap();
        assert_eq!(order_key(&short).unwrap_err().code, ErrorCode::Usage);
    }

    #[test]
    fn a_request_becomes_an_order() {
        let market = market(&[(8, 8, 50, None)]);
        let plan = plan(&request().want, &market, None).unwrap();
        let order = new_order(OrderKey(7), [3; 32], 99, request(), &market, plan).unwrap();
        assert_eq!(
            (order.name.as_str(), order.tasks, order.slots),
            ("echo", 4, 5)
        );
        assert_eq!((order.class, order.accepted_ms), (market.id, 99));
        assert!(order.spec.is_valid());
        assert_eq!(order.spec.wall_seconds, 9);
    }

    #[test]
    fn a_worth_is_for_whole_slots_of_a_bid_for_all_or_none() {
        let market = market(&[(8, 8, 50, None)]);
        let asked = |length_seconds| {
            Some(JobWorth {
                worth: "2".parse().unwrap(),
                length_seconds,
            })
        };
        let want = Want {
            how: How::BID,
            ..request().want
        };
        let found = worth(asked(9), &want, &market).unwrap().unwrap();
        assert_eq!((found.length, found.worth.to_string().as_str()), (5, "2"));
        assert_eq!(worth(None, &want, &market), Ok(None));
        assert!(worth(asked(0), &want, &market).is_err());
        assert!(
            worth(asked(10), &want, &market).is_err(),
            "longer than its time"
        );
        assert!(
            worth(asked(9), &request().want, &market).is_err(),
            "divisible"
        );
    }

    #[test]
    fn names() {
        let argv = ["x/y/tool".to_owned()];
        assert_eq!(name(None, &argv).unwrap(), "tool");
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
