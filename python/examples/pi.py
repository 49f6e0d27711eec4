# %% [markdown]
# # Pi, by throwing darts on leased nodes
#
# Each cell can be run alone in an editor that knows `# %%`, or the whole file with `python3`.

# %%
import random

from gridbay import Client, Executor, Want

node = Client()
print("the node is", node.node.status()["state"])

# %% [markdown]
# What there is to buy, and what it would cost.

# %%
for price in node.market.prices():
    print(price["class"], price["units_offered"], "units, from", price["buy"], "credits an hour")

want = Want(nodes=2, seconds=30)
quote = node.market.quote(want)
print("at most", quote["most"], "credits, of class", quote["class"], "as the cheapest")

# %% [markdown]
# A function of this file runs there as it is. It returns plain data.


# %%
def hits(seed, darts):
    dice = random.Random(seed)
    return sum(dice.random() ** 2 + dice.random() ** 2 < 1 for _ in range(darts))


# %% [markdown]
# Sixteen calls are one job on two nodes.

# %%
DARTS = 50_000

with Executor(node, want=want, ranks=2, patience=120) as executor:
    inside = sum(executor.map(hits, range(16), [DARTS] * 16))

print(f"pi is about {4 * inside / (16 * DARTS):.3f}")
print(executor.statement())
