"""What a written Inspect task runs: one generation a sample, read by the plan's own strict form, with the verdict in its metadata.

Imported by Inspect from the task file, so it needs Inspect AI beside evenhand.
"""

import importlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.design.plan import Plan
from evenhand.design.reading import ReplyReader
from evenhand.design.request import Message, PlannedCall, Request
from evenhand.errors import RequestError, SourceError, printable
from evenhand.run.backends.inspect_model import FINISH, check_settings, response_schema


def judge_task(file: str, judge: str) -> Any:
    """The task of one judge of a plan.

    Args:
        file: the task file; dataset and plan stand beside it under its name.
        judge: name in the plan.

    Returns:
        An ``inspect_ai.Task``. Its model is the plan's where the plan reaches it through Inspect; else name one: --model.

    Raises:
        SourceError: a file beside it is not there, or is not what was written.
        RequestError: the judge has a setting that Inspect does not know.
    """
    inspect_ai: Any = importlib.import_module("inspect_ai")
    api: Any = importlib.import_module("inspect_ai.model")
    dataset: Any = importlib.import_module("inspect_ai.dataset")
    path = Path(file)
    plan, schema = _plan(path.with_name(path.stem + ".plan.json"))
    part = next((one for one in plan.judge if one.name == judge), None)
    if part is None:
        raise RequestError(f'{printable(path.name)}: no judge "{printable(judge)}" in the plan beside it')
    check_settings(part, api.GenerateConfig.model_fields)
    settings = {**part.settings, **({"response_schema": response_schema(schema)} if schema else {})}
    every = dataset.json_dataset(str(path.with_name(path.stem + ".jsonl")))
    return inspect_ai.Task(
        dataset=every.filter(lambda sample: sample.metadata["rater_id"] == judge),
        solver=_judged(plan),
        scorer=_verdict(),
        config=api.GenerateConfig(**settings),
        model=part.model if part.backend == "inspect" else None,
    )


def _plan(path: Path) -> tuple[Plan, dict[str, Any] | None]:
    """The plan as it was recorded, and the schema of a structured reply."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Plan(**found["plan"]), found["schema"]
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise SourceError(
            f"{printable(path.name)}: not the plan of this task ({type(problem).__name__}); write the task again with "
            "evenhand run PLAN.toml --as-inspect-task"
        ) from None


def _judged(plan: Plan) -> Any:
    """A solver: one generation, and how it is read, into the metadata of the sample."""
    solver: Any = importlib.import_module("inspect_ai.solver")
    reader = ReplyReader(plan)

    @solver.solver(name="evenhand_judge")  # type: ignore[untyped-decorator]
    def judged() -> Callable[[Any, Any], Any]:
        async def solve(state: Any, generate: Any) -> Any:
            state = await generate(state)
            call = PlannedCall(0, dict(state.metadata), _NO_REQUEST)
            finish = str(state.output.stop_reason)
            read = reader.parse(call, state.output.completion or "", "", FINISH.get(finish, finish))
            # a log has no column for what is null everywhere, and the spec names these three
            state.metadata |= {"value": read.value or "", "status": read.status, "reason": read.reason or ""}
            state.metadata["model"] = str(state.output.model or state.metadata["model"])
            return state

        return solve

    return judged()


_NO_REQUEST = Request("inspect", "", (Message("user", ""),))


def _verdict() -> Any:
    """A scorer that says the verdict in Inspect's own terms; NaN is its sign for a sample without a score."""
    scorers: Any = importlib.import_module("inspect_ai.scorer")

    @scorers.scorer(metrics=[], name="evenhand_verdict")  # type: ignore[untyped-decorator]
    def verdict() -> Callable[[Any, Any], Any]:
        async def score(state: Any, _target: Any) -> Any:
            value = state.metadata.get("value")
            return scorers.Score(
                value=value or math.nan,
                answer=state.output.completion,
                explanation=state.metadata.get("reason") or state.metadata.get("status"),
            )

        return score

    return verdict()
