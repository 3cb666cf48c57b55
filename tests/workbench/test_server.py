"""The server: what it refuses, what it leaves, and what it does while others work."""

from __future__ import annotations

import contextlib
import glob
import io
import json
import os
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import run
from tests.workbench.people import tables
from tests.workbench.serving import Server, crowd, serving

# --- who may talk to it -------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["/", "/wrong/", "/wrong/api/start/", "//", "/open/", "/open/wrong"])
def test_without_the_secret_path_nothing_is_answered(server: Server, base: str) -> None:
    status, body, _ = server.ask("GET", "", base=base)
    assert status == 403
    assert b"religion" not in body
    status, _, _ = server.ask("POST", "api/run", b"{}", base=base)
    assert status == 403


@pytest.mark.parametrize("cookie", ["", "discreet=", "discreet=wrong", "other=x; discreet=wrong"])
def test_without_the_cookie_nothing_is_answered(server: Server, cookie: str) -> None:
    for path in ("", "api/start", "static/app.js"):
        status, body, _ = server.ask("GET", path, headers={"Cookie": cookie})
        assert (status, b"religion" in body) == (403, False)


def test_a_secret_that_is_almost_right_is_wrong(server: Server) -> None:
    last = server.base[-2]
    assert server.ask("GET", "", base=f"{server.base[:-2]}{'y' if last == 'x' else 'x'}/")[0] == 403
    assert server.ask("GET", "", base=server.base[:-1] + "x/")[0] == 403
    assert server.ask("GET", "", headers={"Cookie": server.cookie[:-1]})[0] == 403


def test_the_printed_address_opens_the_page_once(server: Server) -> None:
    code = urlsplit(server.printed).path
    assert server.ask("GET", "", base=code)[0] == 403
    fresh = urlsplit(server.address).path
    status, _, headers = server.ask("GET", "?session=two", base=fresh)
    assert (status, headers["location"]) == (303, f"{server.base}?session=two")
    assert {"HttpOnly", "SameSite=Strict", f"Path={server.base}"} <= set(headers["set-cookie"].split("; "))
    status, body, _ = server.ask("GET", "", base=fresh)
    assert (status, b"was used" in body) == (403, True)
    # The command line of whatever browser was started with it is worth nothing now.
    for secret in (server.base.strip("/"), server.cookie.partition("=")[2]):
        assert secret not in server.printed


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
    ],
)
def test_foreign_pages_are_refused(server: Server, headers: dict[str, str]) -> None:
    assert server.ask("GET", "api/start", headers=headers)[0] in (403, 421)


def test_it_listens_on_the_loopback_only(server: Server) -> None:
    with open("/proc/net/tcp") as table:
        lines = [line.split() for line in table][1:]
    mine = [row[1] for row in lines if row[1].endswith(f":{server.port:04X}") and row[3] == "0A"]
    assert mine == [f"0100007F:{server.port:04X}"]


def test_answers_are_sealed(server: Server) -> None:
    _, body, headers = server.ask("GET", "")
    assert b'<script type="module"' in body
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_every_asset_is_local(server: Server) -> None:
    _, page, _ = server.ask("GET", "")
    names = [f.name for f in Path("src/discreet/workbench/static").iterdir()]
    for name in names:
        status, content, _ = server.ask("GET", f"static/{name}")
        assert status == 200
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, name
        assert "https://" not in text, name
        assert "innerHTML" not in text, name
    assert b"//cdn" not in page


# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../x.csv", "..%2fx.csv", "/etc/x.csv", ".hidden.csv", "-o.csv", "a/b.csv", "x.exe", "", "x\x00.csv"]
)
def test_bad_names_are_refused(server: Server, name: str) -> None:
    answer = server.upload(name, b"a,count\n1,2\n")
    assert answer["status"] == 400
    assert answer["error"]


@pytest.mark.parametrize(
    "path", ["api/files/..%2f..%2fetc%2fpasswd", "static/..%2fserver.py", "static/server.py", "api/view/religion.csv"]
)
def test_files_outside_are_out_of_reach(server: Server, path: str) -> None:
    status, body, _ = server.ask("GET", path)
    assert status in (400, 404)
    assert b"root:" not in body
    assert b"import" not in body


