"""Checks, repairs and copies a store that is kept in a directory."""

from wherecast.store.embedded.backup import Copied as Copied
from wherecast.store.embedded.backup import backup_store as backup_store
from wherecast.store.embedded.check.check_report import CheckFinding as CheckFinding
from wherecast.store.embedded.check.check_store import check_store as check_store
from wherecast.store.embedded.check.repair_store import repair_store as repair_store
