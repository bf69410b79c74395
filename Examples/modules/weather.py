#!/usr/bin/env python3
"""A module that knows the weather of the days to come, and counts who travels where.

It invents the weather, from the names of the city and of the day, so that it needs no network and says the
same again.
"""
import datetime
import hashlib
import json
import os
import pathlib
from typing import Any, Literal

from modulehost import Event, Module, ParameterError

module = Module()
SKIES = ["clear", "clouds", "rain", "snow", "fog", "storm"]


class State:
    """How often each city was visited, and up to which event that is so.

    An event comes again when the module or its host died before the answer. What it did and its position get
    onto the disk in one write, or neither does: so it is known, and not counted twice.
    """

    def __init__(self) -> None:
        self.visits: dict[str, int] = {}
        self.position: str | None = None
        self.path = pathlib.Path()

    def read(self, path: pathlib.Path) -> None:
        self.path = path
        if path.exists():
            saved = json.loads(path.read_text(encoding="utf-8"))
            self.visits, self.position = saved["visits"], saved["position"]

    def has_seen(self, position: str | None) -> bool:
        """Positions only grow; what was posted, and not sent, has none."""
        if position is None or self.position is None:
            return False
        return place(position) <= place(self.position)

    def write(self, position: str | None) -> None:
        self.position = position or self.position
        new = self.path.with_suffix(".new")
        with new.open("w", encoding="utf-8") as file:
            json.dump({"visits": self.visits, "position": self.position}, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)


def place(position: str) -> tuple[int, ...]:
    """Segment and offset, which compare as numbers."""
    return tuple(map(int, position.split(":")))


state = State()


@module.on("launch")
def launch(event: Event) -> None:
    state.read(module.state_directory / "weather.json")
    for city in module.config.get("cities", []):
        state.visits.setdefault(city, 0)
    module.log.info("%d cities, launched by %s", len(state.visits), event.origin)


@module.topic("city.*")
def travelled(event: Event) -> None:
    """`city.visited` counts, and `city.forgotten` takes the city out: both with {"city": …}."""
    if state.has_seen(event.position):
        module.log.info("%s is done already", event.position)
        return
    city = event.payload["city"]
    if event.topic == "city.visited":
        state.visits[city] = state.visits.get(city, 0) + 1
    elif event.topic == "city.forgotten":
        state.visits.pop(city, None)
    state.write(event.position)


@module.route("cities", access="public", reply="[City]")
def cities() -> list[dict[str, Any]]:
    """The cities that it knows, and how often they were visited."""
    return [{"city": city, "visits": visits} for city, visits in sorted(state.visits.items())]


@module.route("forecast/:city", access="public", reply="Forecast")
def forecast(city: str, days: int = 3, unit: Literal["celsius", "fahrenheit"] = "celsius") -> dict[str, Any]:
    """The weather to come."""
    if not 1 <= days <= 14:
        raise ParameterError(f"parameter 'days': expected 1 to 14, found '{days}'")
    today = datetime.date.today()
    return {"city": city, "days": [weather(city, today + datetime.timedelta(n), unit) for n in range(days)]}


def weather(city: str, day: datetime.date, unit: str) -> dict[str, Any]:
    chance = hashlib.sha256(f"{city} {day}".encode()).digest()
    degrees = chance[0] % 35 - 5
    return {"day": str(day), "sky": SKIES[chance[1] % len(SKIES)], "unit": unit,
            "degrees": degrees if unit == "celsius" else round(degrees * 1.8 + 32)}


if __name__ == "__main__":
    module.run()
