"""Processes that run commands for the page: quick ones at once, long ones alongside, any of them replaceable.

Each command runs in a process of its own: a long comparison slows nobody and is cancelled by ending its process, and a
process that dies takes only one command with it. No process opens what is outside the folder.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Literal, TypeAlias

from discreet.workbench.confinement import Confines, confine

State: TypeAlias = Literal["waiting", "running", "done", "refused", "failed", "cancelled"]
Perform: TypeAlias = Callable[[list[str], Callable[[int, int, str], None]], tuple[int, str, str]]
"""Runs a command line and returns its exit code and what it printed for programs and as complaints."""

QUICK, LONG = 4, 3
"""The most processes for quick commands and for long ones: round choices for one person's clicks."""
READY = 2
"""How many processes wait for the first commands, a round choice; others start when needed."""
WARM = (
    "discreet.table.inspection",
    "discreet.table.release_reader",
    "discreet.protect",
    "discreet.measures.risk",
    "discreet.utility.loss",
    "discreet.auditing.audit",
    "discreet.rules",
)
"""What most commands need, loaded once and shared by all processes."""
KEPT = 400
"""How many finished jobs are remembered: a round choice, a long session's worth."""
MEMORY = min(12 * 2**30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4 + 2**31)
"""The most address space of a command: three quarters of the memory and 2 GiB that libraries map, at most 12 GiB."""


@dataclass(frozen=True)
class Order:
    """A command to run: how it is typed, its input from the page, its session, and what it may open."""

    arguments: list[str]
    command: str
    name: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    long: bool = False
    session: str = ""
    reach: Confines = field(default_factory=Confines)


@dataclass(eq=False)
class Job:
    """A running command: what it is, its progress, and what it printed."""

    number: int
    order: Order
    state: State = "waiting"
    done: int = 0
    total: int = 0
    label: str = ""
    code: int | None = None
    printed: str = ""
    error: str = ""
    started: float = 0.0
    finished: threading.Event = field(default_factory=threading.Event)
    listeners: list[Callable[[], object]] = field(default_factory=list)

    def tell(self, listener: Callable[[], object]) -> None:
        """Notify somebody when it is over, at once if it is."""
        self.listeners.append(listener)
        if self.finished.is_set():
            listener()

    def end(self) -> None:
        """Note that it is over."""
        self.finished.set()
        for listener in list(self.listeners):
            listener()

    def to_json(self) -> str:
        """Return JSON for the page, with what the command printed as it is."""
        share = self.done / self.total if self.total else 0.0
        passed = time.monotonic() - self.started if self.started else 0.0
        about = {
            "job": self.number,
            "command": self.order.command,
            "state": self.state,
            "progress": {"done": self.done, "total": self.total, "label": self.label},
            "left": round(passed * (1 - share) / share, 1) if 0.1 <= share < 1 and self.state == "running" else None,
            "code": self.code,
            "error": self.error,
        }
        return f'{json.dumps(about)[:-1]}, "result": {self.printed or "null"}}}'


class Workers:
    """A few processes and the jobs that wait for them."""

    def __init__(self, perform: Perform, folder: Path, *, after: Callable[[Job], None]) -> None:
        """Start the processes; they work in the folder; `after` gets every job that printed something."""
        self._perform, self._folder, self._after = perform, folder, after
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([perform.__module__, *WARM])
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._queues: dict[bool, queue.Queue[Job | None]] = {False: queue.Queue(), True: queue.Queue()}
        self._running: dict[int, ForkServerProcess] = {}
        self._closing = False
        kinds = [(False, number < READY) for number in range(QUICK)] + [(True, False)] * LONG
        self._threads = [threading.Thread(target=self._serve, args=kind, daemon=True) for kind in kinds]
        for thread in self._threads:
            thread.start()

    def submit(self, order: Order) -> Job:
        """Queue a command; it runs as soon as a process is free."""
        with self._lock:
            job = Job(next(self._numbers), order)
            self._jobs[job.number] = job
            over = [n for n, one in self._jobs.items() if one.finished.is_set()]
            for number in over[: max(len(self._jobs) - KEPT, 0)]:
                del self._jobs[number]
        self._queues[order.long].put(job)
        return job

    def job(self, number: int) -> Job | None:
        """Return a job by its number."""
        return self._jobs.get(number)

    def unfinished(self) -> list[Job]:
        """Return the jobs that wait or run."""
        with self._lock:
            return [job for job in self._jobs.values() if not job.finished.is_set()]

    def cancel(self, job: Job) -> None:
        """Stop a job, whether it waits or runs."""
        with self._lock:
            if job.finished.is_set():
                return
            job.state = "cancelled"
            process = self._running.get(job.number)
        if process is not None:
            process.kill()
        else:
            job.end()

    def close(self) -> None:
        """Stop everything."""
        self._closing = True
        for job in self.unfinished():
            self.cancel(job)
        for waiting in self._queues.values():
            for _ in self._threads:
                waiting.put(None)
        for thread in self._threads:
            thread.join(timeout=5)

    def _serve(self, long: bool, ready: bool) -> None:
        """Hand jobs to one process after another; a process serves until it dies or is stopped."""
        process, pipe = self._start(long) if ready else (None, None)
        while not self._closing:
            job = self._queues[long].get()
            if job is None:
                break
            with self._lock:
                if job.state == "cancelled":
                    continue
                if process is None or pipe is None or not process.is_alive():
                    process, pipe = self._start(long)
                job.state, job.started = "running", time.monotonic()
                self._running[job.number] = process
            self._follow(job, process, pipe)
            with self._lock:
                self._running.pop(job.number, None)
            if job.printed and job.order.name:
                self._after(job)
            job.end()
        if process is not None:
            process.kill()
            process.join(timeout=5)

    def _start(self, long: bool) -> tuple[ForkServerProcess, Connection]:
        here, there = self._context.Pipe()
        process = self._context.Process(target=_work, args=(there, self._perform, str(self._folder), long), daemon=True)
        process.start()
        there.close()
        return process, here

    def _follow(self, job: Job, process: ForkServerProcess, pipe: Connection) -> None:
        """Send a job to its process, and take what comes back until it is done or the process is gone."""
        try:
            pipe.send((job.order.arguments, job.order.reach))
            while (message := pipe.recv())[0] == "progress":
                _, job.done, job.total, job.label = message
            _, job.code, out, complaint = message
        except (EOFError, OSError):
            process.join(timeout=5)
            if job.state != "cancelled":
                job.state = "failed"
                job.error = (
                    "the process that ran this was stopped from outside (out of memory, or killed); nothing else is "
                    "lost, and the command can be run again"
                )
            return
        if job.code in (0, 1) and out.startswith("{"):
            job.printed, job.state = out, "done"
        else:
            job.state = "refused" if job.code == 2 else "failed"
            job.error = complaint.removeprefix("discreet: ").strip() or "the command printed nothing"


def _work(pipe: Connection, perform: Perform, folder: str, long: bool) -> None:
    """Run commands one after another until the other end of the pipe is closed."""
    import resource
    import signal

    from discreet.workbench import sheets

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    if long:
        # Quick answers go first.
        os.nice(10)
    os.chdir(folder)
    confinement = confine(Path(folder))
    last = 0.0

    def listen(done: int, total: int, label: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.1 or done == total:
            last = now
            pipe.send(("progress", done, total, label))

    while True:
        try:
            arguments, confinement.reach = pipe.recv()
        except (EOFError, OSError):
            return
        does = sheets.perform if arguments[0] in sheets.TASKS else perform
        pipe.send(("done", *does(arguments, listen)))
