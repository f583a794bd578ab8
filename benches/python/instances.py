"""User seconds, states and gap of the exact search on published instances.

Run: python benches/python/instances.py [FOLDER [seconds per instance]]. The folder holds .jkl files, compressed or not
(default: benches/data/instances).
"""

import resource
import sys
from pathlib import Path

from arbornet.search import Found, exact


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "data" / "instances"
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    print(
        f"{'instance':28} {'vars':>5} {'user s':>8} {'states':>8} {'score':>18} {'gap':>10} {'root gap':>10}  stopped"
    )
    for path in sorted(p for p in folder.iterdir() if ".jkl" in p.suffixes):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        found = exact(path, time_limit=limit)
        assert isinstance(found, Found)
        user = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
        root = getattr(found.certificate, "bound", float("nan")) - found.score
        print(
            f"{path.name:28} {found.dag.number_of_nodes():5} {user:8.2f} {found.details['expanded']:8} "
            f"{found.score:18.8f} {found.gap:10.4f} {root:10.4f}  {found.stopped}",
            flush=True,
        )


if __name__ == "__main__":
    main()
