"""The client as strangers install it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import duet_client
from tests.client.echo_server import EchoServer

CLIENT = Path(duet_client.__file__).parent.parent


@pytest.mark.skipif(
    int(version("setuptools").split(".")[0]) < 77, reason="building needs setuptools 77 or later"
)
def test_the_wheel_holds_the_client_alone_and_asks_for_two_packages(tmp_path: Path) -> None:
    copy = tmp_path / "client"  # building writes beside the sources
    package = copy / "duet_client"
    package.mkdir(parents=True)
    for source in CLIENT.glob("duet_client/*.*"):
        (package / source.name).write_bytes(source.read_bytes())
    for name in ("pyproject.toml", "README.md"):
        (copy / name).write_bytes((CLIENT / name).read_bytes())
    (copy / "web").mkdir()
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(copy)], check=True, capture_output=True)

    (wheel,) = tmp_path.glob("duet_client-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(n).decode() for n in names if n.endswith("METADATA"))
    assert {name.split("/")[0].removesuffix(".dist-info").split("-")[0] for name in names} == {"duet_client"}
    assert "duet_client/wire.py" in names
    assert "duet_client/py.typed" in names
    needs = [
        line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra" not in line
    ]
    assert needs == ["Requires-Dist: numpy", "Requires-Dist: websockets>=13"]


def test_the_wire_is_usable_without_any_optional_package() -> None:
    blocked = (
        "import sys; sys.modules.update({n: None for n in ('soundfile', 'sphn', 'soxr', 'sounddevice')});"
    )
    script = blocked + "import duet_client.commandline, duet_client.wire"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=CLIENT)


def test_the_example_of_the_readme_runs_as_it_stands() -> None:
    example = (CLIENT / "README.md").read_text().split("```python\n")[1].split("```")[0]

    async def run() -> bytes:
        async with EchoServer().running() as server:
            script = example.replace("ws://localhost:8998", server.url)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", script), cwd=CLIENT, stdout=asyncio.subprocess.PIPE
            )
            out, _ = await process.communicate()
        return out

    lines = asyncio.run(run()).decode().splitlines()
    assert sum(line.startswith("OutputAudioDelta") for line in lines) == 25
    assert lines[-1].startswith("SessionClosed(reason='close_requested'")
