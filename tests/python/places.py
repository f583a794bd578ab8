"""Where golden numbers and data lie; `ARBORNET_DATA` points elsewhere for tables, networks and instances."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
DATA = Path(os.environ.get("ARBORNET_DATA", ROOT / "benches" / "data"))
INSTANCES = DATA / "instances"
NETWORKS = DATA / "networks"
