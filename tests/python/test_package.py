import subprocess
import sys

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
