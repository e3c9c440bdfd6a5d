"""Modules that are built to be read into: what is drawn for them, and what a start does not wait for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

from model.unfilled import Unfilled

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 120
LOADS = """
import sys
import torch
from model.checkpoint import load
load(sys.argv[1], "cpu", torch.float32)
print("torch._dynamo" in sys.modules)
"""


def test_loading_a_checkpoint_does_not_import_torchs_compiler(small_folder: Path) -> None:
    """It takes a second, and every start of a server would wait for it."""
    command = [sys.executable, "-c", LOADS, str(small_folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert done.stdout == "False\n"


def test_a_weight_that_has_values_is_drawn_as_ever() -> None:
    torch.manual_seed(1)
    expected = nn.init.trunc_normal_(nn.Linear(3, 2).weight)
    torch.manual_seed(1)
    with Unfilled():
        found = nn.init.trunc_normal_(nn.Linear(3, 2).weight)
    assert torch.equal(found, expected)


def test_a_weight_without_values_keeps_its_shape_and_type() -> None:
    with Unfilled():
        layer = nn.Embedding(3, 2, device="meta", dtype=torch.bfloat16)
        nn.init.trunc_normal_(layer.weight, std=0.1)
    assert (layer.weight.is_meta, layer.weight.shape, layer.weight.dtype) == (True, (3, 2), torch.bfloat16)
