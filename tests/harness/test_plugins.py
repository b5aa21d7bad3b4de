"""The plugin folders are what their one source builds, and name only what is there."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"


def built() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("build_plugins", PLUGINS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    files: dict[str, str] = module.files()
    return files


def test_the_folders_are_what_the_source_builds() -> None:
    expected = built()
    hand_made = {"build.py", "source"}
    found = {
        path.relative_to(PLUGINS).as_posix(): path.read_text("utf-8")
        for path in PLUGINS.rglob("*")
        if path.is_file() and path.relative_to(PLUGINS).parts[0] not in hand_made and "__pycache__" not in path.parts
    }
    assert found == expected, "run: python plugins/build.py"


def test_every_script_that_a_hook_or_server_names_is_in_the_folder() -> None:
    for name, text in built().items():
        if not name.endswith(".json"):
            continue
        folder = PLUGINS / name.split("/")[0]
        for mark in ("${CLAUDE_PLUGIN_ROOT}/", "${extensionPath}/"):
            for part in json.dumps(json.loads(text)).split(mark)[1:]:
                assert (folder / part.split("\\")[0].split('"')[0].split(" ")[0]).is_file()
