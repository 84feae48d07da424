"""Stock quotes: six templates of filters, from the high price of one symbol to every quote.

Source: Cheung (2011), PADRES, section 7.1.1.
"""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.columns import arrow_schema
from wherecast.model import Schema
from wherecast.workloads.draws import Floats, choose
from wherecast.workloads.text import float_texts, join
from wherecast.workloads.workload import CHUNK_ROWS, MatchRate, Workload, require, table_generator

SCHEMA = Schema.from_dict(
    {
        "class": "string",
        "symbol": "string",
        "open": "float",
        "high": "float",
        "low": "float",
        "close": "float",
        "volume": "int",
        "date": "string",
        "openClose%Diff": "float",
        "highLow%Diff": "float",
        "closeEqualsLow": "string",
        "closeEqualsHigh": "string",
    }
)
DAYS = 250  # one quote of each symbol a day
_FIRST_DAY = np.datetime64("1996-09-05")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Standard deviations of the logarithms of ratios.
_STEP_SD = 0.02  # a close / the previous close
_GAP_SD = 0.005  # an open / the previous close
_REACH_SD = 0.01  # a high / the higher of open and close; the lower of both / a low
_VOLUME_SD = 0.5  # a volume / the symbol's base volume


@dataclass(frozen=True, slots=True)
class Template:
    """A form of filter: `class = 'STOCK'`, optionally with a symbol and a comparison.

    Attributes:
        percent: the share of the filters that have this form.
        symbol: whether the filter names a symbol.
        attribute: the attribute that is compared with a quoted value; empty for no comparison.
        operator: the operator of the comparison.
    """

    percent: int
    symbol: bool
    attribute: str = ""
    operator: str = ""


TEMPLATES = (
    Template(20, True, "high", ">"),
    Template(20, True, "low", "<"),
    Template(20, True, "volume", ">"),
    Template(34, True),
    Template(5, False, "volume", ">"),
    Template(1, False),
)


@dataclass(frozen=True, eq=False)
class Stocks(Workload):
    """Filters `class = 'STOCK' AND symbol = 'S0001' AND high > 31.75`; one quote is published.

    Attributes:
        quotes: the quotes that may be published, 250 days of each symbol in turn.
    """

    quotes: pa.RecordBatch

    def _filter_texts(self, rng: np.random.Generator) -> pa.StringArray:
        shares = np.array([template.percent for template in TEMPLATES]) / 100
        forms = choose(rng, shares, CHUNK_ROWS)
        quoted = rng.integers(0, self.quotes.num_rows, CHUNK_ROWS)
        texts, places = [], []
        for form, template in enumerate(TEMPLATES):
            mine = np.flatnonzero(forms == form)
            rows = self.quotes.take(pa.array(quoted[mine]))
            pieces: list[str | pa.StringArray] = [pa.repeat("class = 'STOCK'", mine.size)]
            if template.symbol:
                pieces += [" AND symbol = '", rows["symbol"], "'"]
            if template.attribute:
                pieces.append(f" AND {template.attribute} {template.operator} ")
                pieces.append(_constants(rows[template.attribute]))
            texts.append(join(*pieces))
            places.append(mine)
        return pa.concat_arrays(texts).take(pa.array(np.argsort(np.concatenate(places))))

    def _publication_columns(self, rng: np.random.Generator, sent: int) -> list[pa.Array]:
        rows = rng.integers(0, self.quotes.num_rows, CHUNK_ROWS)
        columns: list[pa.Array] = self.quotes.take(pa.array(rows)).columns
        return columns


def stocks(seed: int = 1, symbols: int = 500) -> Stocks:
    """The stocks workload: quotes of a random walk, and filters by PADRES's six templates.

    A filter takes its symbol and its constant from a random quote; a publication is a random
    quote. In both, symbols and days are equally likely.

    The source gives the twelve attributes and the templates with their percentages. It also says
    that symbols are random and that constants are drawn from the quotes of the symbol. Its quotes
    are daily quotes of real companies; the quotes here are synthetic.

    The matching study gives the 500 symbols, base prices exp(N(4, 0.8)), base volumes
    exp(N(13, 1)), and volumes of the base times exp(N(0, 0.5)). It has five of the attributes and
    no days: it draws prices around the base. It counted 3,692 matches per publication among
    100,000 filters; this workload has 3,627.5, within the error of that count.

    Ours is the random walk of 250 weekdays, with prices to the cent:

    - close: the previous close (at first the base price) times exp(N(0, 0.02))
    - open: the previous close times exp(N(0, 0.005))
    - high: the higher of open and close times exp(max(0, N(0, 0.01)))
    - low: the lower of open and close divided by such a factor
    - volume: in hundreds of shares, at least one hundred
    - date: as in the source, `5-Sep-96`
    - `openClose%Diff`: (close − open) / open, and `highLow%Diff`: (high − low) / low, to three
      digits. The source has no formulas. Its example quote has 0.0 and 0.014, which these formulas
      give if its prices, 18.6 and 18.37, stand for the eighths 18 5/8 and 18 3/8.
    - `closeEqualsLow`, `closeEqualsHigh`: 'true' or 'false'

    Args:
        seed: the seed of all random numbers.
        symbols: the number of symbols.

    Raises:
        ConfigError: an option is out of its range.
    """
    rng = table_generator(seed)
    require(symbols >= 1, f"symbols must be 1 or more, not {symbols}")
    quotes = _walk(rng, symbols)
    return Stocks("stocks", SCHEMA, seed, _rate(quotes, symbols), quotes)


