"""The demo has a small study of every kind of question."""

from hits.demo.trials import TRIALS
from hits.protocol import registry


def test_every_protocol_can_be_tried() -> None:
    assert {trial.protocol for trial in TRIALS} | {"matching"} == set(registry())
