import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import arbornet as an
from arbornet.checks import real
from arbornet.scores.base import ScoreParameters

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contributing-score.md"


def test_the_dataclass_of_the_worked_example_writes_the_json_its_rust_reads():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    names: dict[str, Any] = {"dataclass": dataclass, "ScoreParameters": ScoreParameters, "real": real, "Any": Any}
    names["__name__"] = __name__
    exec(code, names)
    score = names["CellMeans"](2)
    assert score.spec() == '{"penalty":2.0,"score":"cell_means"}'
    assert f'"score": "{score.document()["score"]}"' in PAGE.read_text()
    with pytest.raises(an.ParameterError):
        names["CellMeans"]("much")


def test_the_line_of_the_page_is_one_of_the_form_that_stands_in_the_list() -> None:
    text = PAGE.read_text(encoding="utf-8")
    ((path, line),) = re.findall(r"The line: `([^`]+)`\n\n```text\n(.*?)```", text, flags=re.DOTALL)
    listed = re.search(r"scores! \{\n(.*?)\n\}", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert listed is not None
    form = re.compile(r"    /// [^\n]+\n    (\w+)\(([\w:]+)\)(?: in (\w+))?(?: takes (?:Any|Shared|own))?,\n")
    assert form.sub("", listed[1] + "\n") == ""
    assert len(form.findall(listed[1] + "\n")) >= 17
    ((name, of, file),) = form.findall(line)
    (rust,) = re.findall(r"The file: `([^`]+)`", text)
    assert Path(rust) == Path(path).parent / f"{file}.rs" and of == f"{file}::{name}"
    assert f"pub struct {name}" in text and f"class {name}(ScoreParameters)" in text


@pytest.mark.parametrize("file", sorted(set(re.findall(r"`((?:rust|python)/[\w/.]+)`", PAGE.read_text()))))
def test_every_file_that_the_page_names_is_there_or_the_new_one(file: str) -> None:
    assert (ROOT / file).exists() != ("cell_means" in file)


def test_a_score_is_told_by_name_in_its_line_and_its_dataclass_alone() -> None:
    listed = re.findall(r"^    (\w+)\([\w:]+\)", (ROOT / "rust/score/src/lib.rs").read_text(), flags=re.MULTILINE)
    names = [re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in listed]
    assert {"bdeu", "mixed_polynomial", "pcart"} <= set(names)
    for path in [*(ROOT / "python").rglob("*.py"), *(ROOT / "rust").rglob("*.rs")]:
        if path.parent.name == "scores" or "tests" in path.name:
            continue
        code = re.sub(
            r"#\[cfg\(test\)\].*|//[^\n]*|\"\"\".*?\"\"\"", "", path.read_text(encoding="utf-8"), flags=re.DOTALL
        )
        told = [name for name in names if re.search(rf"\"{name}\"(?!\])", code)]
        assert not told, f"{path}: {told}"