def _walk(rng: np.random.Generator, symbols: int) -> pa.RecordBatch:
    """The quotes of every day, symbol by symbol."""
    shape = (symbols, DAYS)
    bases = np.exp(rng.normal(4, 0.8, (symbols, 1)))
    volume_bases = np.exp(rng.normal(13, 1, (symbols, 1)))
    walked = bases * np.exp(np.cumsum(rng.normal(0, _STEP_SD, shape), axis=1))
    before = np.hstack([bases, walked[:, :-1]])
    closes = _cents(walked)
    opens = _cents(before * np.exp(rng.normal(0, _GAP_SD, shape)))
    above, below = np.exp(np.maximum(rng.normal(0, _REACH_SD, (2, *shape)), 0))
    highs = _cents(np.maximum(opens, closes) * above)
    lows = _cents(np.minimum(opens, closes) / below)
    lots = np.round(volume_bases * np.exp(rng.normal(0, _VOLUME_SD, shape)) / 100)
    digits = max(4, len(str(symbols - 1)))
    names = pa.array([f"S{number:0{digits}d}" for number in range(symbols)])
    columns = {
        "class": pa.repeat("STOCK", symbols * DAYS),
        "symbol": names.take(pa.array(np.repeat(np.arange(symbols), DAYS))),
        "open": opens,
        "high": highs,
        "low": lows,
        "close": closes,
        "volume": np.maximum(lots, 1).astype(np.int64) * 100,
        "date": pa.array(_dates() * symbols),
        "openClose%Diff": np.round((closes - opens) / opens, 3) + 0.0,  # no −0.0
        "highLow%Diff": np.round((highs - lows) / lows, 3),
        "closeEqualsLow": pc.if_else(pa.array((closes == lows).ravel()), "true", "false"),
        "closeEqualsHigh": pc.if_else(pa.array((closes == highs).ravel()), "true", "false"),
    }
    arrays = [
        pa.array(column.ravel()) if isinstance(column, np.ndarray) else column
        for column in columns.values()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(SCHEMA))


def _cents(prices: Floats) -> Floats:
    """The prices rounded to the cent, at least one cent."""
    return np.maximum(np.round(prices, 2), 0.01)


def _dates() -> list[str]:
    """The weekdays from the first on, such as 5-Sep-96."""
    days = np.busday_offset(_FIRST_DAY, np.arange(DAYS)).tolist()
    return [f"{day.day}-{_MONTHS[day.month - 1]}-{day:%y}" for day in days]


def _constants(values: pa.Array) -> pa.StringArray:
    """The values as filter texts write them."""
    if pa.types.is_integer(values.type):
        return values.cast(pa.string())
    return float_texts(values.to_numpy())


def _rate(quotes: pa.RecordBatch, symbols: int) -> MatchRate:
    """The rate, counted on all pairs of quotes: one as publication, one as source of constants."""
    matched = np.zeros(quotes.num_rows)  # per publication: the share of the filters that match
    square = 0.0
    for template in TEMPLATES:
        share, scope = template.percent / 100, symbols if template.symbol else 1
        passed, passing = np.ones(quotes.num_rows), np.ones(quotes.num_rows)
        if template.attribute:
            values = quotes[template.attribute].to_numpy().astype(np.float64)
            sign = 1 if template.operator == ">" else -1
            passed, passing = _ranks(sign * values.reshape(scope, -1))
        matched += share * passed / scope
        square += share * float((passing**2).mean()) / scope**2
    mean = float(matched.mean())
    return MatchRate(mean, math.sqrt(square / mean**2 - 1), float(matched.std()) / mean)


def _ranks(values: Floats) -> tuple[Floats, Floats]:
    """The shares of the values of the same row below and above each value, flattened."""
    below, above = np.empty(values.shape), np.empty(values.shape)
    for number, row in enumerate(values):
        ordered = np.sort(row)
        below[number] = np.searchsorted(ordered, row, "left") / row.size
        above[number] = 1 - np.searchsorted(ordered, row, "right") / row.size
    return below.ravel(), above.ravel()
