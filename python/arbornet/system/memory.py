"""Sizes of memory, and how much is free: an allocation that fails within Polars ends the process."""

from __future__ import annotations

import os
from pathlib import Path

from arbornet._core import ParameterError
from arbornet.given import Memory
from arbornet.text.visible import visible

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


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


def in_bytes(memory: Memory, name: str = "memory_limit") -> float:
    """A memory size as a number of bytes.

    Raises:
        ParameterError: If it is neither a number above 0 nor text such as "4 GB".

    Example:
        >>> in_bytes("1.5 GB")
        1500000000.0
    """
    text = str(memory).strip().lower()
    number = text.rstrip("bgikmt ")
    try:
        size = float(number) * UNITS[text[len(number) :].strip()]
    except (KeyError, ValueError):
        size = -1.0
    if not size > 0:
        raise ParameterError(f"{name}={memory!r}: give bytes, or text such as '4 GB'")
    return size


def size_text(size: float) -> str:
    """A number of bytes as a person reads it.

    Example:
        >>> size_text(1_530_000)
        '1.5 MB'
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.2g} {name}" if size < 10 * unit else f"{size / unit:,.0f} {name}"
    return f"{size:.0f} bytes"
