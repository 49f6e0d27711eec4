"""Runs where a leased node runs it, once on each rank: a worker of Dask, and on rank 0 its
scheduler as well.

1. Dask comes along in `packages.zip`, so that it is the same as the one of the cluster's owner.
2. All speak TLS with the key in `cluster.json`, and listen at the rank's address in the lease's
   network alone.
3. The scheduler ends, and with it the job, when nothing was heard of the owner's cluster for a
   while: its process may have been killed, and the lease costs money.
"""

import asyncio
import json
import os
import shutil
import sys
import time
import zipfile

#: Where the scheduler answers.
PORT = 8786
#: Seconds that a worker looks for its scheduler, which may have to start anew elsewhere.
LOST = 120.0
#: What is heard where the scheduler was, once it ended for good, and for how many seconds.
OVER, FAREWELL = b"over", 20.0
#: Exit codes: another Python, and no scheduler.
OTHER_PYTHON, ALONE = 3, 4


def unpacked():
    """Dask in this folder, for this process and those that it starts."""
    place = os.path.abspath("packages")
    if not os.path.isdir(place):
        shutil.rmtree("packages.tmp", ignore_errors=True)
        with zipfile.ZipFile("packages.zip") as packed:
            packed.extractall("packages.tmp")
        os.rename("packages.tmp", place)
    sys.path.insert(0, place)
    os.environ["PYTHONPATH"] = place


def secured(plan):
    """What all parts of a cluster show one another, and ask for."""
    from distributed.security import Security

    parts = {"tls_ca_file": plan["cert"]}
    for role in ("client", "scheduler", "worker"):
        parts["tls_%s_key" % role], parts["tls_%s_cert" % role] = plan["key"], plan["cert"]
    return Security(require_encryption=True, **parts)


async def schedule(plan, security, own):
    """A scheduler, for as long as the owner's cluster is heard of."""
    from distributed import Scheduler

    heard = time.monotonic()

    async def alive():
        nonlocal heard
        heard = time.monotonic()

    async with Scheduler(
        host=own, port=PORT, protocol="tls", security=security, dashboard=False
    ) as scheduler:
        scheduler.handlers["gridbay_alive"] = alive
        while time.monotonic() - heard < plan["abandoned"]:
            await asyncio.sleep(1)
    print("nothing was heard of the cluster's owner", file=sys.stderr)

    async def over(_, writer):
        writer.write(OVER)
        writer.close()

    # So that the other ranks wait for none.
    async with await asyncio.start_server(over, own, PORT):
        await asyncio.sleep(FAREWELL)


async def found():
    """Waits a while for a scheduler: whether there is one, or `OVER`."""
    end = time.monotonic() + LOST
    while time.monotonic() < end:
        try:
            reader, writer = await asyncio.open_connection("rank0", PORT)
        except OSError:
            await asyncio.sleep(0.3)
            continue
        try:
            # A scheduler waits for the other end's word.
            said = await asyncio.wait_for(reader.read(len(OVER)), 1)
        except (OSError, asyncio.TimeoutError):
            said = b""
        writer.close()
        return OVER if said == OVER else True
    return False


async def work(plan, security, own, rank):
    """Workers one after the other, each until its scheduler is gone: the exit code when none comes
    back."""
    import resource

    from distributed import Nanny

    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    while (there := await found()) is True:
        async with Nanny(
            "tls://rank0:%d" % PORT,
            name="rank%d" % rank,
            host=own,
            nthreads=plan["threads"],
            memory_limit="auto" if memory == resource.RLIM_INFINITY else memory,
            local_directory=os.path.abspath("scratch"),
            security=security,
            dashboard=False,
        ) as nanny:
            await nanny.finished()
    return 0 if there == OVER else ALONE


async def run(plan):
    security, own = secured(plan), os.environ["GRIDBAY_ADDRESS"]
    rank = int(os.environ["GRIDBAY_RANK"])
    working = asyncio.ensure_future(work(plan, security, own, rank))
    if rank == 0:
        scheduling = asyncio.ensure_future(schedule(plan, security, own))
        await asyncio.wait([scheduling, working], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            # Its failure is this program's.
            working.result()
        await scheduling
        return 0
    return await working


def main():
    with open("cluster.json") as file:
        plan = json.load(file)
    own = sys.version_info[:2]
    if own != tuple(plan["python"]):
        # Functions travel as code of one version, and so do Dask's compiled parts.
        text = "this node has Python %d.%d, the cluster is of %d.%d\n" % (*own, *plan["python"])
        sys.stderr.write(text)
        return OTHER_PYTHON
    unpacked()
    code = asyncio.run(run(plan))
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of Dask that still wait keep nobody.
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
