"""The server behind the page: files, commands, sessions; on the loopback only."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import signal
import socket
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import IO

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect

from discreet.core.errors import DiscreetError, RequestError, nearest
from discreet.core.json_types import JsonObject
from discreet.workbench.commands import PLAN, arguments_of, commands_of, shown
from discreet.workbench.confinement import Confines
from discreet.workbench.guard import Guard, Keys, TooLargeError, TooSlowError
from discreet.workbench.policies import listed_policies
from discreet.workbench.workers import Job, Order, Perform, Workers
from discreet.workbench.workspace import NAME, Workspace, defused

LARGEST = 256 * 2**20
"""The most bytes that are taken at once: a round choice, a table of some ten million cells."""
CROWD = 512
"""The most connections at once, a round choice: a page holds six."""
LONG = frozenset({"assess", "compare", "plan run", "protect suppress", "tabulate"})
"""Commands that may take minutes."""
TABLES = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".tab")
"""Files that hold a table, records or a release: the first one that is named at the start is shown at once."""
STATUS: dict[type[Exception], int] = {TooLargeError: 413, TooSlowError: 408, ClientDisconnect: 400}
"""How faults of a connection are answered."""
SHEETS = (".csv", ".tsv", ".txt")
"""Files that people open with a spreadsheet, which runs some labels."""
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
SANDBOX = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)
"""What a report may do when it is shown: run its own script, and reach nothing."""


class Workbench:
    """The application, its folder and its processes."""

    def __init__(self, tree: object, perform: Perform, *, ledger: Path | None = None, port: int = 0) -> None:
        """Prepare everything but the network, as :func:`serve` is asked to."""
        self.commands = commands_of(tree)
        self.workspace = Workspace()
        self.workers = Workers(perform, self.workspace.folder, after=self._note)
        self.ledger = ledger
        self.seen = ledger is not None and ledger.exists()
        self.port = port
        self.keys = Keys()
        self.opened: str | None = None
        self.run = secrets.token_hex(4)  # tells the jobs of this run from those of a saved session
        self.app = Guard(self._routes(), keys=self.keys, hosts=self._hosts, largest=LARGEST)

    def address(self) -> str:
        """Return an address that opens the page once."""
        return f"http://127.0.0.1:{self.port}/open/{self.keys.code()}"

    def close(self) -> None:
        """Stop the processes and remove the folder."""
        self.workers.close()
        self.workspace.close()

    def _note(self, job: Job) -> None:
        # A plan keeps a record of its own, and could not be run again from a saved session.
        if job.order.arguments[0] != PLAN:
            self.workspace.did(job.order, job.printed)

    def _hosts(self) -> set[str]:
        return {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

    def _routes(self) -> FastAPI:
        app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        routes: dict[str, dict[str, Callable[..., object]]] = {
            "/": {"GET": self._index},
            "/static/{name}": {"GET": self._asset},
            "/api/start": {"GET": self._start},
            "/api/address": {"POST": self._another},
            "/api/run": {"POST": self._run},
            "/api/files": {"GET": self._files, "POST": self._upload},
            "/api/files/{name}": {"GET": self._download, "DELETE": self._remove},
            "/api/sheets/{name}": {"GET": self._sheets, "POST": self._sheet},
            "/api/excel/{name}": {"POST": self._excel},
            "/api/ledger": {"GET": self._about_ledger},
            "/api/jobs/{number}": {"GET": self._job, "DELETE": self._cancel},
            "/api/sessions/{name}": {"GET": self._session, "PUT": self._keep},
            "/api/sessions/{name}/signatures": {"POST": self._sign},
            "/api/sessions/{name}/archive": {"GET": self._save, "POST": self._reopen},
            "/api/examples/{name}": {"POST": self._example},
            "/api/view/{name}": {"GET": self._view},
            "/api/points/{folder}": {"GET": self._points},
            "/api/plans/{folder}/{table}": {"POST": self._published},
        }
        for path, handlers in routes.items():
            for method, handler in handlers.items():
                app.add_api_route(path, handler, methods=[method])
        for error in (DiscreetError, HTTPException, *STATUS):
            app.add_exception_handler(error, _complain)
        return app

    async def _index(self) -> Response:
        return await self._asset("index.html")

    async def _asset(self, name: str) -> Response:
        assets = {item.name: item for item in resources("discreet.workbench").joinpath("static").iterdir()}
        if name not in assets or Path(name).suffix not in TYPES:
            return Response("not found", 404)
        return Response(assets[name].read_bytes(), media_type=TYPES[Path(name).suffix])

    async def _start(self) -> JsonObject:
        from discreet import __version__

        # Listed from the folder: loading the package would take longer than all else that a page waits for.
        bundled = [item.name for item in resources("discreet").joinpath("datasets").iterdir()]
        return {
            "version": __version__,
            "run": self.run,
            "commands": {name: command.to_dict() for name, command in self.commands.items()},
            "examples": sorted(name.removesuffix(".csv") for name in bundled if name.endswith(".csv")),
            "policies": self._policies(),
            "files": self.workspace.files(),
            "opened": self.opened,
            "plans": self.workspace.plans(),
            **self._ledger(),
        }

    def _policies(self) -> Sequence[JsonObject]:
        """Return the bundled and the opened policies with their titles and limits, as their files state them."""
        bundled = {
            item.name.removesuffix(".toml"): item
            for item in resources("discreet.decide").joinpath("profiles").iterdir()
        }
        opened = {one["name"]: self.workspace.folder / one["name"] for one in self.workspace.files()}
        texts = {name: item.read_bytes() for name, item in {**bundled, **opened}.items() if item.name.endswith(".toml")}
        return listed_policies(texts)

    async def _another(self) -> JsonObject:
        return {"address": self.address()}

    async def _files(self) -> JsonObject:
        return {"files": self.workspace.files()}

    async def _upload(self, request: Request, name: str) -> JsonObject:
        with self.workspace.incoming(name) as target:
            await _take(request, target)
        return {"name": name, "files": self.workspace.files()}

    async def _download(self, name: str) -> Response:
        path = self.workspace.path(name)
        headers = {"content-disposition": f'attachment; filename="{name.encode("ascii", "replace").decode()}"'}
        if path.suffix.lower() not in SHEETS:
            return FileResponse(path, media_type="application/octet-stream", headers=headers)
        content = await asyncio.to_thread(lambda: defused(path.read_bytes()))
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def _remove(self, name: str) -> JsonObject:
        self.workspace.path(name).unlink()
        return {"files": self.workspace.files()}

    async def _example(self, name: str) -> JsonObject:
        from discreet import datasets

        if name not in datasets.NAMES:
            raise RequestError(f"there is no bundled table {name!r}; {nearest(name, list(datasets.NAMES))}")
        table = await asyncio.to_thread(datasets.load, name)
        await asyncio.to_thread(table.write, self.workspace.folder / f"{name}.csv")
        return {"name": f"{name}.csv", "files": self.workspace.files()}

    async def _view(self, name: str) -> Response:
        path = self.workspace.path(name)
        if path.suffix != ".html":
            raise RequestError(f"{name!r} is not a report")
        return Response(path.read_bytes(), media_type="text/html", headers={"content-security-policy": SANDBOX})

    async def _run(self, request: Request, wait: float = 0.0) -> Response:
        asked = await _object(request)
        name, session = str(asked.get("command", "")), str(asked.get("session", "page"))
        if name not in self.commands:
            raise RequestError(f"there is no command {name!r} here; {nearest(name, list(self.commands))}")
        values = asked.get("values", {})
        if not isinstance(values, dict):
            raise RequestError("the values of a command are an object")
        command = self.commands[name]
        if command.path[0] == "ledger" and self.ledger is None:
            raise RequestError("no ledger is open; start the workbench with --ledger FILE")
        arguments = arguments_of(command, values)
        with_ledger = self.ledger is not None and command.ledger
        if with_ledger:
            arguments.insert(len(command.path), f"--ledger={self.ledger}")
        self.workspace.session(session)
        if command.path[0] == PLAN:
            reach = await asyncio.to_thread(self._reach_of_plan, str(values.get("file", "")))
        else:
            reach = Confines(tuple(self.workspace.adopted), str(self.ledger) if with_ledger else None)
        order = Order(arguments, shown(arguments), name, values, name in LONG, session, reach)
        return await self._answer(self.workers.submit(order), wait)

    def _reach_of_plan(self, name: str) -> Confines:
        """Return what a plan that was named at the start may open: the files that it names, and the ledger."""
        from discreet.programme.plan_reader import read_plan

        if name not in self.workspace.plans():
            raise RequestError(
                f"{name[:80]!r} was not named when the workbench was started; a plan names files of this machine, so "
                "start with it: discreet workbench plan.toml"
            )
        plan = read_plan((self.workspace.folder / name).resolve())
        named = {str(path.resolve()) for path in plan.input_files()}
        ledger = None if plan.ledger is None else str(plan.place(plan.ledger).resolve())
        return Confines((*self.workspace.adopted, *sorted(named)), ledger if ledger == str(self.ledger) else None)

    async def _published(self, folder: str, table: str) -> JsonObject:
        """Open a table that a plan published, as a file of the session."""
        if not re.fullmatch(r"[\w-]*plan-[a-z0-9]+", folder) or not NAME.fullmatch(table):
            raise RequestError(f"{folder[:40]!r} holds no table of a plan")
        written = (self.workspace.folder / folder / f"{table}{ending}" for ending in TABLES)
        path = next((one for one in written if one.is_file()), None)
        if path is None:
            raise RequestError(
                f"{table[:40]!r} was not written: it must not be released, or its format is not read here"
            )
        name = self.workspace.add(path.name, await asyncio.to_thread(path.read_bytes))
        return {"name": name, "files": self.workspace.files()}

    async def _sheets(self, name: str) -> Response:
        """Say what the sheets of a spreadsheet hold."""
        return await self._convert("sheets", self.workspace.path(name).name)

    async def _sheet(self, name: str, request: Request) -> Response:
        """Take the table out of one sheet, from the row with its names on."""
        asked = await _object(request)
        source = self.workspace.path(name).name
        sheet, header = str(asked.get("sheet", "")), str(asked.get("header", ""))
        if not (header.isascii() and header.isdigit()):
            raise RequestError(f"the header is row {header!r}; give its number")
        title = re.sub(r"[^\w -]+", "", sheet).strip()[:40]
        output = self.workspace.name(" ".join(filter(None, [Path(source).stem[:60], title])) + ".csv")
        return await self._convert("sheet", source, sheet, header, output)

    async def _excel(self, name: str) -> Response:
        """Make an Excel file of a table, to be handed out."""
        source = self.workspace.path(name).name
        return await self._convert("excel", source, self.workspace.name(f"{Path(source).stem[:100]}.xlsx"))

    async def _convert(self, *arguments: str) -> Response:
        reach = Confines(tuple(self.workspace.adopted))
        return await self._answer(self.workers.submit(Order(list(arguments), "discreet workbench", reach=reach)), 15.0)

    async def _about_ledger(self) -> JsonObject:
        return self._ledger()

    def _ledger(self) -> JsonObject:
        """Return the name of the ledger, and whether its file is there; one that is not there yet is empty."""
        return {"ledger": None if self.ledger is None else self.ledger.name, "begun": self._begun()}

    def _begun(self) -> bool:
        """Say whether there is a ledger; one that was there and is gone counts as one."""
        self.seen |= self.ledger is not None and self.ledger.exists()
        return self.seen

    def _head(self) -> str | None:
        """Return the head of the ledger as it is now, None if none was begun."""
        if self.ledger is None or not self._begun():
            return None
        from discreet.decide.ledger import Ledger

        with Ledger(self.ledger, create=False) as book:
            return book.history().head.digest

    def _known(self, number: int) -> Job:
        job = self.workers.job(number)
        if job is None:
            raise HTTPException(404, f"there is no job {number}; it may be forgotten")
        return job

    async def _job(self, number: int, wait: float = 0.0) -> Response:
        return await self._answer(self._known(number), wait)

    async def _points(self, folder: str) -> JsonObject:
        """Return the points of a comparison that are finished, from the folder where it keeps them."""
        if not re.fullmatch(r"points-[a-z0-9]+", folder):
            raise RequestError(f"{folder[:40]!r} is not a folder of a comparison")
        found = sorted((self.workspace.folder / folder).glob("*.json"))
        return {"points": [json.loads(path.read_text(encoding="utf-8")) for path in found]}

    async def _cancel(self, number: int) -> Response:
        job = self._known(number)
        self.workers.cancel(job)
        return await self._answer(job, 0.0)

    async def _answer(self, job: Job, seconds: float) -> Response:
        """Say how far a job is, as soon as it is over or so many seconds from now."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(over.set)

        job.tell(wake)
        try:
            await asyncio.wait_for(over.wait(), min(max(seconds, 0.0), 20.0))
        except TimeoutError:
            pass
        finally:
            job.listeners.remove(wake)
        return Response(job.to_json(), media_type="application/json")

    async def _session(self, name: str) -> JsonObject:
        found = self.workspace.session(name)
        signed = [{**one, "stands": self.workspace.stands(one)} for one in found.signatures]
        return {**found.to_dict(), "signatures": signed}

    async def _keep(self, name: str, request: Request) -> JsonObject:
        self.workspace.keep(name, await _object(request))
        return {}

    async def _sign(self, name: str, request: Request) -> JsonObject:
        def limits(policy: str) -> JsonObject:
            found = next((one for one in self._policies() if one["name"] == policy), None)
            if found is None:
                raise RequestError(f"there is no policy {policy!r}; reach a verdict under one that is listed")
            held: JsonObject = found["limits"]
            return held

        given = await _object(request)
        head = await asyncio.to_thread(self._head)
        return self.workspace.sign(name, given, head=head, limits=limits)

    async def _save(self, name: str) -> Response:
        made = await asyncio.to_thread(self.workspace.save, name)
        headers = {"content-disposition": 'attachment; filename="session.discreet"'}
        gone = BackgroundTask(made.unlink)
        return FileResponse(made, media_type="application/octet-stream", headers=headers, background=gone)

    async def _reopen(self, name: str, request: Request) -> JsonObject:
        with tempfile.NamedTemporaryFile(dir=self.workspace.folder, prefix=".incoming-") as target:
            await _take(request, target)
            target.flush()
            session = await asyncio.to_thread(self.workspace.reopen, name, Path(target.name))
        return {**session.to_dict(), "files": self.workspace.files()}


