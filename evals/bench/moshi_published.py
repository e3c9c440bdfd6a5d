"""Runs the published moshi.server, unchanged but for one call, on a local checkpoint folder.

On a machine without CUDA its warm-up calls torch.cuda.synchronize() and fails: that one call is
made to do nothing there, and nowhere else. `python -m evals.bench.moshi_published FOLDER PORT`.
"""

from __future__ import annotations

import json
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch


def main(folder: Path, port: str) -> None:
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    # moshi.server has no option for Mimi's configuration; its loader takes a file:// name.
    config["mimi_config_name"] = (folder / config["mimi_config_name"]).resolve().as_uri()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        vars(torch.cuda)["synchronize"] = _nothing
    with tempfile.NamedTemporaryFile("w", suffix=".json") as derived:
        json.dump(config, derived)
        derived.flush()
        sys.argv = ["moshi.server", "--device", device, "--port", port, "--static", "none"]
        sys.argv += ["--config-path", derived.name]
        sys.argv += ["--moshi-weight", str(folder / config["moshi_name"])]
        sys.argv += ["--mimi-weight", str(folder / config["mimi_name"])]
        sys.argv += ["--tokenizer", str(folder / config["tokenizer_name"])]
        runpy.run_module("moshi.server", run_name="__main__", alter_sys=True)


def _nothing(_: Any = None) -> None:
    return None


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
