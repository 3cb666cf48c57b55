"""Who signs what: the server's verdicts alone carry a signature, and a session changed outside carries none."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.workbench.serving import Server, serving

from discreet.core.errors import RequestError
from discreet.workbench.seal import seal_of, sealed, signing_key

OPEN = b"area,sex,count\nn,m,30\nn,f,41\ns,m,120\ns,f,77\n"
TIGHT = b"r,c,count\na,x,x\na,y,5\na,Total,8\nb,x,9\nb,y,7\nb,Total,16\nTotal,x,12\nTotal,y,12\nTotal,Total,24\n"
"""A release whose hidden figure is a subtraction away."""


@pytest.fixture(scope="module")
def bench() -> Iterator[Server]:
    with serving() as server:
        server.upload("open.csv", OPEN)
        server.upload("tight.csv", TIGHT)
        yield server


def assess(server: Server, session: str, **values: Any) -> Any:
    asked = {"file": "open.csv", "as_is": True, "output": "out.csv", "seed": 1, "trial": True, **values}
    job = server.run("assess", session=session, **asked)
    assert job["state"] == "done", job
    return job["result"]


def sign(server: Server, session: str, who: str = "Ada", decision: str = "approved", **more: Any) -> Any:
    given = {"who": who, "decision": decision, "release": "out.csv", **more}
    return server.json("POST", f"api/sessions/{session}/signatures", given)


def test_nothing_is_approved_that_the_server_did_not_judge(bench: Server) -> None:
    bench.upload("out.csv", OPEN)
    told = sign(bench, "unjudged", verdict="release", policy="default")
    assert (told["status"], "no verdict was reached" in told["error"]) == (400, True)
    assert sign(bench, "unjudged", decision="rejected")["status"] == 200


def test_the_servers_verdict_is_signed_whatever_the_page_says(bench: Server) -> None:
    assert assess(bench, "judged", policy="census")["verdict"] == "release"
    told = sign(bench, "judged", verdict="nonsense", policy="nonsense", sha256="0")
    assert (told["status"], told["verdict"], told["policy"]) == (200, "release", "census")
    assert "discreet assess" in told["judged by"]
    # The verdict of one session is not that of another.
    assert sign(bench, "other", verdict="release")["status"] == 400


def test_a_release_that_the_server_found_wanting_is_not_approved(bench: Server) -> None:
    job = bench.run("audit", session="wanting", releases=["tight.csv"])
    assert job["result"]["verdict"] == "unsafe"
    told = sign(bench, "wanting", release="tight.csv", verdict="safe", policy="default")
    assert told["status"] == 400
    assert sign(bench, "wanting", release="tight.csv", decision="rejected")["status"] == 200


@pytest.mark.parametrize("lax", [{"max_dr": 99.0}, {"about": ["r=b,c=y"]}, {"least": -5.0}, {}])
def test_an_audit_counts_only_if_it_asked_what_the_policy_asks(bench: Server, lax: dict[str, Any]) -> None:
    bench.upload("strict.toml", b"[limits]\ndr = 0.4\nwidth = 2\n")
    bench.upload("alone.csv", TIGHT.replace(b"b,y,7", b"b,y,x").replace(b"a,y,5", b"a,y,x").replace(b"b,x,9", b"b,x,x"))
    job = bench.run("audit", session="lax", releases=["alone.csv"], **lax)
    assert job["state"] in ("done", "refused")
    told = sign(bench, "lax", release="alone.csv", policy="strict.toml")
    assert told["status"] == 400
    assert "did not ask what the policy asks" in told["error"] or "no verdict" in told["error"]
    assert sign(bench, "lax", release="alone.csv", policy="nothing.toml")["status"] == 400


def test_a_signature_falls_with_what_it_was_given_for(bench: Server) -> None:
    assess(bench, "falls")
    assert sign(bench, "falls")["status"] == 200
    assert [one["stands"] for one in bench.json("GET", "api/sessions/falls")["signatures"]] == [True]
    bench.upload("out.csv", OPEN.replace(b"30", b"31"))
    assert [one["stands"] for one in bench.json("GET", "api/sessions/falls")["signatures"]] == [False]
    told = sign(bench, "falls")
    assert (told["status"], "as it is now" in told["error"]) == (400, True)


def test_two_people_sign_and_nobody_twice(bench: Server) -> None:
    assess(bench, "sign")
    assert sign(bench, "sign")["sha256"]
    again = sign(bench, "sign", "ada ", "rejected")
    assert (again["status"], "signed already" in again["error"]) == (400, True)
    assert sign(bench, "sign", "")["status"] == 400
    assert sign(bench, "sign", "Bo", "maybe")["status"] == 400
    assert sign(bench, "sign", "Bo")["status"] == 200
    assert sign(bench, "sign", "Cy")["status"] == 400


def test_with_a_ledger_the_check_beside_it_counts(tmp_path: Path) -> None:
    with serving("--ledger", tmp_path / "office.sqlite") as server:
        server.upload("open.csv", OPEN)
        server.upload("first.csv", b"area,count\nn,71\ns,197\n")
        assert server.run("ledger add", release="first.csv", title="first")["state"] == "done"
        assess(server, "page")
        told = sign(server, "page")
        assert (told["status"], "against the ledger" in told["error"]) == (400, True)
        # A check with limits or neighbours of its own does not count.
        for lax in ({"max_dr": 99.0}, {"threshold": 1.0}, {"population": "others"}, {"beside": ["1"]}):
            server.run("ledger check", release="out.csv", **lax)
            assert "against the ledger" in sign(server, "page")["error"]
        checked = server.run("ledger check", release="out.csv")
        assert checked["state"] == "done", checked
        assert checked["result"]["verdict"] == "safe"
        told = sign(server, "page")
        assert (told["status"], told["ledger"]) == (200, checked["result"]["head"])
        # What joined the ledger meanwhile was not looked at; nor does a ledger that is gone say anything.
        server.upload("second.csv", b"sex,count\nm,150\nf,118\n")
        assert server.run("ledger add", release="second.csv", title="second")["state"] == "done"
        told = sign(server, "page", "Bo")
        assert (told["status"], "the ledger has changed" in told["error"]) == (400, True)
        assert server.run("ledger check", release="out.csv")["result"]["verdict"] == "safe"
        (tmp_path / "office.sqlite").rename(tmp_path / "gone.sqlite")
        assert sign(server, "page", "Bo")["status"] == 400
        (tmp_path / "gone.sqlite").rename(tmp_path / "office.sqlite")
        assert sign(server, "page", "Bo")["status"] == 200


# --- saved sessions -----------------------------------------------------------------------------------------


def change(about: dict[str, Any], files: dict[str, bytes]) -> None:
    """Leave it as it is."""


def another_name(about: dict[str, Any], files: dict[str, bytes]) -> None:
    about["signatures"][0]["who"] = "Eve"


def another_release(about: dict[str, Any], files: dict[str, bytes]) -> None:
    files["out.csv"] = TIGHT
    about["files"]["out.csv"] = about["signatures"][0]["sha256"] = hashlib.sha256(TIGHT).hexdigest()


def another_original(about: dict[str, Any], files: dict[str, bytes]) -> None:
    files["open.csv"] = TIGHT
    about["files"]["open.csv"] = hashlib.sha256(TIGHT).hexdigest()


def one_more(about: dict[str, Any], files: dict[str, bytes]) -> None:
    about["signatures"].append({**about["signatures"][0], "who": "Eve"})


def no_seal(about: dict[str, Any], files: dict[str, bytes]) -> None:
    del about["seal"]


def own_seal(about: dict[str, Any], files: dict[str, bytes]) -> None:
    another_name(about, files)
    about["seal"] = seal_of(about, b"a key of somebody else's")


@pytest.fixture(scope="module")
def signed(bench: Server) -> bytes:
    assess(bench, "kept")
    assert sign(bench, "kept")["status"] == 200
    return bench.ask("GET", "api/sessions/kept/archive")[1]


@pytest.mark.parametrize("edit", [change, another_name, another_release, another_original, one_more, no_seal, own_seal])
def test_signatures_of_a_session_changed_outside_do_not_stand(
    bench: Server, signed: bytes, tmp_path: Path, edit: Callable[[dict[str, Any], dict[str, bytes]], None]
) -> None:
    (tmp_path / "kept.discreet").write_bytes(signed)
    with zipfile.ZipFile(tmp_path / "kept.discreet") as archive:
        about = json.loads(archive.read("session.json"))
        files = {name: archive.read(f"files/{name}") for name in about["files"]}
    edit(about, files)
    with zipfile.ZipFile(tmp_path / "edited.discreet", "w") as archive:
        archive.writestr("session.json", json.dumps(about))
        for name, content in files.items():
            archive.writestr(f"files/{name}", content)
    status, body, _ = bench.ask("POST", "api/sessions/again/archive", (tmp_path / "edited.discreet").read_bytes())
    assert status == 200, body
    stands = [one["stands"] for one in bench.json("GET", "api/sessions/again")["signatures"]]
    assert stands == [edit is change] * len(stands)
    assert stands
    # Saved once more, it does not become true.
    again = bench.ask("GET", "api/sessions/again/archive")[1]
    bench.ask("POST", "api/sessions/again/archive", again)
    assert [one["stands"] for one in bench.json("GET", "api/sessions/again")["signatures"]] == stands


def test_the_key_is_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    key = signing_key()
    path = tmp_path / "discreet" / "signing.key"
    assert (len(key), path.stat().st_mode & 0o777, signing_key()) == (32, 0o600, key)
    path.chmod(0o644)
    with pytest.raises(RequestError, match="everybody can read"):
        signing_key()
    shared = tmp_path / "office.key"
    monkeypatch.setenv("DISCREET_SIGNING_KEY", str(shared))
    with pytest.raises(RequestError, match="cannot be read"):
        signing_key()
    shared.write_bytes(b"short")
    shared.chmod(0o640)
    with pytest.raises(RequestError, match="has 5 bytes"):
        signing_key()
    shared.write_bytes(b"k" * 32)
    assert signing_key() == b"k" * 32
    assert sealed({"a": 1, "seal": seal_of({"a": 1}, b"k" * 32)}, signing_key())
