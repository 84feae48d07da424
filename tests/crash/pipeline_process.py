"""The pipeline on Spark as a process, with small segments: takes the arguments of the real one."""

import sys
from functools import partial

from tests.crash.small_segments import SMALL
from wherecast.pipeline.live import spark
from wherecast.pipeline.live.process import main
from wherecast.store.embedded.store import EmbeddedStore

if __name__ == "__main__":
    setattr(spark, "EmbeddedStore", partial(EmbeddedStore, limits=SMALL))  # noqa: B010
    sys.exit(main())
