"""The machine, the versions and the commit that a measurement is good for."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

import torch


def facts() -> dict[str, str]:
    version = importlib.metadata.version
    ours = f"duet {version('duet')} ({_commit()})"
    theirs = f"moshi {version('moshi')}, torch {version('torch')}, Python {platform.python_version()}"
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}",
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, no CUDA device",
        "versions": f"{ours}, {theirs}",
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _commit() -> str:
    result = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return result.stdout.strip() or "no commit"
