"""One S3 server for the whole run, on a free port of this host."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BUCKETS = ("wherecast", "careless", "terse", "busy")


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The URI of an empty bucket; see `s3_server` for further ones. Credentials are set."""
    s3fs = pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    program = Path(__file__).with_name("s3_server.py")
    server = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            patch.setenv("AWS_ACCESS_KEY_ID", "test")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            for bucket in BUCKETS:
                s3fs.S3FileSystem().mkdir(bucket)
            yield "s3://wherecast"
            s3fs.S3FileSystem.clear_instance_cache()
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()
