"""Runs where a leased node runs it, with its python3 alone: the share of a rank of a batch.

`calls.bin` holds a list of pickled calls. A rank makes every call whose place in the list it is
due, and leaves `results.bin`: a list of (place, worked, pickle). A call that fails does not keep
the others from being made.
"""

import os
import pickle
import sys
import traceback


def made(call):
    """Whether a call worked, and its result or its failure as bytes."""
    import cloudpickle

    try:
        function, arguments, names = pickle.loads(call)
        return True, cloudpickle.dumps(function(*arguments, **names))
    except Exception as error:
        told = (type(error).__name__, str(error), traceback.format_exc())
        return False, pickle.dumps(told)


def main():
    with open("calls.bin", "rb") as file:
        version, calls = pickle.load(file)
    own = sys.version_info[:2]
    if own != tuple(version):
        # Functions travel as code of one version.
        text = "this node has Python %d.%d, the calls are of %d.%d\n" % (*own, *version)
        sys.stderr.write(text)
        return 3
    rank = int(os.environ.get("GRIDBAY_RANK", "0"))
    size = int(os.environ.get("GRIDBAY_SIZE", "1"))
    results = [(place, *made(calls[place])) for place in range(rank, len(calls), size)]
    with open("results.tmp", "wb") as file:
        pickle.dump(results, file)
    os.rename("results.tmp", "results.bin")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.exit(main())
