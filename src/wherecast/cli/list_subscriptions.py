"""`wherecast subscriptions`: lists and deletes the subscriptions of a subscriber."""

import orjson

from wherecast.cli.remote import Remote, path_of


def run_list(name: str, url: str | None, as_json: bool) -> None:
    """Prints the subscriptions of a subscriber."""
    remote = Remote(url)
    for one in remote.pages(path_of("subscribers", name, "subscriptions"), "subscriptions"):
        line = f"{one['id']}  {one['stream']}  {one['filter']}"
        print(orjson.dumps(one).decode() if as_json else line)


def run_delete(name: str, id: str, url: str | None, as_json: bool) -> None:
    """Ends a subscription; its queued notifications stay."""
    Remote(url).call("DELETE", path_of("subscribers", name, "subscriptions", id))
    done = {"subscriber": name, "deleted": id}
    print(orjson.dumps(done).decode() if as_json else f"Deleted {id} of {name}.")