async def _take(request: Request, target: IO[bytes]) -> None:
    """Write what is sent to disk as it comes."""
    async for block in request.stream():
        if block:
            await asyncio.to_thread(target.write, block)


async def _object(request: Request) -> JsonObject:
    try:
        found = await request.json()
    except ValueError:
        raise RequestError("the request is not JSON") from None
    if not isinstance(found, dict):
        raise RequestError("the request is not an object")
    return found


async def _complain(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code)
    return JSONResponse({"error": str(error)}, STATUS.get(type(error), 400))


def serve(
    tree: object,
    perform: Perform,
    files: Sequence[Path] = (),
    *,
    port: int = 0,
    ledger: Path | None = None,
    ready: Callable[[str], object] | None = None,
) -> None:
    """Open files and serve the page until interrupted; then leave nothing behind.

    Args:
        tree: the click group of the command line.
        perform: runs a command line; it is called in other processes.
        files: tables, releases or records to open, or a saved session.
        port: where to listen; any free one by default.
        ledger: the ledger of releases.
        ready: called with the address once the page can be opened.
    """
    import uvicorn

    # The protocol is named so that answers leave at once; a socket without it holds small ones back for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise RequestError(f"port {port} is not free ({error.strerror}); leave --port out to have one chosen") from None
    bench = Workbench(tree, perform, ledger=ledger, port=listener.getsockname()[1])
    from discreet.workbench.connections import TimedConnection

    config = uvicorn.Config(
        bench.app,
        http=TimedConnection,
        ws="none",
        access_log=False,
        log_level="error",
        lifespan="off",
        limit_concurrency=CROWD,
    )
    server = uvicorn.Server(config)
    # An interruption before the server listens to signals is heard too. Once it is done, the server raises the signal
    # that stopped it again, when the folder must still be removed. What is ignored, as under nohup, stays so.
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    for kind in [kind for kind, handler in before.items() if handler != signal.SIG_IGN]:
        signal.signal(kind, lambda *_: setattr(server, "should_exit", True))
    try:
        for path in files:
            if path.suffix == ".discreet":
                bench.workspace.reopen("page", path)
                continue
            from discreet.tabulation.argus_tab import companions

            for one in [path, *(companions(path) if path.suffix.lower() == ".tab" else ())]:
                named = bench.workspace.adopt(one)
                bench.opened = bench.opened or (named if Path(named).suffix.lower() in TABLES else None)
        listener.listen(128)
        if ready is not None:
            ready(bench.address())
        server.run(sockets=[listener])
    finally:
        bench.close()
        listener.close()
        for kind, handler in before.items():
            signal.signal(kind, handler or signal.SIG_DFL)
