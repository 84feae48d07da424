"""Settings come from a file, the environment and the command line; what is wrong is named."""

from datetime import timedelta
from pathlib import Path

import pytest

from wherecast.broker.core_limits import CoreLimits, Retention
from wherecast.delivery import QueueLimits
from wherecast.model import ConfigError, Limits
from wherecast.server.settings import ConnectionLimits, RequestLimits, Settings
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
    ("text", "message"),
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
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_settings(file, {}, {})
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(file))


def test_every_bad_setting_is_named(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("server = 5\n[sever]\n[push]\nstall = 'soon'\nping = '1s'\nin_flight_max = 0\n")
    environ = {"WHERECAST__LIMITS__PAYLOAD_BYTES_MAX": "many"}
    with pytest.raises(ConfigError) as refused:
        load_settings(file, environ, {"server": {"host": "0.0.0.0", "prot": 1}})
    lines = str(refused.value).splitlines()
    starts = [
        f"{file}: server is a section",
        f"{file}: unknown section sever",
        f"{file}: push.stall: 'soon' is not a duration",
        f"{file}: push.in_flight_max is a whole number from 1",
        "the environment: limits.payload_bytes_max is a whole number",
        "the command line: unknown key server.prot; did you mean server.port?",
        "host 0.0.0.0 is not of the loopback",
    ]
    assert len(lines) == len(starts)
    for line, start in zip(lines, starts, strict=True):
        assert line.startswith(start)


def test_a_malformed_file_does_not_hide_other_problems(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("[server\n")
    with pytest.raises(ConfigError) as refused:
        load_settings(file, {"WHERECAST__SERVER__PRT": "1"}, {})
    first, second = str(refused.value).splitlines()
    assert "malformed TOML" in first
    assert second.startswith("the environment: unknown key server.prt")


def test_each_setting_reaches_the_record_that_is_used(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(
        "[limits]\npayload_bytes_max = 7\nsubscriptions_max = 8\nbody_wait = '9s'\n"
        "[push]\nin_flight_max = 5000\nstall = '3s'\n"
        "[retention]\nqueue_age = '2d'\nqueue_bytes_max = 11\nevery = '500ms'\n"
    )
    found = load_settings(file, {"WHERECAST__LIMITS__JSON_DEPTH_MAX": "5"}, {})
    assert found.publications == Limits(payload_bytes_max=7, json_depth_max=5)
    assert found.limits == RequestLimits(body_wait=timedelta(seconds=9))
    assert found.push == ConnectionLimits(stall=timedelta(seconds=3))
    retention = Retention(timedelta(days=2), 11, timedelta(milliseconds=500))
    assert found.core == CoreLimits(retention, QueueLimits(10_000, 5_000), 8)
    assert settings_from_json(settings_to_json(found)) == found


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
