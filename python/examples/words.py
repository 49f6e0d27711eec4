# %% [markdown]
# # The commonest letters of a text, by Dask on leased nodes
#
# Each cell can be run alone in an editor that knows `# %%`, or the whole file with `python3`. It
# needs `pip install 'gridbay[dask]'`.

# %%
import os
from collections import Counter

from distributed import Client

from gridbay.dask import Cluster

TEXT = "it was the best of times it was the worst of times it was the age of wisdom " * 1_000

# %% [markdown]
# Dask reads what comes back as pickles, so the sellers have to be trusted. The lease is given up
# where the block ends.

# %%
with Cluster(
    nodes=2,
    seconds=600,
    class_=os.environ.get("GRIDBAY_CLASS"),
    trust_workers=True,
) as cluster, Client(cluster) as client:
    parts = [TEXT[begin : begin + 5_000] for begin in range(0, len(TEXT), 5_000)]
    counts = client.map(Counter, parts)
    whole = client.submit(sum, counts, Counter()).result()

for letter, count in whole.most_common(3):
    print(repr(letter), count)
print(f"{len(parts)} parts on 2 nodes: {cluster.paid} credits so far")
