"""How a result was made: policy, seed, versions and hashes as rows of text."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.json_types import Json, JsonObject
from discreet.core.text import setting_name, settings_text


def made_blocks(data: JsonObject) -> list[dict[str, Json]]:
    """Return the provenance of a result, in blocks with a title."""
    policy, release, record = (data.get(name) or {} for name in ("policy", "release", "record"))
    versions = [(name, str(version)) for name, version in (record.get("versions") or {}).items()]
    blocks = [
        (f"Policy: {policy['name']}", policy.get("title", ""), policy_rows(policy)) if policy else ("", "", []),
        ("Release", "", _release_rows(release) if release else []),
        ("Record", "", _record_rows(record)),
        ("Versions", "", versions),
        ("Ledger", "", [("Head when this was written", data["ledger"])] if data.get("ledger") else []),
    ]
    return [{"title": title, "text": text, "rows": rows} for title, text, rows in blocks if rows]


def _release_rows(release: JsonObject) -> list[tuple[str, str]]:
    rows = [("Method", release["method"])]
    rows += [(setting_name(name), _text(value)) for name, value in release["parameters"].items() if value is not None]
    for part in release["figures"]:
        used = dict.fromkeys(part["kinds"][kind] for kind in part["kind"])
        rows.append((f"Figures of {part['name']}" if len(release["figures"]) > 1 else "Figures", ", ".join(used)))
    return rows


LEVELS = {"never": "not asked for", "magnitudes": "asked for where amounts are summed", "always": "asked for"}
ZEROS = {"safe": "not sensitive", "unsafe": "sensitive"}
"""What settings of a policy mean."""


def _who(outside: int | None) -> str | None:
    """Say who is in one cell of a line that discloses a group."""
    return None if outside is None else f"all but at most {outside:,}" if outside else "everybody"


def policy_rows(policy: JsonObject) -> list[tuple[str, str]]:
    """Return the rules, limits and weights of a policy, one by one."""
    rules, limits = policy.get("rules", {}), policy.get("limits", {})
    pq = rules.get("pq") or {}
    names = {"r2": "Largest R2", "dr": "Largest DR of a cell", "width": "Least width", "tau": "Largest τ̃"}
    rows = [
        ("Threshold", rules.get("threshold"), "fewer than {:g} contributors are sensitive"),
        *(("Dominance", r["k"], f"the {r['n']} largest make up over {{:g}}%") for r in rules.get("dominance", ())),
        ("p%", rules.get("p_percent"), "nobody may be estimated within {:g}%"),
        ("pq", pq.get("p"), f"from {pq.get('q', 0):g}% to within {{:g}}%"),
        ("Group disclosure", _who(rules.get("group_disclosure")), "{} of a line in one cell"),
        *((name, limits.get(key), "{:g}") for key, name in names.items()),
        ("Protection levels", LEVELS.get(limits.get("levels", "")), "{}"),
        ("Weights of R1 and R2", ", ".join(f"{weight:g}" for weight in policy.get("weights") or ()) or None, "{}"),
        ("Empty cells", ZEROS.get(policy.get("zeros", "")), "{}"),
        ("Protections allowed", "; ".join(map(_protection, policy.get("protections", ()))) or None, "{}"),
    ]
    return [(name, text.format(value)) for name, value, text in rows if value is not None]


def _protection(item: Mapping[str, object]) -> str:
    said = settings_text({name: value for name, value in item.items() if name != "name"})
    return ", ".join(filter(None, (str(item["name"]), said)))


def _record_rows(record: JsonObject) -> list[tuple[str, str]]:
    request, source = record.get("request") or {}, record.get("input") or {}
    files = source.get("files") or ()
    rows = [
        ("Input", source.get("name") or None),
        *((file.get("name") or file.get("path") or "File", file.get("sha256", "")) for file in files),
        ("Original, SHA-256", source.get("original_sha256") or record.get("original_sha256")),
        ("Policy, SHA-256", record.get("policy_sha256")),
        ("Results, SHA-256", record.get("results_sha256")),
        ("Seed", request.get("seed", record.get("seed"))),
        *(_asked(k, v) for k, v in request.items() if k != "seed" and v is not None),
    ]
    return [(str(name), str(value)) for name, value in rows if value is not None]


def _asked(name: str, value: object) -> tuple[str, str]:
    """Return what was asked for and its value; the methods of a comparison are listed above.

    >>> _asked("points", [{"name": "none"}, {"name": "suppress"}]), _asked("time_limit", 60.0)
    (('Protections', '1, as listed above'), ('Time limit', '60 seconds'))
    """
    if name == "points" and isinstance(value, list | tuple):
        return "Protections", f"{sum(one['name'] != 'none' for one in value):,}, as listed above"
    if name == "protection" and value == "propose":
        return "Protection", "the first in the policy's order that meets it"
    return _words(name).capitalize(), f"{_text(value)}{' seconds' if name == 'time_limit' else ''}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(str(k))} {_text(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
