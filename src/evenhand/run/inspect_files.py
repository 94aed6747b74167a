"""A design as an Inspect AI task: a task file, its dataset, the plan that reads replies, and the spec that audits the log."""

import json
from pathlib import Path

from evenhand.design.calls import Design
from evenhand.design.reading import ReplyReader
from evenhand.errors import OutputError, RequestError, printable
from evenhand.output import new_file, write_text
from evenhand.run.folder import plan_json
from evenhand.verdicts.spec import Spec

MARK = "written by evenhand run --as-inspect-task"
METADATA = "extra.metadata."
"""How an imported log calls what stands in the metadata of a sample."""
_ROLES = (
    "rater",
    "verdict",
    "status",
    "reason",
    "model",
    "phrasing",
    "occasion",
    "arm",
    "cluster",
    "reference",
    "criterion",
    "order",
)
_TASK = '''"""Inspect task of a plan, {mark}.

Each sample is one call of the plan, in a conversation of its own; its metadata say which observation it is. Run it with Inspect:

    inspect eval {name}

and audit the log with the spec beside this file:

    evenhand audit logs/LOG.eval --spec {spec}
"""

from inspect_ai import task

from evenhand.run.inspect_task import judge_task

'''
_ONE = """
@task
def {function}():
    return judge_task(__file__, {judge})

"""


def write_inspect_task(design: Design, path: Path) -> tuple[Path, ...]:
    """Write the files of a task and return them: the task, its dataset, the plan and the spec.

    Args:
        design: what is asked; a task for each of its judges.
        path: of the task, a .py file; the others stand beside it under its name.

    Raises:
        RequestError: the name is none of a Python module, or a key stands in the plan.
        OutputError: a file there was not written by this command, or the place cannot be written.
    """
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise RequestError(f"{printable(str(path))}: name the task as a Python module, such as judge_study.py")
    dataset, plan, spec = (path.with_name(path.stem + ending) for ending in (".jsonl", ".plan.json", ".spec.toml"))
    taken = [one for one in (path, dataset, plan, spec) if one.exists()]
    if taken and not _is_ours(path):
        raise OutputError(
            f"{printable(str(taken[0]))}: exists and no task of evenhand stands at {path.name}; choose another name"
        )
    schema = next(design.calls()).request.schema
    recorded = {**json.loads(plan_json(design)), "schema": dict(schema) if schema is not None else None}
    with new_file(dataset) as draft, draft.open("w", encoding="utf-8") as stream:
        for call in design.calls():
            messages = [{"role": message.role, "content": message.content} for message in call.request.messages]
            known = {**call.labels, "call": call.key, "request": call.request.fingerprint, "plan": design.saved.hash}
            sample = {"id": call.key, "input": messages, "target": call.labels.get("reference", ""), "metadata": known}
            stream.write(json.dumps(sample, ensure_ascii=False) + "\n")
    write_text(plan, json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
    write_text(spec, _spec(design).to_toml())
    tasks = [
        _ONE.format(
            function=f"judge_{number}" if len(design.plan.judge) > 1 else path.stem, judge=json.dumps(judge.name)
        )
        for number, judge in enumerate(design.plan.judge, 1)
    ]
    write_text(path, _TASK.format(mark=MARK, name=path.name, spec=spec.name) + "".join(tasks).rstrip("\n") + "\n")
    return path, dataset, plan, spec


def _spec(design: Design) -> Spec:
    """How an audit reads the log: the same roles as the verdicts of a run have, found among the metadata of samples."""
    spec = ReplyReader(design.plan).verdict_spec()
    roles = {name: f"{METADATA}{column}" for name in _ROLES if (column := getattr(spec, name))}
    return spec.model_copy(update={**roles, "response": (f"{METADATA}response_id",)})


def _is_ours(path: Path) -> bool:
    try:
        return MARK in path.read_text(encoding="utf-8")[:500]
    except (OSError, UnicodeDecodeError):
        return False
