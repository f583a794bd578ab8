"""The report as it is seen, measured in a browser: what fits, what can be read, what is cut off."""

import dataclasses

import pytest

from arbornet.show.draw.parts import Leaf, Node, Split, Tree
from made_reports import ADVICE, made_report
from opened_reports import DESKS, WINDOWS, in_a_browser, select

pytestmark = in_a_browser

PHONE = {"width": 390, "height": 844}
FIRST = "all('.an-node').map(box).sort((a, b) => a[1] - b[1])[0]"
OUTSIDE = """(() => { const [l, t, r, b] = box(document.querySelector('#graph'));
  return all('.an-node').filter((n) => { const [x, y, u, v] = box(n);
    return x < l - 1 || y < t - 1 || u > r + 1 || v > b + 1 }).length })()"""
# Texts are 13 units high.
LABELS = "13 * Math.min(...all('.an-node rect, .an-node polygon').map((e) => e.getScreenCTM().a))"
CUT_OFF = """(() => { const [l, , r] = box(document.querySelector('#details')); const edge = r - 1, start = l + 1;
  return all('article:not([hidden]) .tree .says, article:not([hidden]) .tree .chart').filter(seen)
    .filter((e) => { const [x, , u] = box(e); return u > edge || x < start || e.scrollWidth > e.clientWidth + 1 })
    .length })()"""


