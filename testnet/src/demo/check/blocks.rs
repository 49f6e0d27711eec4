//! All nodes hold the same chain: the same bytes of every header, the same block and the same state
//! root at the last height that all of them have.

use super::Verdict;
use crate::demo::evidence::Evidence;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let Some(first) = evidence.chains.first() else {
        return Err("no node showed its chain".to_owned());
    };
    if first.headers.is_empty() || first.headers.len() as u64 != first.height {
        let (node, headers, height) = (&first.node, first.headers.len(), first.height);
        return Err(format!("{node} showed {headers} headers of {height}"));
    }
    for other in &evidence.chains[1..] {
        let pair = format!("{} and {}", first.node, other.node);
        if other.height != first.height || other.block != first.block {
            return Err(format!("{pair} differ in the block at {}", first.height));
        }
        if other.state_root != first.state_root {
            return Err(format!("{pair} differ in the state at {}", first.height));
        }
        let mut pairs = first.headers.iter().zip(&other.headers);
        if let Some(height) = pairs.position(|(a, b)| a != b) {
            return Err(format!("{pair} differ at height {}", height + 1));
        }
        if other.headers.len() != first.headers.len() {
            let (headers, wanted) = (other.headers.len(), first.headers.len());
            return Err(format!(
                "{} showed {headers} of {wanted} headers",
                other.node
            ));
        }
    }
    let nodes = evidence.chains.len();
    let (height, root) = (first.height, first.state_root);
    Ok(format!("{nodes} nodes, {height} blocks, state {root}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;
    use gridbay_protocol::ids::{BlockId, Hash32};

    #[test]
    fn any_difference_is_found() {
        let mut bad = sample::good();
        bad.chains[1].block = BlockId([9; 32]);
        assert!(judge(&bad).unwrap_err().contains("block"));
        let mut bad = sample::good();
        bad.chains[1].state_root = Hash32([9; 32]);
        assert!(judge(&bad).unwrap_err().contains("state"));
        let mut bad = sample::good();
        bad.chains[1].headers[0][0] ^= 1;
        assert!(judge(&bad).unwrap_err().contains("height 1"));
        let mut bad = sample::good();
        bad.chains[1].headers.pop();
        assert!(judge(&bad).is_err());
        let mut bad = sample::good();
        bad.chains[0].headers.pop();
        assert!(judge(&bad).is_err());
        bad.chains.clear();
        assert!(judge(&bad).is_err());
    }
}
