# The public names and where they are defined: the one list, also of `__init__.py`.

from wherecast.broker.async_broker import AsyncBroker as AsyncBroker
from wherecast.broker.broker import Broker as Broker
from wherecast.language import Explanation as Explanation
from wherecast.language import Filter as Filter
from wherecast.language import FilterPlan as FilterPlan
from wherecast.matching import Index as Index
from wherecast.matching import Matches as Matches
from wherecast.matching.trees.betree.branch import Branch as Branch
from wherecast.matching.trees.betree.parameters import TreeParameters as TreeParameters
from wherecast.model import AcknowledgementError as AcknowledgementError
from wherecast.model import Attribute as Attribute
from wherecast.model import ConfigError as ConfigError
from wherecast.model import ConflictError as ConflictError
from wherecast.model import FilterError as FilterError
from wherecast.model import Limits as Limits
from wherecast.model import Publication as Publication
from wherecast.model import PublicationError as PublicationError
from wherecast.model import Schema as Schema
from wherecast.model import SchemaError as SchemaError
from wherecast.model import SnapshotError as SnapshotError
from wherecast.model import StoreError as StoreError
from wherecast.model import Subscription as Subscription
from wherecast.model import WherecastError as WherecastError

__version__: str
