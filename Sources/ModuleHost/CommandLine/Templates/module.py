"""The module __ID__: greets people, and counts their visits.

A starting point with one example each: settings, an event, messages that count once, and a route. modulehost.py documents
the rest.
"""
import json
import os
import pathlib
from typing import Any

from modulehost import Event, Module, ParameterError

module = Module()


class Visits:
    """The number of visits by name, and the position of the last event counted.

    An event is delivered again if the module or its host died before the answer. Its effect and its position are
    written together: an event that comes again is recognized, and not counted twice.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.position: tuple[int, ...] = ()
        self.path = pathlib.Path()

    def read(self, path: pathlib.Path) -> None:
        self.path = path
        if path.exists():
            saved = json.loads(path.read_text(encoding="utf-8"))
            self.counts, self.position = saved["counts"], tuple(saved["position"])

    def add(self, name: str, position: str | None) -> None:
        """Adds a visit, unless it was counted: positions only grow, and posted messages have none."""
        place = tuple(map(int, position.split(":"))) if position else ()
        if place and place <= self.position:
            return
        counts = self.counts | {name: self.counts.get(name, 0) + 1}
        place = place or self.position
        self.write({"counts": counts, "position": place})
        self.counts, self.position = counts, place

    def write(self, state: dict[str, Any]) -> None:
        new = self.path.with_name(self.path.name + ".new")
        with new.open("w", encoding="utf-8") as file:
            json.dump(state, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)


visits = Visits()


@module.on("launch")
def launch(event: Event) -> None:
    visits.read(module.state_directory / f"{module.id}.json")
    module.log.info("%d visitors so far", len(visits.counts))


@module.topic("__LABEL__.visited")
def visited(event: Event) -> None:
    """Counts {"name": …}. An exception is logged; other modules still receive the event."""
    match event.payload:
        case {"name": str(name)}:
            visits.add(name, event.position)
        case _:
            raise ValueError(f"{event.topic} needs a 'name'")


# For every caller; without `access` only for the modules of this app.
@module.route("greet/:name", access="public", reply="Greeting")
def greet(name: str, loud: bool = False) -> dict[str, Any]:
    """A greeting, with the number of visits."""
    if not name:
        raise ParameterError("parameter 'name': expected a name, found nothing")
    text = f"{module.config.get('greeting', 'Hello')}, {name}"
    return {"text": text.upper() if loud else text, "visits": visits.counts.get(name, 0)}


if __name__ == "__main__":
    module.run()
