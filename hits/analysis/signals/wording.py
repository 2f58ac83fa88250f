"""Numbers and chances as signals word them."""


def many(number: int, one: str, several: str | None = None) -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"


def chance(probability: float) -> str:
    if probability < 1e-6:
        return "less than once in a million"
    if probability < 0.01:
        return f"once in {1 / probability:,.0f}"
    return f"in {probability:.0%} of cases"
