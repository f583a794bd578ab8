import importlib
import inspect
import subprocess
import sys

import pytest

import arbornet


def test_every_public_name_exists():
    missing = [name for name in arbornet.__all__ if not hasattr(arbornet, name)]
    assert missing == []


def test_errors_are_value_errors_of_one_family():
    for kind in (arbornet.ColumnError, arbornet.FamilyError, arbornet.ParameterError, arbornet.FormatError):
        assert issubclass(kind, arbornet.ArbornetError)
        assert issubclass(kind, ValueError)


def test_import_leaves_optional_packages_alone():
    optional = ("pandas", "pyarrow", "duckdb", "sklearn", "dask")
    code = f"import sys, arbornet; print([m for m in {optional!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


ROOMS = [name for name in dir(arbornet) if inspect.ismodule(getattr(arbornet, name))]


@pytest.mark.parametrize("name", ["arbornet", *(f"arbornet.{room}" for room in ROOMS)])
def test_dir_shows_what_a_user_calls_and_nothing_else(name: str) -> None:
    module = importlib.import_module(name)
    assert dir(module) == sorted(module.__all__)
    own = {"import_module", "TYPE_CHECKING", "kinds", "base", "methods", "__dir__"}
    assert not own & set(dir(module))
    assert all(hasattr(module, name) for name in dir(module))


def test_what_dir_shows_is_public_and_comes_from_this_package() -> None:
    for name in dir(arbornet):
        value = getattr(arbornet, name)
        of = getattr(value, "__module__", None) or getattr(value, "__name__", "arbornet")
        assert of.startswith(("arbornet", "builtins")), name
        assert name == "__version__" or not name.startswith("_")
