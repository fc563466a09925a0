"""What Python imports at its start when `python3 -m wgrun PROGRAM` has put this folder on PYTHONPATH: processes that the
program starts, such as those in which torch.inductor compiles, are checked, too."""

import os
import sys
from importlib.machinery import PathFinder

_here = os.path.dirname(os.path.abspath(__file__))


def _start() -> None:
    # The installation may have a file of this name: it is run as if this one were not there.
    others = [path for path in sys.path if os.path.abspath(path or os.curdir) != _here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)
    if os.environ.get("WGRUN_CHECK"):
        package = os.path.dirname(os.path.dirname(_here))
        known = package in sys.path
        sys.path.append(package)
        import wgrun  # noqa: F401: checks what this process compiles
        if not known:
            sys.path.remove(package)


_start()
