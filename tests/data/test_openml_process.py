"""Test that the download process of OpenML ends when its parent process ends."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from probcal.data.sources import openml
from tests.runner.run_bench import processes_of_session, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

ROOT = str(Path(openml.__file__).parents[3])
FETCHES = "from probcal.data.sources.openml import fetch_openml_table; fetch_openml_table(31)"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP], ids=["killed", "its terminal closed"])
def test_a_download_ends_with_its_parent_process(number):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(300)
        server = f"http://127.0.0.1:{silent.getsockname()[1]}/api/v1/xml"
        process = subprocess.Popen(
            [sys.executable, "-c", FETCHES],
            env={**os.environ, "PROBCAL_OPENML_SERVER": server, "PYTHONPATH": ROOT},
            start_new_session=True,
            stderr=subprocess.DEVNULL,
        )
        with silent.accept()[0]:  # the download has sent its request and waits
            assert len(processes_of_session(process.pid)) == 2
            process.send_signal(number)
            process.wait(60)
            wait_for(lambda: not processes_of_session(process.pid), seconds=30)
