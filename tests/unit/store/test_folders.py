import os
import stat
from pathlib import Path

import pytest

from wherecast.store.folders import make_folder, make_private, private_opener


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_private_ones_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        make_folder(tmp_path / "folder", is_private=True)
        open(tmp_path / "folder" / "file", "xb", opener=private_opener).close()
    finally:
        os.umask(old)
    assert mode(tmp_path / "folder") == 0o700
    assert mode(tmp_path / "folder" / "file") == 0o600


def test_an_open_folder_is_made_private_with_all_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    outside = tmp_path / "outside"
    for file in (folder / "file", folder / "inner" / "file", outside):
        file.touch()
        file.chmod(0o644)
    (folder / "link").symlink_to(outside)
    folder.chmod(0o755)
    make_private(folder)
    assert mode(folder) == mode(folder / "inner") == 0o700
    assert mode(folder / "file") == mode(folder / "inner" / "file") == 0o600
    assert mode(outside) == 0o644
