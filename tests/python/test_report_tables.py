"""Reports of real tables of 8, 14, 23, 37 and 100 columns, as they are seen on desks and telephones."""

from functools import cache

import polars as pl
import pytest

import arbornet as an
from opened_reports import WINDOWS, in_a_browser, select
from places import DATA
from test_report_look import CUT_OFF, LABELS, OUTSIDE

pytestmark = in_a_browser

TABLES = {
    8: ("examples/penguins", {}),
    14: ("examples/heart-disease-cleveland", {}),
    23: ("uci/parkinsons", {"max_parents": 1}),
    37: ("carvalho/satimage", {"max_parents": 1}),
    100: ("simulated/cg100_d2_n200_s1", {"max_parents": 1}),
}


@cache
def learned(n):
    name, how = TABLES[n]
    frame = pl.read_csv(DATA / f"{name}.csv.gz", null_values=["NA", ""]).head(500)
    net = an.learn(frame, **({"max_parents": 2} | how), search="hill_climb", verbose=False)
    assert frame.width == n
    return frame, net


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")

    @cache
    def write(n):
        frame, net = learned(n)
        net.report(folder / f"{n}.html", frame, title=f"Table {n}")
        return folder / f"{n}.html"

    return write


@pytest.mark.parametrize(("width", "height"), WINDOWS)
@pytest.mark.parametrize("n", TABLES)
def test_the_report_of_a_table_can_be_read(open_report, written, n, width, height):
    _, net = learned(n)
    page = open_report(written(n), width=width, height=height, dark=n % 2 == 1)
    assert page.run("document.querySelector('h1').textContent") == f"Table {n}"
    assert page.run("all('.an-node').length") == len(net.names)
    phone = width < 1000
    if phone or n <= 37:
        assert page.run(LABELS) >= 11
    if not phone:
        assert page.run(OUTSIDE) == 0
        assert page.run("box(document.querySelector('#graph'))[3]") <= height
    most = max(range(len(net.names)), key=lambda i: net[net.names[i]].n_leaves)
    select(page, most)
    assert page.run(CUT_OFF) == 0
    assert page.run("document.documentElement.scrollWidth") <= width
    leaves = net[net.names[most]].n_leaves
    assert page.run("all('article:not([hidden]) .tree .leaf').length") == leaves
    if phone:
        top = page.run("box(document.querySelector('article:not([hidden]) h2'))[1]")
        assert 0 <= top < 200, "a tap scrolls to what it shows"
    words = set(page.run("all('#arc-table tbody tr').map((e) => e.cells[2].textContent)"))
    assert words <= {"weak", "moderate", "strong", "decisive"}
    assert words
