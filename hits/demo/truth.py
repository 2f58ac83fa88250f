"""Whether what a caption says holds in a scene, graded like the choices of the matching protocol.

Every statement of a claim that does not hold is one fault:
- a colour, size, number, pose, direction, setting or relation that is otherwise in the scene;
- an object of another class of the same family in its place;
- an object that is not there at all;
and so is a main group (the one that takes most room) of which nothing is said.

yes          no fault
no           no object of the claim is in the scene, nor another of its family in its place
partial_yes  one fault, and an object of the right class
mostly_no    all else

A number counts all things in the scene that fit the rest of what is said of them: "two balls"
holds of a red ball and a blue one, "a ball" does not, "a red ball" does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from hits.demo.scenes import KINDS, Facing, Group, Scene, Size

Choice = Literal["yes", "partial_yes", "mostly_no", "no"]
Reason = Literal["absent", "undescribed", "wrong", "grammar"]
Error = Literal[
    "quantity",
    "appearance",
    "class",
    "gender",
    "age",
    "action",
    "emotion",
    "location",
    "orientation",
    "other",
]

MANY = 99


@dataclass(frozen=True, slots=True)
class Mention:
    """Objects named in a caption; what is None is not said. `fewest` and `most` are inclusive."""

    kinds: tuple[str, ...]
    fewest: int = 1
    most: int = 1
    colour: str | None = None
    size: Size | None = None
    pose: str | None = None
    facing: Facing | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """Between two mentions of a claim, by their places in it."""

    subject: int
    name: Literal["left_of", "above"]
    object: int


@dataclass(frozen=True, slots=True)
class Claim:
    mentions: tuple[Mention, ...]
    settings: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    choice: Choice
    reasons: frozenset[Reason] = frozenset()
    errors: frozenset[Error] = frozenset()


@dataclass(slots=True)
class _Findings:
    faults: int = 0
    reasons: set[Reason] = field(default_factory=set)
    errors: set[Error] = field(default_factory=set)

    def fault(self, reason: Reason, *errors: Error) -> None:
        self.faults += max(1, len(errors))
        self.reasons.add(reason)
        self.errors.update(errors)


def is_true(scene: Scene, claim: Claim) -> Truth:
    findings = _Findings()
    meant = _groups_meant(scene, claim, findings)
    if claim.settings and scene.setting not in claim.settings:
        findings.fault("wrong", "location")
    for relation in claim.relations:
        subject, object_ = meant[relation.subject], meant[relation.object]
        if subject and object_ and not _holds(relation, subject, object_):
            findings.fault("wrong", "location")
    if not any(scene.main in groups for groups in meant):
        findings.fault("undescribed")
    return Truth(
        _choice(claim, meant, findings.faults),
        frozenset(findings.reasons),
        frozenset(findings.errors),
    )


def _choice(claim: Claim, meant: list[list[Group]], faults: int) -> Choice:
    if not faults:
        return "yes"
    if not any(meant):
        return "no"
    of_the_right_class = any(
        groups and groups[0].kind in mention.kinds
        for mention, groups in zip(claim.mentions, meant, strict=True)
    )
    return "partial_yes" if faults == 1 and of_the_right_class else "mostly_no"


def _groups_meant(scene: Scene, claim: Claim, findings: _Findings) -> list[list[Group]]:
    """For each mention the groups it speaks of: those it fits, else the likest still free."""
    meant: list[list[Group]] = [_fitting(scene, mention) for mention in claim.mentions]
    free = [group for group in scene.groups if not any(group in groups for groups in meant)]
    for place, mention in enumerate(claim.mentions):
        if meant[place]:
            continue
        likest = _likest(mention, free)
        if likest is None:
            findings.fault("absent")
            continue
        findings.fault("wrong", *_errors(mention, likest))
        free.remove(likest)
        meant[place] = [likest]
    return meant


def _fitting(scene: Scene, mention: Mention) -> list[Group]:
    groups = [
        group
        for group in scene.groups
        if group.kind in mention.kinds and not _looks_different(mention, group)
    ]
    number = sum(group.count for group in groups)
    return groups if mention.fewest <= number <= mention.most else []


def _likest(mention: Mention, free: Sequence[Group]) -> Group | None:
    same = [group for group in free if group.kind in mention.kinds]
    if same:
        return min(same, key=lambda group: len(_errors(mention, group)))
    families = {KINDS[kind].family for kind in mention.kinds}
    return next((group for group in free if KINDS[group.kind].family in families), None)


def _errors(mention: Mention, group: Group) -> list[Error]:
    if group.kind not in mention.kinds:
        return ["class"]
    errors = _looks_different(mention, group)
    if not mention.fewest <= group.count <= mention.most or not errors:
        errors.append("quantity")
    return errors


def _looks_different(mention: Mention, group: Group) -> list[Error]:
    errors: list[Error] = []
    if mention.colour is not None and mention.colour != group.colour:
        errors.append("appearance")
    if mention.size is not None and mention.size != group.size:
        errors.append("other")
    if mention.pose is not None and mention.pose != group.pose:
        errors.append("action")
    if mention.facing is not None and mention.facing != group.facing:
        errors.append("orientation")
    return errors


def _holds(relation: Relation, subject: list[Group], object_: list[Group]) -> bool:
    ours = [thing for group in subject for thing in group.things]
    theirs = [thing for group in object_ for thing in group.things]
    if relation.name == "left_of":
        return max(thing.right for thing in ours) <= min(thing.left for thing in theirs)
    return max(thing.bottom for thing in ours) <= min(thing.top for thing in theirs)
