"""The API against everything that its model allows, and much that it does not: never a 5xx, and
every answer as the model has it."""

from collections.abc import Mapping
from typing import Any

import pytest
from botocore.model import ListShape, Shape, StructureShape
from django.conf import LazySettings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hits.marketplace import shapes, work
from hits.marketplace.models import HIT, QualificationType, Requester
from hits.marketplace.operations import LEFT_OUT, OPERATIONS
from tests.marketplace import world
from tests.marketplace.asking import QUESTION
from tests.marketplace.signed import HOST, call

ERRORS = {"RequestError", "ValidationException", "SerializationException"}
TEST = '<QuestionForm xmlns="http://mechanicalturk.amazonaws.com/"><Question/></QuestionForm>'

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
SYSTEM_TYPES = ["00000000000000000040", "00000000000000000071", "000000000000000000L0"]
# What a requester means by a parameter that the model calls a string or a number.
MEANT: Mapping[str, st.SearchStrategy[Any]] = {
    "Question": st.sampled_from([QUESTION, QUESTION.replace("https", "http"), "<x/>", "<"]),
    "Test": st.sampled_from([TEST, "<AnswerKey/>", "nothing"]),
    "AnswerKey": st.sampled_from(["<AnswerKey/>", TEST]),
    "LifetimeInSeconds": st.integers(0, 40_000_000),
    "AssignmentDurationInSeconds": st.integers(0, 40_000_000),
    "AutoApprovalDelayInSeconds": st.integers(-1, 3_000_000),
    "MaxAssignments": st.integers(0, 12) | st.integers(1, 2_000_000_000),
    "NumberOfAdditionalAssignments": st.integers(-1, 12) | st.integers(1, 2**31 - 1),
    "Reward": st.sampled_from(["0", "0.01", "0.65", "1.", "99999.99", "99999999999999999999"]),
    "BonusAmount": st.sampled_from(["0", "0.01", "0.65", "1.", "99999999999999999999"]),
    "Transport": st.sampled_from(["SQS", "SNS", "Email"]),
    "Destination": st.sampled_from(["arn:aws:sns:us-east-1:1:topic", "http://[::1", "http://h/"]),
    "Version": st.sampled_from(["2014-08-15", "2006-05-05", "1"]),
    "UniqueRequestToken": st.sampled_from(["one", "two", "three"]),
    "Country": st.sampled_from(["US", "GB"]),
    **dict.fromkeys(
        ["Title", "Description", "Name", "Reason", "Subject", "MessageText"],
        st.sampled_from(["a", "words", "x" * 129, "x" * 2001]),
    ),
}
IDS: dict[str, list[str]] = {}


def values(shape: Shape, name: str = "") -> st.SearchStrategy[Any]:
    if isinstance(shape, StructureShape):
        required = {one: values(shape.members[one], one) for one in shape.required_members}
        optional = {
            one: values(member, one)
            for one, member in shape.members.items()
            if one not in required and one not in UNSUPPORTED
        }
        return st.fixed_dictionaries(required, optional=optional)
    if isinstance(shape, ListShape):
        return st.lists(values(shape.member, name), max_size=3)
    return scalars(shape, name)


UNSUPPORTED = {"AssignmentReviewPolicy", "HITReviewPolicy", "HITLayoutId", "HITLayoutParameters"}


def scalars(shape: Shape, name: str) -> st.SearchStrategy[Any]:
    if name in IDS:
        return st.sampled_from(IDS[name])
    if name in MEANT:
        if shape.type_name != "string":
            return MEANT[name]
        return st.one_of(MEANT[name], MEANT[name], MEANT[name], st.text(max_size=70))
    if "enum" in shape.metadata:
        return st.sampled_from(shape.metadata["enum"])
    if "pattern" in shape.metadata:
        return st.from_regex(shape.metadata["pattern"])
    return {
        "string": st.text(max_size=shape.metadata.get("max", 300) + 1),
        "integer": st.integers(0, 101) | st.integers(-(2**31), 2**31 - 1),
        "long": st.integers(-(2**63), 2**63 - 1),
        "boolean": st.booleans(),
        "timestamp": st.integers(-(10**9), 10**11) | st.floats(0, 4e9),
    }[shape.type_name]


