//! One counting job on real processes loses its node five times, and goes on elsewhere each time.

use crate::checkpoints::{counting, job, number, of_rank, stdout};
use crate::{PATIENCE, program, turn, until};
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{How, JobRecord, JobState, Offer, OfferRequest};
use gridbay_protocol::units::Credits;
use gridbay_testnet::Progress;
use gridbay_testnet::network::{Network, Node, Plan, RunFolder, plan};
use std::fs;
use std::path::Path;

/// The count at which the job ends.
const END: u32 = 650;
/// Counts in an interval of a second, a poll, and the time that a checkpoint takes to come: the
/// program waits a twentieth of a second for each.
const INTERVAL: u32 = 40;

/// What takes the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// A buy, of a seller that alone can be bought from.
    Bought,
    /// Its owner withdraws the offer.
    Withdrawn,
    /// The seller's node is killed.
    Killed,
}

fn sold(buy: Option<Credits>) -> OfferRequest {
    plan::offer("large", 1, plan::credits(10), buy)
}

/// Four sellers of one large node each, at the same price and to bids alone.
async fn four_sellers(dir: &Path) -> Network {
    let folder = RunFolder::create_in(dir, "moved").unwrap();
    let quiet = Progress::silent();
    let mut plan = Plan::local("moved", 4, 2);
    plan.validators = vec![vec![sold(None)]; 4];
    let started = Network::start(program(), folder, plan, PATIENCE, &quiet);
    started.await.unwrap()
}

/// Where the job counts.
#[derive(Debug)]
struct At {
    seller: String,
    attempt: u32,
    /// The count from which this attempt went on.
    from: u32,
    /// The count by now, in the folder at its seller.
    count: u32,
}

async fn place(network: &Network, buyer: &Client, sent: &JobRecord) -> Option<At> {
    let number_of = async || Some(of_rank(&job(buyer, sent).await, 0).last()?.attempt);
    let now = job(buyer, sent).await;
    let last = *of_rank(&now, 0).last()?;
    let at = |node: &&Node| node.status().is_some_and(|status| status.node == last.node);
    let seller = network.nodes().iter().find(at)?;
    let from = number(&stdout(buyer, sent, 0, None).await, "from ")?;
    let count = count_below(seller.home.path())?;
    // The market may have moved it meanwhile.
    (number_of().await == Some(last.attempt)).then(|| At {
        seller: seller.name.clone(),
        attempt: last.attempt,
        from,
        count,
    })
}

/// The highest count in the checkpoint folders below a seller's home.
fn count_below(folder: &Path) -> Option<u32> {
    let mut highest = None;
    for path in fs::read_dir(folder)
        .ok()?
        .filter_map(|e| Some(e.ok()?.path()))
    {
        let found = if path.ends_with("ckpt/count") {
            fs::read_to_string(&path)
                .ok()
                .and_then(|text| text.trim().parse().ok())
        } else if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
            count_below(&path)
        } else {
            None
        };
        highest = highest.max(found);
    }
    highest
}

/// Buys a node as soon as one can be bought: a new price counts from a later block.
async fn buy_one(rich: &Client) -> JobRecord {
    let mut buy = counting("large", 1, How::BUY, 80, 1);
    buy.checkpoint = None;
    buy.argv = ["sleep", "60"].map(str::to_owned).to_vec();
    until("a buy runs", async || {
        let bought: JobRecord = rich.post("/jobs", &buy, None).await.ok()?;
        let state = until("the buy runs or ends", async || {
            let now = job(rich, &bought).await.state;
            (now == JobState::Running || now.is_final()).then_some(now)
        })
        .await;
        (state == JobState::Running).then_some(bought)
    })
    .await
}

/// Takes the node from the job; the buy that did.
async fn take(network: &mut Network, seller: &str, loss: Loss) -> Option<JobRecord> {
    let client = network.node(seller).client().clone();
    match loss {
        Loss::Bought => {
            let buy = sold(Some(plan::credits(50)));
            let _: Offer = client.put("/offers", &buy).await.unwrap();
            return Some(buy_one(network.node("b2").client()).await);
        }
        Loss::Withdrawn => {
            let offers: Vec<Offer> = client.get("/offers").await.unwrap();
            let own = offers.iter().find(|offer| offer.own).unwrap();
            let path = format!("/offers/{}", own.label);
            let _: Offer = client.delete(&path).await.unwrap();
        }
        Loss::Killed => network.kill(seller).unwrap(),
    }
    None
}

/// Gives a bought node back.
async fn give_back(rich: &Client, bought: &JobRecord) {
    let path = format!("/jobs/{}/cancel", bought.id);
    let _: JobRecord = rich.post(&path, &(), None).await.unwrap();
    until("the buy ends", async || {
        job(rich, bought).await.state.is_final().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_counting_job_that_loses_its_node_five_times_goes_on_elsewhere_each_time() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let mut network = four_sellers(dir.path()).await;
    let buyer = network.node("b1").client().clone();
    let want = counting("large", 1, How::BID, 20, END);
    let sent: JobRecord = buyer.post("/jobs", &want, None).await.unwrap();
    let losses = [
        Loss::Bought,
        Loss::Withdrawn,
        Loss::Bought,
        Loss::Bought,
        Loss::Killed,
    ];
    let mut taken = Vec::new();
    let mut reached = 0;
    for loss in losses {
        // Some intervals on, so that there is something to lose.
        let at = until("it counts on", async || {
            let at = place(&network, &buyer, &sent).await?;
            (at.count >= at.from.max(reached) + 2 * INTERVAL).then_some(at)
        })
        .await;
        assert!(at.from + INTERVAL >= reached, "{at:?} after {reached}");
        assert!(at.count < END, "it ended too early");
        // It lasts until the job is elsewhere: a node that is free again may be won again.
        let bought = take(&mut network, &at.seller, loss).await;
        taken.push(at.attempt);
        let next = until("it is moved", async || {
            let next = place(&network, &buyer, &sent).await?;
            (next.attempt > at.attempt).then_some(next)
        })
        .await;
        assert!(next.from + INTERVAL >= at.count, "{next:?} after {at:?}");
        reached = next.from;
        if let Some(bought) = bought {
            give_back(network.node("b2").client(), &bought).await;
        }
        if loss != Loss::Killed {
            // It left with its grace: no more is lost than the count that it had in hand.
            let said = stdout(&buyer, &sent, 0, Some(at.attempt)).await;
            let told = number(&said, "to ").expect("it was told");
            assert!(next.from + 1 >= told, "{next:?} after {told}");
            let client = network.node(&at.seller).client();
            let _: Offer = client.put("/offers", &sold(None)).await.unwrap();
        }
    }
    let done = until("the job", async || {
        let now = job(&buyer, &sent).await;
        now.state.is_final().then_some(now)
    })
    .await;
    assert_eq!(done.state, JobState::Done, "{done:?}");
    let said = stdout(&buyer, &sent, 0, None).await;
    assert_eq!(number(&said, "end "), Some(END));
    assert!(
        number(&said, "from ") >= Some(reached),
        "{said} after {reached}"
    );
    let attempts = of_rank(&done, 0);
    // One that was placed at the dead seller again never ran.
    let ran: Vec<_> = attempts.iter().filter(|a| a.started_ms.is_some()).collect();
    for number in taken {
        let mut from_there = ran.iter().skip_while(|a| a.attempt != number);
        let (lost, next) = (from_there.next().unwrap(), from_there.next().unwrap());
        assert_ne!(lost.node, next.node, "{attempts:?}");
        let from = next.resumed.expect("it went on");
        assert_eq!(from.attempt, number, "{attempts:?}");
    }
}
