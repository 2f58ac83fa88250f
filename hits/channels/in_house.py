"""Raters of the house: they log in here, so there is nobody to call and nothing to confirm."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from hits.channels.contract import (
    Call,
    Capabilities,
    Cost,
    Entry,
    FormToPost,
    Order,
    Outcome,
    Refusal,
    Requirement,
    Result,
    Submitted,
)
from hits.records import Json

IN_HOUSE = "in_house"


class InHouse:
    name = IN_HOUSE
    capabilities = Capabilities(
        tickets=False,
        bonus=False,
        unreject=None,
        most_requirements=0,
        most_notified=0,
        remembers_tokens=timedelta(0),
    )
    frame_ancestors: Sequence[str] = ()
    submit_origin = ""
    sends_events = False

    def write(self, order: Order) -> Json:
        raise Refusal("Raters of the house need no tickets and are paid elsewhere.")

    def has_token(self, action: str) -> bool:
        return False

    def make(self, call: Call) -> Outcome:
        return Outcome(Result.REFUSED, message="There is nobody to call for raters of the house.")

    def look_up(self, call: Call) -> Outcome:
        return self.make(call)

    def admit(self, query: Mapping[str, str]) -> Entry:
        raise Refusal("Raters of the house log in.")

    def finish(self, *, ref: str, worker: str, receipt: str) -> FormToPost:
        raise Refusal("What raters of the house submit is here already.")

    def list_submissions(
        self, publication_ref: str, hit_ids: Collection[str]
    ) -> Iterator[Submitted]:
        return iter(())

    def balance(self) -> Decimal | None:
        return None

    def cost(
        self, *, pages: int, reward: Decimal, requirements: Sequence[Requirement] = ()
    ) -> Cost:
        return Cost(pages=pages, reward=reward, fee=Decimal("0.00"))

    def bonus_cost(self, amount: Decimal) -> Decimal:
        return amount

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> list[str]:
        raise Refusal("Nobody sends hints about raters of the house.")

    def poll_events(self) -> list[str]:
        return []
