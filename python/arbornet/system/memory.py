"""How much memory is free, checked before it is used: an allocation that fails within Polars ends the process."""

from __future__ import annotations

import os
from pathlib import Path

from arbornet.text.visible import visible

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


def free_memory() -> float:
    """About how many bytes this process may still take."""
    free = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))] if hasattr(os, "sysconf") else [4e9]
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        free.append(float(fields.get("MemAvailable", "4000000 kB").split()[0]) * 1024)
    used, limit = Path("/sys/fs/cgroup/memory.current"), Path("/sys/fs/cgroup/memory.max")
    if used.exists() and limit.exists() and (most := limit.read_text().strip()).isdigit():
        free.append(max(float(most) - float(used.read_text()), 1e8))
    if resource is not None and (most_here := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
        free.append(max(float(most_here) - _taken(), 0.0))
    return min(free)


def afford(what: str, needed: float, advice: str) -> None:
    """Refuses what would not fit.

    Args:
        what: What would take the memory, as a clause's subject.
        needed: Bytes.
        advice: What to do instead.

    Raises:
        MemoryError: If it needs more than is free.
    """
    free = free_memory()
    if needed > free:
        raise MemoryError(f"{visible(what)} needs about {needed:,.0f} bytes, and {free:,.0f} are free; {advice}")


def _taken() -> float:
    """Bytes of address space this process has, if the system says so."""
    pages = Path("/proc/self/statm")
    return float(pages.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else 0.0
