"""Settings come from a file, the environment and the command line; what is wrong is named."""

from datetime import timedelta
from pathlib import Path

import pytest

from wherecast.model import ConfigError
from wherecast.server.settings import Settings
from wherecast.server.settings_sources import (
    load_settings,
    settings_from_json,
    settings_to_json,
)


def test_each_later_source_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(None, {}, {}) == Settings()
    text = '[server]\nport = 1\nrunner = "inline"\ndata = "a"\n[push]\nstall = "3s"\n'
    Path("wherecast.toml").write_text(text)
    environ = {"WHERECAST__SERVER__PORT": "2", "WHERECAST__SERVER__DATA": "b", "HOME": "x"}
    found = load_settings(None, environ, {"server": {"port": 3}})
    assert (found.server.port, found.server.data, found.server.runner) == (3, "b", "inline")
    assert found.push.stall == timedelta(seconds=3)
    assert settings_from_json(settings_to_json(found)) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[server]\nprot = 1\n", "unknown key server.prot; did you mean server.port?"),
        ("[sever]\nport = 1\n", "unknown section sever; did you mean server?"),
        ("server = 5\n", "server is a section, not the number 5"),
        ("[server]\nport = true\n", "server.port is a whole number from 0 to 65535, not true"),
        ("[server]\nport = 70000\n", "server.port is a whole number"),
        ("[server]\nrunner = 'fast'\n", "server.runner is spark or inline, not the string 'fast'"),
        ("[push]\nstall = 'soon'\n", "push.stall: 'soon' is not a duration"),
        ("[limits]\nstrict_filters = 'maybe'\n", "limits.strict_filters is true or false"),
        ("[server\n", "malformed TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_settings(file, {}, {})
    assert told in str(refused.value)
    assert str(refused.value).startswith(str(file))


def test_other_sources_are_checked_as_well(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load_settings(tmp_path / "none.toml", {}, {})
    with pytest.raises(ConfigError, match=r"the environment: unknown key server\.prt; did you"):
        load_settings(None, {"WHERECAST__SERVER__PRT": "1"}, {})
    with pytest.raises(ConfigError, match="the environment: unknown section"):
        load_settings(None, {"WHERECAST__X": "1"}, {})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "example.com", ""])
def test_only_the_loopback_is_bound(host: str) -> None:
    with pytest.raises(ConfigError, match="without authentication"):
        load_settings(None, {}, {"server": {"host": host}})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_the_loopback_is(host: str) -> None:
    assert load_settings(None, {}, {"server": {"host": host}}).server.host == host