def test_too_much_at_once_is_refused_with_and_without_a_length(server: Server) -> None:
    assert server.ask("POST", "api/files?name=big.csv", headers={"Content-Length": str(2**40)})[0] == 413
    link = socket.create_connection((server.host, server.port), timeout=60)
    head = f"POST {server.base}api/files?name=big.csv HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n"
    head += f"Cookie: {server.cookie}\r\n"
    link.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
    part = b"%x\r\n%s\r\n" % (2**22, b"0" * 2**22)
    with contextlib.suppress(ConnectionError):
        for _ in range(80):
            link.sendall(part)
    with contextlib.suppress(ConnectionError):
        assert b" 413 " in link.recv(200)
    link.close()
    names = [one["name"] for one in server.json("GET", "api/files")["files"]]
    assert "religion.csv" in names
    assert "big.csv" not in names


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.csv", b"\xff\xfe\x00\x01\x02"),
        ("bad.parquet", b"PAR1 not a file"),
        ("bad.xlsx", b"PK\x03\x04 not a workbook"),
        ("ragged.csv", b"a,count\n1\n2,3,4\n"),
    ],
)
def test_malformed_files_end_in_a_message(server: Server, name: str, content: bytes) -> None:
    assert server.upload(name, content)["status"] == 200
    job = server.run("inspect", file=name)
    assert job["state"] == "refused"
    assert name in job["error"]
    assert "Traceback" not in job["error"]


def test_a_zip_bomb_is_not_unpacked(server: Server) -> None:
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part,
    ):
        for _ in range(700):
            part.write(b"0" * 2**20)
    assert len(stream.getvalue()) < 2**20
    assert server.upload("bomb.xlsx", stream.getvalue())["status"] == 200
    job = server.run("inspect", file="bomb.xlsx")
    assert job["state"] == "refused"
    assert "unpacks to" in job["error"]


