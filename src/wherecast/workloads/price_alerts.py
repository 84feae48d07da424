"""Price alerts: an equality on a symbol, a price beyond a threshold, and often a volume."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from wherecast.model import Schema
from wherecast.workloads.draws import Floats, choose, normal_average, normal_cdf, zipf_shares
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, require, table_generator

SCHEMA = Schema.from_dict({"symbol": "string", "price": "float", "volume": "float"})
# All are of the logarithm of a quantity divided by the symbol's base.
_PRICE_SD = 0.05  # of quoted prices
_THRESHOLD_MEAN, _THRESHOLD_SD = 0.10, 0.03  # of thresholds, above the base or below
_VOLUME_SD = 0.5  # of volumes in quotes and in filters


@dataclass(frozen=True, eq=False)
class Alerts(Workload):
    """Filters `symbol = 'S0001' AND price > x [AND volume > y]` and one quote per publication.

    Attributes:
        symbols: the names of the symbols.
        popular: the positions of the symbols in `symbols`, the most popular first.
        prices: the base price of each symbol.
        volumes: the base volume of each symbol.
    """

    symbols: pa.StringArray
    popular: NDArray[np.int64]
    prices: Floats
    volumes: Floats

    def _draw_symbols(self, rng: np.random.Generator) -> NDArray[np.int64]:
        return self.popular[choose(rng, zipf_shares(len(self.popular)), CHUNK_ROWS)]

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        chosen = self._draw_symbols(rng)
        rising = rng.random(CHUNK_ROWS) < 0.5
        distances = rng.normal(_THRESHOLD_MEAN, _THRESHOLD_SD, CHUNK_ROWS)
        thresholds = self.prices[chosen] * np.exp(np.where(rising, 1, -1) * distances)
        asks_volume = rng.random(CHUNK_ROWS) < 0.5
        volumes = self.volumes[chosen] * np.exp(rng.normal(0, _VOLUME_SD, CHUNK_ROWS))
        return join(
            "symbol = '",
            self.symbols.take(pa.array(chosen)),
            pc.if_else(pa.array(rising), "' AND price > ", "' AND price < "),
            float_texts(thresholds),
            pc.if_else(pa.array(asks_volume), join(" AND volume > ", float_texts(volumes)), ""),
        )

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        chosen = self._draw_symbols(rng)
        prices = self.prices[chosen] * np.exp(rng.normal(0, _PRICE_SD, CHUNK_ROWS))
        volumes = self.volumes[chosen] * np.exp(rng.normal(0, _VOLUME_SD, CHUNK_ROWS))
        return [self.symbols.take(pa.array(chosen)), pa.array(prices), pa.array(volumes)]


def alerts(seed: int = 1, symbols: int = 10_000) -> Alerts:
    """The alerts workload: Zipf-popular symbols, thresholds that one quote in 23 passes.

    The popularity of symbols follows Zipf's law with exponent 1, shuffled over the names; it is the
    same in filters and quotes. Base prices are exp(N(4, 1)), base volumes exp(N(12, 1.5)). A
    threshold is the base price times (`>`) or divided by (`<`) exp(N(0.10, 0.03)). Half of the
    filters also ask for a volume above the base volume times exp(N(0, 0.5)). A quote has the base
    price times exp(N(0, 0.05)) and the base volume times exp(N(0, 0.5)).

    Args:
        seed: the seed of all random numbers.
        symbols: the number of symbols.

    Raises:
        ConfigError: an option is out of its range.
    """
    rng = table_generator(seed)
    require(symbols >= 1, f"symbols must be 1 or more, not {symbols}")
    digits = max(4, len(str(symbols - 1)))
    return Alerts(
        name="alerts",
        schema=SCHEMA,
        seed=seed,
        rate=_rate(symbols),
        symbols=pa.array([f"S{number:0{digits}d}" for number in range(symbols)]),
        popular=rng.permutation(symbols),
        prices=np.exp(rng.normal(4, 1, symbols)),
        volumes=np.exp(rng.normal(12, 1.5, symbols)),
    )


def _rate(symbols: int) -> MatchRate:
    """The rate as a product of its independent parts: symbol, price, volume."""
    shares = zipf_shares(symbols)
    same_symbol = float((shares**2).sum())
    symbol_square = float((shares**3).sum()) / same_symbol**2

    def fired(moves: Floats) -> Floats:  # the share of thresholds that each move passes
        rises = normal_cdf((moves - _THRESHOLD_MEAN) / _THRESHOLD_SD)
        falls = normal_cdf((-moves - _THRESHOLD_MEAN) / _THRESHOLD_SD)
        return (rises + falls) / 2

    def passed(distances: Floats) -> Floats:  # the share of quotes beyond each distance
        return normal_cdf(-distances / _PRICE_SD)

    price = normal_average(passed, _THRESHOLD_MEAN, _THRESHOLD_SD)
    price_by_filter = normal_average(
        lambda distances: passed(distances) ** 2, _THRESHOLD_MEAN, _THRESHOLD_SD
    )
    price_by_quote = normal_average(lambda moves: fired(moves) ** 2, 0, _PRICE_SD)
    # The share u of volume thresholds that a quote passes is uniform in [0, 1]. Half of the
    # filters have no such threshold. So the mean is 3/4, and the mean square is 2/3 by filter (the
    # mean of 1 and u²) and 7/12 by quote (the mean of (1 + u)² / 4).
    volume, volume_by_filter, volume_by_quote = 3 / 4, 2 / 3, 7 / 12
    square = (price * volume) ** 2
    return MatchRate(
        same_symbol * price * volume,
        math.sqrt(symbol_square * price_by_filter * volume_by_filter / square - 1),
        math.sqrt(symbol_square * price_by_quote * volume_by_quote / square - 1),
    )
