from concurrent.futures import ThreadPoolExecutor

from wherecast.language.byte_cache import ByteCache


def cache_of(bytes_max: int) -> ByteCache[str, str]:
    return ByteCache(bytes_max, lambda key, value: len(key) + len(value))


def test_a_value_is_made_once() -> None:
    cache, made = cache_of(100), []

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    assert [cache.get("a", make), cache.get("a", make), cache.get("b", make)] == ["A", "A", "B"]
    assert made == ["a", "b"]
    assert (len(cache), cache.nbytes) == (2, 4)


def test_the_bytes_are_bounded_whatever_the_entries() -> None:
    for size in (1, 7, 40, 49):
        cache = cache_of(1_000)
        for number in range(10_000):
            cache.get(f"{number:05}", lambda key, size=size: key[0] * size)  # type: ignore[misc]
            assert cache.nbytes <= 1_000
        assert len(cache) > 500 // (size + 5) - 1


def test_what_is_asked_for_again_stays() -> None:
    cache, made = cache_of(1_000), []

    def make(key: str) -> str:
        made.append(key)
        return key

    for number in range(2_000):
        cache.get("hot", make)
        cache.get(f"{number:05}", make)
    assert made.count("hot") == 1
    assert cache.nbytes <= 1_000


def test_what_is_too_large_is_made_and_not_stored() -> None:
    cache = cache_of(10)
    assert cache.get("a", lambda key: key * 6) == "aaaaaa"
    assert len(cache) == 0
    assert cache.get("a", lambda key: "b") == "b"
    cache.clear()
    assert (len(cache), cache.nbytes) == (0, 0)


def test_threads_get_the_right_values() -> None:
    cache = cache_of(2_000)

    def ask(start: int) -> bool:
        keys = [str(number * start % 701) for number in range(3_000)]
        return all(cache.get(key, lambda key: key + "!") == key + "!" for key in keys)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, [1, 2, 3, 5]))
    assert cache.nbytes == sum(
        len(key) + len(value)
        for generation in (cache._young, cache._old)
        for key, value in generation.items()
    )
    assert cache.nbytes <= 2_000
