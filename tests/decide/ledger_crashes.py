"""Adds releases in processes that are killed at random moments; run as a program, so that forking is safe.

Prints a line of JSON: what the killed processes said they had added, and how many died while adding.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from discreet.decide.ledger import Ledger
from discreet.decide.ledger.joined_tables import refuse_contradiction
from discreet.table.figures import Figures
from discreet.table.release import Release


def release(number: int) -> Release:
    """Return a release that is told from all others, large enough to need several pages."""
    values = [[(number * 7919 + i * 31 + j * 17) % 1000 for j in range(12)] for i in range(40)]
    labels = {"area": [f"a{i}" for i in range(40)], "age": [f"b{j}" for j in range(12)]}
    return Release.of(Figures.from_array(values, labels, name=f"release {number}"))


def child(path: Path, first: int, pipe: int) -> None:
    """Add releases until killed, and say of each when it is done."""
    with Ledger(path) as ledger:
        os.write(pipe, b"open\n")
        for number in range(first, first + 1000):
            entry = ledger.add(release(number), title=f"release {number}")
            os.write(pipe, f"{number} {entry.id}\n".encode())


def main(path: Path, kills: int, seed: int) -> None:
    """Kill as many processes as asked for."""
    draw = random.Random(seed)
    # What every child needs is loaded once, before they are forked.
    refuse_contradiction(release(0))
    done: dict[str, str] = {}
    busy = 0
    for kill in range(kills):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            try:
                child(path, kill * 1000, writer)
            finally:
                os._exit(1)
        os.close(writer)
        # Some die while they open the ledger, most somewhere in the adding that follows a few that are done.
        told = b""
        if kill % 5:
            for _ in range(1 + draw.randrange(4)):
                told += os.read(reader, 100)
        time.sleep(draw.uniform(0.0, 0.006))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(reader, "rb") as stream:
            lines = (told + stream.read()).decode().splitlines()
        busy += bool(lines)
        for line in lines:
            if line != "open":
                number, name = line.split()
                done[name] = number
    print(json.dumps({"done": done, "busy": busy}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