@pytest.fixture
def busy(db: None, settings: LazySettings) -> Requester:
    """A requester with a HIT in each state and everything that the API can name."""
    settings.MARKETPLACE_HOST = HOST
    owner = world.requester(balance="500000.00")
    kind = world.hit_type(owner)
    hits = [world.hit(kind, assignments=size) for size in (1, 3, 9, 10)]
    workers = [world.worker() for _ in range(4)]
    first = [work.accept(worker=worker, hit=hits[1]) for worker in workers[:3]]
    work.submit(assignment=first[0], answers=[("q", "a")])
    last = work.submit(assignment=work.accept(worker=workers[0], hit=hits[0]), answers=[("q", "a")])
    grades = [
        QualificationType.objects.create(
            requester=owner, name=f"Grade {number}", description="A grade", is_active=True
        )
        for number in range(5)
    ]
    requests = [grade.requests.create(worker=workers[3]) for grade in grades]
    IDS.update(
        HITId=[hit.hit_id for hit in hits] + ["3NOBODY"],
        HITTypeId=[kind.hit_type_id, "3NOBODY"],
        AssignmentId=[one.assignment_id for one in (*first, last)] + ["3NOBODY"],
        WorkerId=[worker.worker_id for worker in workers] + ["ANOBODY"],
        WorkerIds=[worker.worker_id for worker in workers] + ["ANOBODY"],
        QualificationTypeId=[grade.qualification_type_id for grade in grades] + SYSTEM_TYPES,
        QualificationRequestId=[request.request_id for request in requests] + ["3NOBODY"],
    )
    return owner


def assert_answered(operation: str, status: int, answer: Any) -> None:
    if status == 200:
        assert not shapes.problems(shapes.operation(operation).output_shape, answer)
    else:
        assert status == 400, answer
        assert answer["__type"] in ERRORS, answer
        assert answer["Message"]


def fuzzed(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def calls() -> st.SearchStrategy[tuple[str, Any]]:
    def of(operation: str) -> st.SearchStrategy[tuple[str, Any]]:
        shape = shapes.operation(operation).input_shape
        return st.tuples(st.just(operation), values(shape) if shape else st.just({}))

    return st.sampled_from(sorted(shapes.OPERATIONS)).flatmap(of)


def test_every_operation_of_the_model_is_done_or_left_out_by_name() -> None:
    assert set(OPERATIONS) | set(LEFT_OUT) == shapes.OPERATIONS
    assert not set(OPERATIONS) & set(LEFT_OUT)


def check_documented_parameters(busy: Requester, examples: int) -> None:
    succeeded = set()

    @fuzzed(examples)
    @given(request=st.deferred(calls))
    def documented(request: tuple[str, Any]) -> None:
        operation, parameters = request
        status, answer = call(busy, operation, parameters)
        assert_answered(operation, status, answer)
        if status == 200:
            succeeded.add(operation)

    documented()
    assert len(succeeded) > 10
    assert_never_oversold()


def assert_never_oversold() -> None:
    for hit in HIT.objects.all():
        taken = hit.assignments.filter(status__in=["Accepted", "Submitted", "Approved", "Rejected"])
        assert taken.count() <= hit.max_assignments


def test_documented_parameters_never_make_the_server_fail(busy: Requester) -> None:
    check_documented_parameters(busy, 400)


@pytest.mark.deep
def test_many_documented_parameters_never_make_the_server_fail(busy: Requester) -> None:
    check_documented_parameters(busy, 3_000)


def test_any_json_is_answered(busy: Requester) -> None:
    @fuzzed(150)
    @given(operation=st.sampled_from(sorted(shapes.OPERATIONS)), body=JSON)
    def anything(operation: str, body: Any) -> None:
        assert_answered(operation, *call(busy, operation, body))

    anything()


def test_one_wrong_member_is_answered(busy: Requester) -> None:
    @fuzzed(150)
    @given(request=st.deferred(calls), wrong=JSON, data=st.data())
    def spoiled(request: tuple[str, Any], wrong: Any, data: st.DataObject) -> None:
        operation, parameters = request
        if parameters:
            name = data.draw(st.sampled_from(sorted(parameters)))
            parameters = parameters | {name: wrong}
        assert_answered(operation, *call(busy, operation, parameters))

    spoiled()


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"HITId": NaN}',
        b'{"HITId": "\\ud800"}',
        b'{"HITId": "A\\u0000"}',
        b'{"HITId": "A\\n"}',
        b'{"ExpireAt": 1e400, "HITId": "A"}',
        b"null",
        b'"text"',
    ],
)
def test_a_body_that_is_no_request_is_answered(busy: Requester, body: bytes) -> None:
    for operation in ("GetHIT", "UpdateExpirationForHIT"):
        assert_answered(operation, *call(busy, operation, body))
