"""How a reply to a planned call becomes a verdict on the plan's scale."""

from evenhand.design.plan import Plan
from evenhand.design.request import PlannedCall
from evenhand.errors import RequestError
from evenhand.verdicts.parsing import Parsed
from evenhand.verdicts.parsing.forms import declared_form
from evenhand.verdicts.spec import Spec

_FIRST, _SECOND = "A", "B"


class ReplyReader:
    """Parses replies in the declared form; a verdict on a pair shown in the other order is mapped back to its sides."""

    def __init__(self, plan: Plan) -> None:
        """Prepare the parser.

        Raises:
            RequestError: the plan declares no form.
        """
        form = declared_form(plan.spec())
        if form is None:
            raise RequestError("[reply] parse: name the form of a reply, such as yes-no")
        self._form, self._plan = form, plan

    def parse(self, call: PlannedCall, text: str, refusal: str = "", finish_reason: str = "stop") -> Parsed:
        """The verdict of a reply; one that fits no declared form is unparsed and kept as it is."""
        if refusal or finish_reason == "content_filter":
            return Parsed(None, "refused", refusal or text, refusal or text, detail="the provider refused")
        found = self._form.parser.parse(text)
        if found.value is not None and call.labels.get("order") == "BA":
            swapped = {_FIRST: _SECOND, _SECOND: _FIRST}.get(found.value, found.value)
            return Parsed(
                swapped, found.status, found.text, found.raw_value, explanation=found.explanation, notes=found.notes
            )
        return found

    def verdict_spec(self) -> Spec:
        """How an audit reads the verdicts of a run."""
        plan = self._plan
        roles = {
            "response": ("response_id",),
            "rater": "rater_id",
            "verdict": "value",
            "status": "status",
            "reason": "reason",
            "model": "model",
            "phrasing": "phrasing",
            "occasion": "occasion",
            "arm": "arm",
        }
        if plan.unit == "learner" and not plan.bank.criteria:
            roles["cluster"] = (
                "learner_id"  # what the plan says its intervals resample; a checklist belongs to its question
            )
        elif plan.bank.cluster:
            roles["cluster"] = "cluster_id"
        if plan.bank.reference:
            roles["reference"] = "reference"
        if plan.bank.criteria:
            roles["criterion"] = "criterion_id"
        if plan.scale.kind == "pairwise":
            roles["order"] = "order"
        scale = plan.spec().model_dump(exclude_defaults=True, exclude={"parse", "refusal"})
        return Spec.of(**roles, **scale)
