//! The laboratory's requests to a node's API, like those of a user's program.

use anyhow::Context as _;
use gridbay_node::api::client::{self, Client};
use gridbay_node::api::types::{How, JobId, JobRecord, JobRequest, Staged, Want};
use gridbay_protocol::checkpoint::Checkpoint;
use gridbay_protocol::job::InputFile;
use gridbay_protocol::units::Credits;

/// Bytes of one result that are read at the most.
const RESULT_BYTES: usize = 8 << 20;

/// A file to stage.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Path below the work directory.
    pub(crate) path: String,
    /// Content.
    pub(crate) content: Vec<u8>,
}

/// An order and its job.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// Name of the job.
    pub(crate) name: String,
    /// Class.
    pub(crate) class: String,
    /// Nodes, all or none.
    pub(crate) nodes: u32,
    /// Most per node-hour, if that is what it promises.
    pub(crate) max_price: Option<Credits>,
    /// Hard limit on the running time.
    pub(crate) seconds: u32,
    /// How it gets its nodes.
    pub(crate) how: How,
    /// Program and arguments.
    pub(crate) argv: Vec<String>,
    /// Input files.
    pub(crate) inputs: Vec<File>,
    /// Files to bring back.
    pub(crate) outputs: Vec<String>,
    /// How it keeps its progress, if it does.
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// Stages the inputs of an order at a node.
pub(crate) async fn stage(client: &Client, ask: &Ask) -> anyhow::Result<JobRequest> {
    let mut inputs = Vec::new();
    for file in &ask.inputs {
        let bytes = file.content.len() as u64;
        let pieces = futures::stream::iter([Ok(file.content.clone().into())]);
        let staged: Staged = client
            .upload("/content", bytes, pieces)
            .await
            .with_context(|| format!("{} of {} was not staged", file.path, ask.name))?;
        inputs.push(InputFile {
            path: file.path.clone(),
            content: staged.content,
            bytes: staged.bytes,
            executable: false,
        });
    }
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(JobRequest {
        project: None,
        worth: None,
        name: Some(ask.name.clone()),
        want: Want {
            class: Some(ask.class.clone()),
            nodes: ask.nodes,
            max_price: ask.max_price,
            seconds: ask.seconds,
            budget: None,
            how: ask.how.clone(),
        },
        argv: ask.argv.clone(),
        env: Vec::new(),
        inputs,
        outputs: ask.outputs.clone(),
        network: false,
        internet: false,
        relays: Default::default(),
        checkpoint: ask.checkpoint.clone(),
    })
}

/// Hands an order, whose inputs are staged, to a node.
pub(crate) async fn submit(client: &Client, request: &JobRequest) -> anyhow::Result<JobRecord> {
    let name = request.name.as_deref().unwrap_or("without name");
    let record = client.post("/jobs", request, None).await;
    record.with_context(|| format!("order {name} was not accepted"))
}

/// A job as it stands.
pub(crate) async fn job(client: &Client, id: &JobId) -> anyhow::Result<JobRecord> {
    Ok(client.get(&format!("/jobs/{id}")).await?)
}

/// All that a rank printed.
pub(crate) async fn stdout(client: &Client, id: &JobId, rank: u32) -> anyhow::Result<String> {
    let mut text = Vec::new();
    loop {
        let from = text.len();
        let path = format!("/jobs/{id}/logs?rank={rank}&stream=stdout&from={from}");
        let answer = client.download(&path).await?;
        let last = answer
            .headers()
            .get("gridbay-last")
            .is_none_or(|value| value.as_bytes() == b"true");
        let piece = client::body(answer, RESULT_BYTES).await?;
        text.extend_from_slice(&piece);
        if last || piece.is_empty() || text.len() > RESULT_BYTES {
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
    }
}

/// A file that a rank brought back.
pub(crate) async fn file(
    client: &Client,
    id: &JobId,
    rank: u32,
    path: &str,
) -> anyhow::Result<String> {
    let path = format!("/jobs/{id}/files/{rank}/{path}");
    let answer = client.download(&path).await?;
    let bytes = client::body(answer, RESULT_BYTES).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
