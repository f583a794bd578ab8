"""The report page in a real browser: clicks, keys, themes, paper, and a console without a word."""

import dataclasses

import pytest

from made_reports import made_report
from opened_reports import in_a_browser
from test_report import HOSTILE

pytestmark = in_a_browser
SHOWN = "document.querySelector('article:not([hidden]) h2')?.textContent ?? null"
FOCUSED = "document.activeElement.dataset.name ?? document.activeElement.id"


def name_at(page, i):
    return page.run(f"document.querySelectorAll('.an-node')[{i}].dataset.name")


def middle(page, i):
    return page.run(
        f"(() => {{ const b = document.querySelectorAll('.an-node')[{i}].getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2] })()"
    )


@pytest.mark.parametrize("n", [1, 5, 12, 60])
def test_every_node_can_be_clicked_and_shows_its_model(open_report, n):
    page = open_report(made_report(n))
    assert page.run(SHOWN) is None
    for i in range(n):
        page.click("#fit")
        page.drag(middle(page, i), middle(page, i))
        assert page.run(SHOWN) == name_at(page, i)
        assert page.run("document.querySelectorAll('article:not([hidden]) .picture svg').length") == 1
        assert page.run("document.querySelectorAll('article:not([hidden]) .tree .chart svg').length") >= 2
    assert page.run("document.querySelectorAll('article:not([hidden])').length") == 1


@pytest.mark.parametrize("n", [5, 60])
def test_the_keyboard_reaches_every_node(open_report, n):
    page = open_report(made_report(n))
    for _ in range(12):
        page.press("Tab")
        if page.run("document.activeElement.classList.contains('an-node')"):
            break
    assert page.run(FOCUSED) == name_at(page, 0)
    # From any node arrows lead to every other: breadth first over what the arrow keys do.
    reached, waiting = {0}, [0]
    while waiting:
        here = waiting.pop()
        for key in ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"):
            page.run(f"document.querySelectorAll('.an-node')[{here}].focus()")
            page.press(key)
            there = page.run("[...document.querySelectorAll('.an-node')].indexOf(document.activeElement)")
            if there not in reached:
                reached.add(there)
                waiting.append(there)
    assert reached == set(range(n))


def test_enter_selects_and_escape_goes_back(open_report):
    page = open_report(made_report(5))
    page.run("document.querySelectorAll('.an-node')[2].focus()")
    page.press("Enter")
    assert page.run(SHOWN) == name_at(page, 2)
    assert page.run("document.querySelectorAll('.an-node')[2].getAttribute('aria-pressed')") == "true"
    page.run("document.querySelector('article:not([hidden]) .link').focus()")
    page.press("Enter")
    assert page.run(SHOWN) != name_at(page, 2), "a link in the panel leads to its variable"
    now = page.run(SHOWN)
    page.run("document.querySelector('article:not([hidden]) .close').focus()")
    page.press("Escape")
    assert page.run(SHOWN) is None
    assert page.run(FOCUSED) == now, "focus returns to the node"


def test_finding_selects_and_brings_into_view(open_report):
    page = open_report(made_report(60))
    page.run("document.querySelector('#find').focus()")
    for key in "measure 58":
        page.press(key)
    page.press("Enter")
    assert page.run(SHOWN) == "measure 58"
    inside = (
        "(() => { const a = document.querySelector('#graph').getBoundingClientRect(),"
        "b = document.querySelector('.an-node[aria-pressed=true]').getBoundingClientRect();"
        "return b.left >= a.left && b.right <= a.right && b.top >= a.top && b.bottom <= a.bottom })()"
    )
    assert page.run(inside)


def test_dragging_moves_and_does_not_select(open_report):
    page = open_report(made_report(12))
    before = middle(page, 3)
    page.drag(before, (before[0] + 40, before[1] + 30))
    after = middle(page, 3)
    assert after == pytest.approx([before[0] + 40, before[1] + 30], abs=1.5)
    assert page.run(SHOWN) is None
    page.click("#in")
    width = "document.querySelectorAll('.an-node')[3].getBoundingClientRect().width"
    wide = page.run(width)
    page.click("#out")
    page.click("#out")
    assert page.run(width) < wide


def test_hostile_names_are_shown_as_they_are(open_report):
    page = open_report(made_report(len(HOSTILE), names=HOSTILE))
    shown = set()
    for i in range(len(HOSTILE)):
        page.run(f"document.querySelectorAll('.an-node')[{i}].focus()")
        page.press("Enter")
        shown.add(page.run(SHOWN))
    assert shown >= {name for name in HOSTILE if "\ud800" not in name}
    assert page.run("document.querySelectorAll('script').length") == 2
    assert page.run("document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("dark", [False, True])
def test_colours_follow_the_system_and_the_button(open_report, dark):
    page = open_report(made_report(5), dark=dark)
    paper = "getComputedStyle(document.body).backgroundColor"
    light_paper, dark_paper = "rgb(255, 255, 255)", "rgb(20, 24, 29)"
    assert page.run(paper) == (dark_paper if dark else light_paper)
    page.click("#theme")
    assert page.run(paper) == light_paper
    page.click("#theme")
    assert page.run(paper) == dark_paper
    assert page.run("getComputedStyle(document.querySelector('.an-node text')).fill") == "rgb(232, 236, 241)"


@pytest.mark.parametrize("width", [380, 800, 1440])
def test_the_page_is_never_wider_than_the_window(open_report, width):
    page = open_report(made_report(12), width=width)
    page.click(".an-node")
    assert page.run("document.documentElement.scrollWidth") <= width


def test_on_paper_every_variable_is_shown(open_report, tmp_path):
    page = open_report(made_report(5))
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert page.run("document.querySelectorAll('article').length") == 5


def test_everything_that_can_be_used_has_a_name(open_report):
    page = open_report(made_report(12))
    page.click(".an-node")
    nameless = page.run(
        "[...document.querySelectorAll('button, input, [tabindex=\"0\"], [role=button], svg[role]')].filter(e =>"
        "!(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert nameless == []
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    buttons = [n for n in tree if n.get("role", {}).get("value") in ("button", "searchbox", "combobox")]
    assert len(buttons) > 12
    assert all(n["name"]["value"] for n in buttons)


def test_what_looks_wrong_stands_in_words_and_code_is_folded(open_report):
    found = (("'age' is 999 in 2 rows", "df.with_columns(<b>)"), ("the arc a -> b says little", ""))
    page = open_report(dataclasses.replace(made_report(5), findings=found))
    lines = page.run("all('#findings > p').filter(seen).map((e) => e.textContent)")
    assert lines == ["To look at in the table", "'age' is 999 in 2 rows.", "the arc a -> b says little."]
    assert "df." not in page.run("document.getElementById('findings').innerText")
    page.click("#mends summary")
    assert page.run("all('#mends code').map((e) => e.textContent)") == ["df.with_columns(<b>)"]
    page = open_report(made_report(5))
    assert not page.run("seen(document.getElementById('findings'))")