def with_a_large_tree(report, i=2, n_leaves=33):
    """The report with a tree of 33 leaves, six questions deep, at one variable."""
    names = [variable.node.name for variable in report.variables]

    def grow(n, depth, rows):
        if n == 1:
            return Leaf(rows, (), 40.0 + 3 * depth, 5.0, 20)
        low = max(1, n // 3)
        cut = f"{10 * depth + n}.125"
        below = grow(low, depth + 1, max(1, rows // 5)), grow(n - low, depth + 1, max(1, rows - rows // 5))
        return Split(names[depth % 4 + 3], ((f"< {cut}", below[0]), (f"≥ {cut}", below[1])))

    variable = report.variables[i]
    node = Node(variable.node.name, "continuous")
    tree = Tree(node, grow(n_leaves, 0, 588))
    text = "\n".join(["a model as text"] * 40)
    changed = dataclasses.replace(variable, node=node, tree=tree, text=text, values=None)
    return dataclasses.replace(report, variables=(*report.variables[:i], changed, *report.variables[i + 1 :]))


@pytest.mark.parametrize(("width", "height"), DESKS)
@pytest.mark.parametrize("n", [1, 8, 14, 23, 40, 100])
def test_the_network_opens_whole_on_a_desk(open_report, n, width, height):
    page = open_report(made_report(n, arcs_per_variable=1.0), width=width, height=height)
    assert page.run(OUTSIDE) == 0
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("box(document.querySelector('#graph'))[3]") <= height, "without scrolling"


@pytest.mark.parametrize(("n", "arcs"), [(1, 1.0), (8, 2.0), (14, 2.0), (23, 2.0), (40, 1.0), (40, 2.0), (100, 1.0)])
def test_on_a_telephone_a_network_opens_legible_and_is_whole_at_a_tap(open_report, n, arcs):
    page = open_report(made_report(n, arcs_per_variable=arcs), **PHONE)
    assert page.run(LABELS) >= 11
    assert page.run("document.documentElement.scrollWidth") <= PHONE["width"]
    beyond = page.run("document.querySelector('main').classList.contains('beyond')")
    assert (page.run(OUTSIDE) > 0) == beyond
    top = page.run(FIRST)
    assert top[0] >= 0, "the first variable is in view"
    assert top[2] <= PHONE["width"]
    assert page.run("seen(document.querySelector('#swipe'))") == beyond
    page.run("document.querySelector('#fit').click()")
    assert page.run(OUTSIDE) == 0
    if beyond:
        small = page.run(LABELS)
        assert small < 11
        page.run("document.querySelector('#fit').click()")
        assert page.run(LABELS) >= 11, "and back"


def test_a_swipe_moves_what_is_wider_than_the_screen_and_ends_at_its_edges(open_report):
    page = open_report(made_report(40, arcs_per_variable=2.0), **PHONE)
    assert page.run("document.querySelector('main').classList.contains('beyond')")
    middle = page.run("(([l, t, r, b]) => [(l + r) / 2, t + 40])(box(document.querySelector('#graph')))")
    reach = "((xs) => [Math.min(...xs.map((b) => b[0])), Math.max(...xs.map((b) => b[2]))])(all('.an-node').map(box))"
    for way in (1, -1):
        for _ in range(6):
            page.drag(tuple(middle), (middle[0] + way * 150, middle[1]))
        edges = page.run("box(document.querySelector('#graph'))")
        near = page.run(reach)
        found = near[0] - edges[0] if way > 0 else edges[2] - near[1]
        assert 0 <= found < 60, "the last variable stands at the edge, and no empty room beside it"


def test_on_a_telephone_rows_of_tables_are_cards(open_report):
    page = open_report(made_report(14), **PHONE)
    select(page, 3)
    for table in ("#arc-table", "#type-table", "article:not([hidden]) table"):
        row = f"document.querySelector('{table} tbody tr')"
        assert page.run(f"{row}.scrollWidth <= {row}.clientWidth + 1")
        assert page.run(f"[...{row}.cells].every((e) => box(e)[2] <= innerWidth)")
    assert page.run("document.querySelector('#arc-table').scrollWidth") <= PHONE["width"]
    assert not page.run(
        "box(document.querySelector('#arc-table thead'))[3] > box(document.querySelector('#arc-table tbody'))[1] + 2"
    )


@pytest.mark.parametrize(("width", "height"), WINDOWS)
@pytest.mark.parametrize("n", [8, 20, 40])
def test_chains_are_folded_until_their_names_can_be_read(open_report, n, width, height):
    page = open_report(made_report(n, chain=True), width=width, height=height)
    assert page.run(LABELS) >= 11
    lines = page.run("new Set(all('.an-node').map((e) => Math.round(box(e)[1]))).size")
    assert lines > 1 or n == 8
    if width > 1000:
        assert page.run("box(document.querySelector('#graph'))[3]") <= height


@pytest.mark.parametrize("n", [8, 14, 23])
def test_names_can_be_read_on_a_desk(open_report, n):
    page = open_report(made_report(n, arcs_per_variable=1.2), width=1280, height=800)
    assert page.run(LABELS) >= 11


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1440, True), (390, False)])
def test_a_tree_fits_its_panel_and_can_be_unfolded_and_enlarged(open_report, width, dark):
    report, i, leaves = with_a_large_tree(made_report(14)), 2, 33
    page = open_report(report, width=width, height=844, dark=dark)
    select(page, i)
    line = "all('article:not([hidden]) .tree .leaf')"
    assert page.run(f"{line}.length") == leaves
    shown = page.run(f"{line}.filter(seen).length")
    assert 1 < shown < leaves, "small branches are folded"
    assert page.run(CUT_OFF) == 0
    first = page.run("box(document.querySelector('article:not([hidden]) .tree .line:not(.axis)'))[1]")
    panel = page.run("box(document.querySelector('#details'))[1]")
    assert first - panel < 320, "the root stands first"
    page.run("document.querySelector('article:not([hidden]) .unfold').click()")
    assert page.run(f"{line}.filter(seen).length") == leaves
    assert page.run(CUT_OFF) == 0
    page.run("document.querySelector('article:not([hidden]) .unfold').click()")
    assert page.run(f"{line}.filter(seen).length") == shown
    page.run("document.querySelector('article:not([hidden]) .enlarge').click()")
    assert page.run("box(document.querySelector('#large'))") == [0, 0, *page.run("[innerWidth, innerHeight]")]
    if width > 1000:
        assert page.run("document.querySelector('#large-picture').scrollWidth <= "
                        "document.querySelector('#large-picture').clientWidth + 1")  # fmt: skip
    root = page.run(f"box(all('#large {'.an-split' if width > 1000 else '.line:not(.axis)'}')"
                    f"{'.pop()' if width > 1000 else '[0]'})")  # fmt: skip
    frame = page.run("box(document.querySelector('#large-picture'))")
    assert frame[0] <= root[0]
    assert root[2] <= frame[2]
    assert frame[1] - 1 <= root[1]
    assert root[3] <= frame[3] + 1
    assert page.run("seen(document.querySelector('#large-text'))")
    if width < 1000:
        assert page.run("all('#large .leaf').filter(seen).length") == leaves
    assert page.run("document.querySelector('#large-text').textContent") == report.variables[i].text
    page.press("Escape")
    assert not page.run("document.querySelector('#large').open")
    assert page.run("document.querySelector('article:not([hidden]) h2').textContent") == report.variables[i].node.name


def test_one_branch_unfolds_at_its_own_button(open_report):
    page = open_report(with_a_large_tree(made_report(14)), width=1280)
    select(page, 2)
    line = "all('article:not([hidden]) .tree .leaf').filter(seen).length"
    before = page.run(line)
    button = "document.querySelector('article:not([hidden]) .folded > .line .turn')"
    assert page.run(f"{button}.getAttribute('aria-expanded')") == "false"
    page.run(f"{button}.click()")
    assert page.run(line) > before


