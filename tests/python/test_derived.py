"""Numbers that other columns make: found, but for rounding, and nothing that only comes close."""

from __future__ import annotations

import numpy as np
import pytest

import arbornet as an

N = 300
random = np.random.default_rng(5)
PRICE = np.round(random.lognormal(3, 1, N), 2)
QUANTITY = random.integers(1, 30, N)
LOW, WIDTH = np.round(random.normal(50, 10, N), 1), np.round(random.uniform(1, 30, N), 1)


def told(**columns: object) -> list[str]:
    found = map(str, an.infer_schema(dict(columns)).findings)
    return [one.partition(" in every row")[0] for one in found if "but for rounding" in one]


def test_products_sums_and_shares_are_found_in_spite_of_rounding() -> None:
    total = np.round(PRICE * QUANTITY, 2)
    assert told(price=PRICE, quantity=QUANTITY, total=total) == ["'total' is 'price' times 'quantity'"]
    assert told(total=total, price=PRICE, quantity=QUANTITY) == ["'total' is 'price' times 'quantity'"]
    assert told(low=LOW, width=WIDTH, high=LOW + WIDTH) == ["'high' is 'low' plus 'width'"]
    assert told(low=LOW, high=np.round(LOW + WIDTH, 1), width=WIDTH) == ["'width' is 'high' minus 'low'"]
    assert told(total=total, vat=np.round(0.19 * total, 0)) == ["'vat' is 0.19 times 'total'"]


def test_a_column_that_is_made_of_a_made_one_is_told_by_what_makes_it() -> None:
    total = np.round(PRICE * QUANTITY, 2)
    found = told(price=PRICE, quantity=QUANTITY, total=total, vat=np.round(0.19 * total, 0))
    assert found == ["'vat' is 0.19 times 'total'", "'total' is 'price' times 'quantity'"]


@pytest.mark.parametrize("off", [0.02, 1.0])
def test_one_row_that_does_not_fit_is_enough(off: float) -> None:
    total = np.round(PRICE * QUANTITY, 2)
    total[150] += off
    assert told(price=PRICE, quantity=QUANTITY, total=total) == []


def test_rows_with_a_missing_value_are_passed_over_unless_they_are_most() -> None:
    total = np.round(PRICE * QUANTITY, 2)
    assert told(price=np.where(np.arange(N) % 5 == 0, np.nan, PRICE), quantity=QUANTITY, total=total) == [
        "'total' is 'price' times 'quantity'"
    ]
    assert told(price=np.where(np.arange(N) % 5 < 2, np.nan, PRICE), quantity=QUANTITY, total=total, x=LOW) == [
        "'total' is 'price' times 'quantity'"
    ]
    few = np.where(np.arange(N) % 5 < 3, np.nan, PRICE)
    assert not any("times" in one for one in told(price=few, quantity=QUANTITY, total=total))


def test_numbers_of_few_values_that_hardly_vary_or_are_huge_tell_nothing() -> None:
    a, b = random.integers(0, 3, N), random.integers(0, 3, N)
    assert told(a=a, b=b, sum=a + b, x=LOW) == []
    assert told(x=np.linspace(1, 1.4, N), y=np.round(np.linspace(1, 1.4, N)) + random.integers(0, 2, N), z=LOW) == []
    huge = 10.0 ** random.uniform(200, 300, N)
    assert told(a=huge, b=10.0 ** random.uniform(100, 200, N), c=LOW) == []


def test_what_is_independent_is_no_sum_in_many_columns() -> None:
    assert told(**{f"x{i}": np.round(random.normal(size=N), 1) for i in range(30)}) == []
