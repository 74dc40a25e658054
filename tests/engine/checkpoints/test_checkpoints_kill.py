"""Kill -9 at any moment: the real command, killed thirty times, ends with the right bytes and few of them twice."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

from hub_helpers import REPO, HubProcess, cli, make_checkpoint, same_files

from engine.checkpoints.manifest import Folder

MB = 1_000_000
KILLS = 30
SIZES = (90 * MB, 60 * MB, 40 * MB)
FARTHEST = 5 * MB  # 30 times this and a megabyte are less than there is
MOST_TWICE = 8 << 20  # bytes a kill


def kill_somewhere(process: subprocess.Popen[bytes], hub: HubProcess, dice: random.Random) -> str:
    """Lets it run up to a random event or a random byte, and kills it; so far that it cannot end before."""
    assert process.stdout is not None
    served, until = hub.served(), dice.randint(0, FARTHEST)
    hub.settings(hold=served + until + MB)
    where = dice.choice(["at once", "lines", "bytes", "bytes", "bytes"])
    match where:
        case "lines":
            for _ in range(dice.randint(1, 3)):
                process.stdout.readline()
        case "bytes":
            process.stdout.readline()  # the start is known; from here on bytes come
            hub.wait_served(served + until)
    process.kill()
    process.communicate()
    return where


def test_thirty_kills(running_hub: HubProcess, tmp_path: Path) -> None:
    hub = running_hub
    make_checkpoint(tmp_path / "hub" / REPO, SIZES)
    hub.reset(tmp_path / "hub")
    hub.settings(rate=12 * MB)  # so that it is still receiving when it is killed
    dice = random.Random(20_261_129)
    arguments = cli("--endpoint", hub.url, "--to", str(tmp_path / "model"), "--json", "--no-cache")
    for _ in range(KILLS):
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        kill_somewhere(process, hub, dice)
        assert process.returncode == -9, "it must not have ended by itself"
    hub.settings(rate=None, hold=None)
    done = subprocess.run(arguments, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["event"] == "download_finished"
    assert last["fetched_bytes"] < last["total_bytes"]
    assert same_files(tmp_path / "model", hub.repo)
    assert list(Folder(tmp_path / "model").parts.iterdir()) == []
    twice = hub.served() - last["total_bytes"]
    assert 0 <= twice <= KILLS * MOST_TWICE