def test_a_session_that_unpacks_to_too_much_is_not_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from discreet.core.errors import LimitError
    from discreet.workbench import workspace

    monkeypatch.setattr(workspace, "LARGEST_SESSION", 2**20)
    with zipfile.ZipFile(tmp_path / "bomb.discreet", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("session.json", b" " * 2**21)
    here = workspace.Workspace()
    try:
        with pytest.raises(LimitError, match="unpacks to more"):
            here.reopen("page", tmp_path / "bomb.discreet")
        assert here.files() == []
    finally:
        here.close()


def test_a_parquet_file_of_endless_rows_ends_in_a_message(server: Server, tmp_path: Path) -> None:
    part = pa.table({"area": pa.array(["n"] * 2**20).dictionary_encode(), "count": pa.array([1.5] * 2**20)})
    with pq.ParquetWriter(tmp_path / "endless.parquet", part.schema) as writer:
        for _ in range(64):
            writer.write_table(part)
    server.upload("endless.parquet", (tmp_path / "endless.parquet").read_bytes())
    job = server.run("inspect", file="endless.parquet", cells=True)
    assert job["state"] in ("refused", "failed", "done")
    assert "cells" not in (job["result"] or {})
    assert server.run("risk", table="religion.csv")["state"] == "done"


def test_excel_files_are_read(server: Server) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["area", "sex", "count"], ["n", "m", 3], ["n", "f", 1], ["s", "m", 12], ["s", "f", 7]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    server.upload("book.xlsx", stream.getvalue())
    job = server.run("inspect", file="book.xlsx", cells=True)
    assert job["result"]["content"] == "table"
    assert job["result"]["cells"]["values"] == [3, 1, 12, 7]


def test_formulas_in_exported_cells_are_defused(server: Server) -> None:
    server.upload("evil.csv", b'area,count\n"=HYPERLINK(""x"")",5\n@cmd,6\n+1-2,7\n-3,8\n')
    status, content, headers = server.ask("GET", "api/files/evil.csv")
    assert status == 200
    assert headers["content-disposition"].startswith("attachment")
    cells = [line.split(",")[0] for line in content.decode().splitlines()[1:]]
    assert [cell.strip('"')[0] for cell in cells] == ["'", "'", "'", "-"]


# --- commands -----------------------------------------------------------------------------------------------


def test_what_is_shown_is_what_the_command_prints(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet import datasets

    datasets.load("religion").write(tmp_path / "religion.csv")
    monkeypatch.chdir(tmp_path)
    for command, values in (
        ("inspect", {"file": "religion.csv", "cells": True}),
        ("risk", {"table": "religion.csv"}),
        ("rules", {"table": "religion.csv", "rule": ["threshold=3"]}),
        ("rules", {"table": "religion.csv", "rule": ["threshold=3"], "explain": "output_area=1,religion=4"}),
        ("protect suppress", {"file": "religion.csv", "rule": ["threshold=3"], "output": "s.parquet"}),
        ("audit", {"releases": ["s.parquet"], "insider": ["output_area=1,religion=4:1"]}),
        (
            "protect random-rounding",
            {"file": "religion.csv", "base": 3, "seed": 1, "trial": True, "output": "r.parquet"},
        ),
        ("risk", {"table": "religion.csv", "released": "r.parquet"}),
        ("audit", {"releases": ["r.parquet"], "law": "method"}),
    ):
        job = server.run(command, **values)
        assert job["state"] == "done", job
        import shlex

        printed = run(*shlex.split(job["command"])[1:], "--json")
        assert job["result"] == json.loads(printed.out), command


def test_a_refusal_is_the_commands_own(server: Server) -> None:
    job = server.run("risk", table="missing.csv")
    assert job["state"] == "refused"
    assert job["error"] == run("risk", "missing.csv").err.removeprefix("discreet: ").strip()


def test_unknown_commands_and_broken_requests_are_refused(server: Server) -> None:
    assert server.json("POST", "api/run", {"command": "workbench", "values": {}})["status"] == 400
    assert server.json("POST", "api/run", {"command": "risk", "values": []})["status"] == 400
    assert server.ask("POST", "api/run", b"{not json")[0] == 400
    assert server.ask("POST", "api/run", b"[]")[0] == 400
    assert server.json("GET", "api/jobs/999999")["status"] == 404


def test_a_killed_process_is_reported_and_the_session_goes_on(server: Server) -> None:
    with server.held():
        job = server.run("compare", wait=0, file="religion.csv", draws=2, method=["patient"])
        os.kill(server.holder(), signal.SIGKILL)
        ended = server.ended(job)
    assert ended["state"] == "failed"
    assert "stopped from outside" in ended["error"]
    assert server.run("risk", table="religion.csv")["state"] == "done"


def test_long_work_can_be_cancelled(server: Server) -> None:
    with server.held():
        job = server.run("compare", wait=0, file="religion.csv", draws=2, method=["patient"])
        server.holder()
        assert server.json("DELETE", f"api/jobs/{job['job']}")["status"] == 200
        assert server.ended(job)["state"] == "cancelled"
    assert server.run("risk", table="religion.csv")["state"] == "done"


def test_twenty_people_work_while_one_waits_for_long_work(server: Server, tmp_path: Path) -> None:
    table = tables(tmp_path)[0]
    server.upload(table.name, table.read_bytes())
    for _ in range(2):
        server.run("risk", table=table.name)
    # How long they wait is measured in benchmarks/workbench.py; here all are answered before the long work ends.
    with server.held():
        assert len(crowd(server, table.name, ["patient"])) == 57


# --- sessions -----------------------------------------------------------------------------------------------


def test_the_state_of_a_page_survives_a_reload(server: Server) -> None:
    server.json("PUT", "api/sessions/reload", {"step": "see", "table": "religion.csv"})
    assert server.json("GET", "api/sessions/reload")["state"] == {"step": "see", "table": "religion.csv"}
    assert server.json("PUT", "api/sessions/reload", [1])["status"] == 400
    assert server.json("GET", "api/sessions/..%2fx")["status"] in (400, 404)


def test_policies_are_listed_with_their_limits(server: Server) -> None:
    from discreet.decide.policy import Policy

    server.upload("office.toml", b'title = "ours"\n[limits]\ndr = 0.4\n')
    found = {one["name"]: one for one in server.json("GET", "api/start")["policies"]}
    assert found["office.toml"] == {"name": "office.toml", "title": "ours", "limits": {"dr": 0.4}}
    for name in ("default", "business", "census"):
        policy = Policy.load(name)
        assert found[name]["title"] == policy.title
        assert found[name]["limits"].get("r2") == policy.limits.r2
        assert found[name]["limits"].get("dr") == policy.limits.dr


def test_a_session_is_saved_reopened_and_replayed(tmp_path: Path) -> None:
    from discreet import datasets

    datasets.load("religion").write(tmp_path / "religion.csv")
    with serving(tmp_path / "religion.csv") as first:
        first.json("PUT", "api/sessions/page", {"step": "see", "table": "religion.csv"})
        first.run("protect random-rounding", file="religion.csv", seed=3, trial=True, output="r.csv")
        job = first.run("risk", session="page", table="religion.csv", released="r.csv")
        assert job["state"] == "done"
        saved = first.ask("GET", "api/sessions/page/archive")[1]
    (tmp_path / "work.discreet").write_bytes(saved)
    (tmp_path / "religion.csv").unlink()
    with serving(tmp_path / "work.discreet") as second:
        opened = second.json("GET", "api/sessions/page")
        assert opened["state"]["table"] == "religion.csv"
        assert len(opened["steps"]) == 2
        names = {f["name"] for f in second.json("GET", "api/start")["files"]}
        assert names == {"religion.csv", "r.csv"}
    replayed = run("workbench", tmp_path / "work.discreet", "--replay", "--json")
    assert replayed.code == 0, replayed
    assert [step["outcome"] for step in json.loads(replayed.out)["steps"]] == ["same", "same"]
    with zipfile.ZipFile(tmp_path / "work.discreet") as archive:
        about = json.loads(archive.read("session.json"))
        files = {name: archive.read(name) for name in archive.namelist() if name != "session.json"}
    about["steps"][1]["result"] = "0" * 64
    with zipfile.ZipFile(tmp_path / "other.discreet", "w") as archive:
        archive.writestr("session.json", json.dumps(about))
        for name, content in files.items():
            archive.writestr(name, content)
    other = run("workbench", tmp_path / "other.discreet", "--replay")
    assert other.code == 1
    assert "differs" in other.out


def test_a_damaged_session_is_refused(server: Server, tmp_path: Path) -> None:
    status, body, _ = server.ask("POST", "api/sessions/page/archive", b"not a session")
    assert status == 400
    assert b"not a saved session" in body
    (tmp_path / "bad.discreet").write_bytes(b"PK")
    assert run("workbench", tmp_path / "bad.discreet", "--replay").code == 2


def test_a_verdict_covers_statistics_beside_the_figures(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("sex,count\nm,40\nf,60\n")
    server = Server(table)
    made = server.run("assess", file="t.csv", as_is=True, statistic=["pct=percentage, over=sex"], output="out.csv")
    assert made["state"] == "done"
    assert [(one["name"], one["shown"], one["wanted"]) for one in made["result"]["statistics"]] == [("pct", 3, 3)]
    server.process.terminate()
    server.process.communicate()


# --- what it leaves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind_nor_written_to_the_log(tmp_path: Path, kind: signal.Signals) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("area,count\nn,918273\ns,4\n")
    server = Server(secret, env={"TMPDIR": str(tmp_path)})
    assert glob.glob(str(tmp_path / "discreet-workbench-*"))
    assert server.run("risk", table="secret.csv")["state"] == "done"
    assert (
        server.run("tabulate", records=["secret.csv"], by="area", value="count", output="t.parquet")["state"] == "done"
    )
    made = server.run("assess", file="secret.csv", report="report.html", record="r.json", output="out.csv")
    assert made["state"] == "done"
    server.process.send_signal(kind)
    out, err = server.process.communicate()
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert "918273" not in out + err
    assert server.base.strip("/") not in err


@pytest.mark.parametrize("kind", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interruption_before_the_first_request_is_heard(tmp_path: Path, kind: str) -> None:
    script = (
        "import os, signal\n"
        "from discreet.cli.app import perform, tree\n"
        "from discreet.workbench.server import serve\n"
        "if __name__ == '__main__':\n"
        # Whoever runs the tests may have it ignored, as nohup does.
        f"    signal.signal(signal.{kind}, signal.SIG_DFL)\n"
        f"    serve(tree(), perform, ready=lambda _: os.kill(os.getpid(), signal.{kind}))\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert not list(tmp_path.glob("discreet-workbench-*"))


def test_folders_of_killed_workbenches_are_cleared(tmp_path: Path) -> None:
    with serving(env={"TMPDIR": str(tmp_path)}) as first:
        first.upload("a.csv", b"a,count\n1,2\n")
        first.process.kill()
        first.process.wait()
        assert glob.glob(str(tmp_path / "discreet-workbench-*"))
    with serving(env={"TMPDIR": str(tmp_path)}):
        assert len(glob.glob(str(tmp_path / "discreet-workbench-*"))) == 1


def test_a_port_that_is_taken_is_named(server: Server) -> None:
    found = run("workbench", "--no-browser", "--port", server.port)
    assert found.code == 2
    assert str(server.port) in found.err
    assert run("workbench", "--no-browser", "--port", "99999999").code == 2


def test_a_parquet_file_of_many_cells_opens(server: Server, tmp_path: Path) -> None:
    rows = [(f"a{i}", f"b{j}", (i * 31 + j * 17) % 90) for i in range(1000) for j in range(100)]
    table = pa.table({"area": [r[0] for r in rows], "age": [r[1] for r in rows], "count": [r[2] for r in rows]})
    pq.write_table(table, tmp_path / "large.parquet")
    server.upload("large.parquet", (tmp_path / "large.parquet").read_bytes())
    job = server.run("inspect", file="large.parquet", cells=True)
    assert len(job["result"]["cells"]["values"]) == 100_000