@pytest.mark.parametrize("n", [8, 14, 40])
def test_beside_a_text_the_variable_and_its_neighbours_stay_in_view(open_report, n):
    page = open_report(made_report(n, arcs_per_variable=1.0), width=1280, height=800)
    for i in (0, n // 2, n - 1):
        select(page, i)
        assert page.run(LABELS) >= 11
        assert page.run(
            f"(() => {{ const [l, t, r, b] = box(document.querySelector('#graph')), [x, y, u, v] = "
            f"box(all('.an-node')[{i}]); return x >= l && y >= t && u <= r && v <= b }})()"
        )
        network, details = (page.run(f"box(document.querySelector('{of}'))") for of in ("#network", "#details"))
        assert network[2] < details[0], "side by side"
        assert network[3] <= 800
        assert details[3] <= 800
        assert (
            page.run("(() => { const e = document.querySelector('#details'); return e.scrollWidth - e.clientWidth })()")
            <= 0
        )
    page.press("Escape")
    assert page.run(OUTSIDE) == 0, "closing shows the whole network again"


def test_on_a_telephone_a_tap_scrolls_to_what_it_shows_and_help_speaks_of_taps(open_report):
    page = open_report(made_report(14), width=390, height=844)
    said = page.run("all('.hint, #nothing p').filter(seen).map((e) => e.textContent).join(' ')")
    assert "Tap a variable" in said
    assert "Click" not in said
    assert "Ctrl" not in said
    select(page, 3)
    top = page.run("box(document.querySelector('article:not([hidden]) h2'))[1]")
    assert 0 <= top < 200
    page.run("document.querySelector('article:not([hidden]) .back').click()")
    assert page.run("box(document.querySelector('#graph'))[1]") < 200
    desk = open_report(made_report(14), width=1280)
    said = desk.run("all('.hint, #nothing p').filter(seen).map((e) => e.textContent).join(' ')")
    assert "Click a variable" in said
    assert "Tap" not in said


def test_the_amber_box_stands_above_the_network_and_parameters_are_put_away(open_report):
    page = open_report(made_report(5), width=1280)
    assert page.run("document.querySelector('#advice').textContent") == ADVICE
    above, network = (page.run(f"box(document.querySelector('{of}'))") for of in ("#advice", "#network"))
    assert above[3] <= network[1]
    assert page.run("getComputedStyle(document.querySelector('#advice')).backgroundColor") == "rgb(253, 236, 214)"
    parameters = "all('dd').find((e) => e.textContent.startsWith('pcart ('))"
    assert not page.run(f"seen({parameters})")
    page.run("document.querySelector('#technical summary').click()")
    assert page.run(f"seen({parameters})")


def test_arcs_have_words_first_and_numbers_last(open_report):
    page = open_report(made_report(8), width=1280)
    heads = page.run("all('#arc-table th').map((e) => e.textContent)")
    assert heads == ["From", "To", "Strength", "In resampled networks", "Direction", "Log score falls by"]
    words = page.run("all('#arc-table tbody tr').map((e) => e.cells[2].textContent)")
    lost = page.run("all('#arc-table tbody tr').map((e) => Number(e.cells[5].textContent.replace(',', '')))")
    assert lost == sorted(lost, reverse=True)
    order = ["weak", "moderate", "strong", "decisive"]
    ranks = [order.index(word) for word in words]
    assert ranks == sorted(ranks, reverse=True)
    assert set(page.run("all('#arc-table tbody tr').map((e) => e.cells[4].textContent)")) == {"either way", "one way"}
    page.run("document.querySelector('#scale summary').click()")
    assert "Kass and Raftery" in page.run("document.querySelector('#scale p').textContent")
    dashed = page.run("all('.an-arc path[stroke-dasharray]').length")
    assert dashed == page.run("all('.an-arc[data-either-way]').length") > 0


def test_numbers_show_their_range_where_levels_stand(open_report):
    report = made_report(6)
    page = open_report(report, width=1280)
    cells = page.run("all('#type-table tbody tr').map((e) => e.cells[2].textContent)")
    for variable, cell in zip(report.variables, cells, strict=True):
        if variable.node.kind == "continuous":
            assert cell == "0.2 to 1.4"
        else:
            assert cell.split(" < " if variable.node.kind == "ordinal" else ", ") == list(variable.node.levels)
