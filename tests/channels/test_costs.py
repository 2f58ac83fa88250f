from decimal import Decimal

import pytest

from hits.channels import costs
from hits.channels.contract import Requirement
from hits.channels.in_house import InHouse
from hits.channels.mturk import MTurk

VALUES = {"url": "http://x", "submit": "http://x", "region": "r", "access_key": "a"}


@pytest.mark.parametrize(
    ("reward", "assignments", "masters", "page"),
    [
        ("0.65", 1, False, "0.78"),
        ("1.40", 1, False, "1.68"),
        ("0.00", 1, False, "0.01"),
        ("0.01", 1, False, "0.02"),
        ("0.05", 1, False, "0.06"),
        ("0.07", 1, False, "0.08"),
        ("0.08", 1, False, "0.10"),
        ("0.12", 1, False, "0.14"),
        ("0.13", 1, False, "0.16"),
        ("0.65", 9, False, "0.78"),
        ("0.65", 10, False, "0.91"),
        ("0.01", 9, False, "0.02"),
        ("0.01", 10, False, "0.02"),
        ("0.65", 1, True, "0.81"),
        ("0.02", 1, True, "0.03"),
        ("1.00", 9, True, "1.25"),
        ("1.00", 10, True, "1.45"),
    ],
)
def test_a_page_costs_its_reward_and_the_fee(
    reward: str, assignments: int, masters: bool, page: str
) -> None:
    given = Decimal(reward)
    assert given + costs.fee(given, assignments=assignments, masters=masters) == Decimal(page)


@pytest.mark.parametrize(
    ("amount", "cost"), [("0.01", "0.02"), ("0.05", "0.06"), ("1.00", "1.20"), ("2.53", "3.04")]
)
def test_a_bonus_costs_a_fifth_more_and_at_least_a_cent(amount: str, cost: str) -> None:
    assert Decimal(amount) + costs.bonus_fee(Decimal(amount)) == Decimal(cost)


def test_a_ticket_is_one_assignment_so_its_fee_stays_at_a_fifth() -> None:
    channel = MTurk("local", {**VALUES, "secret_key": "s"})
    cost = channel.cost(pages=2160, reward=Decimal("0.65"))
    assert (cost.page, cost.total) == (Decimal("0.78"), Decimal("1684.80"))


def test_masters_cost_more() -> None:
    channel = MTurk("local", {**VALUES, "secret_key": "s"})
    masters = [Requirement(Requirement.MASTERS, "Exists")]
    assert channel.cost(pages=1, reward=Decimal("1.00"), requirements=masters).fee == Decimal(
        "0.25"
    )


def test_raters_of_the_house_cost_no_fee() -> None:
    assert InHouse().cost(pages=10, reward=Decimal("0.65")).total == Decimal("6.50")
