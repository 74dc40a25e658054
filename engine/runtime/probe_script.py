"""Runs in the engine's environment, standard library only, imported by nothing: imports what the engine is made of.

    python -I probe_script.py MODULE ...

The last line of stdout is a JSON object: ``{"python", "include", "versions": {module: version}, "errors":
{module: text}, "cuda"}``; ``include`` is the folder of Python.h, or "". What the modules print stands before it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import sysconfig
from typing import Any


def main(names: list[str]) -> int:
    """Import each module and tell; an import that fails is told too."""
    include = sysconfig.get_path("include")
    told: dict[str, Any] = {
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
        "include": include if os.path.isfile(os.path.join(include, "Python.h")) else "",
        "versions": {},
        "errors": {},
        "cuda": "",
    }
    for name in names:
        try:
            module = importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001  # a module may raise anything, SystemExit too
            told["errors"][name] = f"{type(error).__name__}: {error}"
            continue
        told["versions"][name] = str(getattr(module, "__version__", ""))
        if name == "torch":
            told["cuda"] = str(getattr(module.version, "cuda", "") or "")
    sys.stdout.flush()
    os.write(1, b"\n" + json.dumps(told).encode() + b"\n")
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # threads that a module left behind shall not hold us up
