"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path


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
    return min(free)
