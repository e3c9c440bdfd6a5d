"""The command as a person meets it: real processes, one line for what is wrong, one when it is ready."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from model.config import ModelInfo, Sampling
from model.untrained import write_untrained
from server.command_line import ready_line
from tests.server.certificates import make_pair

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(sys.executable).with_name("duet")
PROMPT_S = 60
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "DUET_API_KEYS": "hush"}
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, PR_CAPBSET_DROP = 1, 2, 24  # linux/capability.h, linux/prctl.h
LIBC = ctypes.CDLL(None)


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command-line-model")
    write_untrained(folder, num_layers=1)
    return folder


def as_anybody() -> None:
    """In the child: gives up root's right to pass over a file's mode."""
    if os.geteuid() == 0:
        for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            LIBC.prctl(PR_CAPBSET_DROP, right, 0, 0, 0)


def refusal(folder: Path, *arguments: str | Path, keys: str | None = None) -> str:
    """Starts a server that must not come up; its one line. The folder is where it is started."""
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "DUET_API_KEYS"}
    environment |= {"PYTHONPATH": f"{ROOT}:{ROOT / 'client'}"} | (
        {"DUET_API_KEYS": keys} if keys is not None else {}
    )
    done = subprocess.run(
        [sys.executable, "-m", "server", "--port", "0", *map(str, arguments)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PROMPT_S,
        check=False,
        preexec_fn=as_anybody,
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--capacity", "none"], "duet: --capacity must be a whole number from 1 to 1000000, not 'none'"),
        (["--port", "70000"], "duet: --port must be a whole number from 0 to 65535, not 70000"),
        (["--pace", "slow"], "duet: --pace must be one of realtime, free, not 'slow'"),
        (["--device", "abacus"], "duet: --device must be auto, cpu, cuda or cuda:N, not 'abacus'"),
        (["--holdback-ms", "100"], "duet: --holdback-ms must be a multiple of 80 from 0 to 2000, not 100"),
        (["--redact", "none.toml"], "duet: --redact cannot be read: none.toml: No such file or directory"),
        (["--drain-s"], "duet: argument --drain-s: expected one argument"),
        (["--api-keys", "hush"], "duet: unrecognized arguments: --api-keys hush"),
        (["--host", "192.0.2.1"], "duet: --host is no address of this machine: 192.0.2.1"),
        (["--tls-cert", "cert.pem"], "duet: --tls-key is missing: a certificate needs its key"),
        (["--tls-key", "key.pem"], "duet: --tls-cert is missing: a key needs its certificate"),
    ],
)
def test_a_bad_option_is_one_line_that_says_what_is_allowed(
    tmp_path: Path, arguments: list[str], line: str
) -> None:
    assert refusal(tmp_path, *arguments) == line


def test_an_unknown_host_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path, "--host", "no-such-host.invalid").startswith(
        "duet: --host cannot be found: no-such-host.invalid: "
    )


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = refusal(tmp_path, "--host", "127.0.0.1", "--port", str(port))
    assert line == f"duet: --port {port} cannot be had on 127.0.0.1: Address already in use"


def test_a_certificate_of_another_key_is_told(tmp_path: Path) -> None:
    cert, _ = make_pair(tmp_path, "mine")
    _, key = make_pair(tmp_path, "other")
    line = refusal(tmp_path, "--tls-cert", cert, "--tls-key", key)
    assert line == f"duet: --tls-key does not belong to the certificate: {key} and {cert} differ"


def test_a_certificate_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    cert, key = make_pair(tmp_path)
    key.chmod(0)
    line = refusal(tmp_path, "--tls-cert", cert, "--tls-key", key)
    assert line == f"duet: --tls-key cannot be read: {key}: Permission denied"


def test_an_unreadable_keys_file_is_named(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("hush")
    keys.chmod(0)
    assert refusal(tmp_path, "--api-keys-file", keys) == (
        f"duet: --api-keys-file cannot be read: {keys}: Permission denied"
    )


def test_an_empty_keys_file_is_named(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("\n")
    assert (
        refusal(tmp_path, "--api-keys-file", keys) == f"duet: --api-keys-file gives no key: {keys} is empty"
    )


def test_an_empty_keys_variable_is_named(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path, keys="")
        == "duet: --api-keys-file gives no key: the variable DUET_API_KEYS is empty"
    )


def test_a_recordings_folder_without_the_right_to_write_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    folder.mkdir(mode=0o500)
    assert refusal(tmp_path, "--recordings", folder) == (
        f"duet: --recordings cannot be written: {folder}: Permission denied"
    )


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert str(missing) in refusal(tmp_path, "--model", missing)


def test_a_broken_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    assert str(tmp_path) in refusal(tmp_path, "--model", tmp_path)


def test_a_device_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "cuda:63 is not there" in refusal(tmp_path, "--device", "cuda:63")


def test_a_capacity_that_memory_cannot_hold_is_refused_with_the_most_it_can(
    tmp_path: Path, small_model: Path
) -> None:
    line = refusal(tmp_path, "--model", small_model, "--device", "cpu", "--capacity", "1000000")
    assert "--capacity may be at most " in line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "duet: the following arguments are required: COMMAND\n"),
        (["fly"], "duet: argument COMMAND: invalid choice: 'fly' (choose from 'serve')\n"),
    ],
)
def test_the_console_script_names_its_commands(arguments: list[str], line: str) -> None:
    done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=PROMPT_S, check=False)
    assert (done.returncode, done.stderr.replace("serve,", "serve")) == (2, line)


@pytest.mark.parametrize("command", [[sys.executable, "-m", "server"], [str(SCRIPT), "serve"]])
def test_an_interrupt_while_the_program_is_still_being_imported_is_quiet(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "aiohttp.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    environment = ENVIRONMENT | {"PYTHONPATH": f"{tmp_path}:{ROOT}:{ROOT / 'client'}"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, timeout=PROMPT_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def info(trained: bool) -> ModelInfo:
    return ModelInfo("tiny", "0" * 8, trained, "cpu", "float32", 2, 250, Sampling())


def test_the_ready_line_has_every_url_and_owns_up_to_an_untrained_model() -> None:
    urls = ["http://localhost:8998/", "http://studio:8998/"]
    assert ready_line(urls, info(trained=True), 8) == (
        "Duet is ready at http://localhost:8998/ and http://studio:8998/ (8 sessions, model tiny on cpu)"
    )
    assert "this model is untrained" in ready_line(urls, info(trained=False), 8)


def ask(url: str, trusted: Path, key: str | None) -> int:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    context = ssl.create_default_context(cafile=str(trusted))
    try:
        with urllib.request.urlopen(request, timeout=PROMPT_S, context=context) as answer:
            assert json.load(answer)["object"] == "list"
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@contextmanager
def killed_in_the_end(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_a_server_says_one_line_when_it_is_ready_answers_over_tls_and_stops_on_a_signal(
    tmp_path: Path, small_model: Path
) -> None:
    cert, key = make_pair(tmp_path)
    command = [sys.executable, "-m", "server", "--model", str(small_model), "--port", "0", "--capacity", "1"]
    command += ["--tls-cert", str(cert), "--tls-key", str(key), "--recordings", str(tmp_path / "calls")]
    command += ["--sidecar", "off"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=pipe, stderr=pipe, text=True)
    with killed_in_the_end(process) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        url = line.split()[4]
        assert url.startswith("https://localhost:")
        assert "untrained" in line
        assert [ask(url + "v1/models", cert, key) for key in ("hush", "wrong", None)] == [200, 401, 401]
        server.send_signal(signal.SIGTERM)
        rest, log = server.communicate(timeout=PROMPT_S)
    assert (server.returncode, rest) == (0, "")
    assert "hush" not in log
    assert log.rstrip().endswith("stopped")
