"""The tests of __ID__, without a host: python3 -m unittest discover __LABEL__"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from typing import Any

import __FILE__

HERE = pathlib.Path(__file__).parent


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class VisitsTests(Case):
    """What needs no host is an object like any other."""

    def test_counts_each_event_once(self) -> None:
        visits = __FILE__.Visits()
        visits.read(self.folder / "visits.json")
        for name, position in [("Mia", "1:900"), ("Mia", "1:900"), ("Mia", "1:1000"), ("Ann", None), ("Ann", "1:900")]:
            visits.add(name, position)
        self.assertEqual(visits.counts, {"Mia": 2, "Ann": 1})
        again = __FILE__.Visits()
        again.read(self.folder / "visits.json")
        again.add("Mia", "1:1000")
        self.assertEqual(again.counts, visits.counts)


class ModuleTests(Case):
    """The process of the module, which is told what a host would tell it."""

    def answers(self, *requests: tuple[str, dict[str, Any]], config: dict[str, Any] | None = None) -> list[Any]:
        """What it answers to each: the result, or the error's message."""
        hello = {"protocol": 3, "host": "test", "app": "test", "module": "__ID__",
                 "config": config or {}, "appConfig": {}, "stateDirectory": str(self.folder)}
        said = [("initialize", hello), ("event", {"event": "launch", "origin": "host"}), *requests, ("shutdown", {})]
        lines = [json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n"
                 for id, (method, params) in enumerate(said)]
        process = subprocess.run([sys.executable, HERE / "__FILE__.py"], input="".join(lines), check=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", timeout=60)
        answers = [answer for answer in map(json.loads, process.stdout.splitlines()) if "id" in answer]
        self.assertEqual([answer["id"] for answer in answers], list(range(len(said))))
        return [answer["error"]["message"] if "error" in answer else answer["result"] for answer in answers][2:-1]

    @staticmethod
    def visit(payload: Any, **params: Any) -> tuple[str, dict[str, Any]]:
        message = {"topic": "__LABEL__.visited", "payload": payload}
        return "event", {"event": "message", "payload": message, "origin": "test", **params}

    @staticmethod
    def greet(**parameters: str) -> tuple[str, dict[str, Any]]:
        return "call", {"action": "greet", "parameters": parameters, "origin": "test"}

    def test_greets(self) -> None:
        self.assertEqual(
            self.answers(self.greet(name="Mia"), self.greet(name="Mia", loud="true"), config={"greeting": "Welcome"}),
            [{"text": "Welcome, Mia", "visits": 0}, {"text": "WELCOME, MIA", "visits": 0}])

    def test_counts_also_after_its_end(self) -> None:
        visit = self.visit({"name": "Mia"}, position="1:900")
        self.assertEqual(self.answers(visit), [None])
        again = self.visit({"name": "Mia"}, position="1:900", repeated=True)
        self.assertEqual(self.answers(again, self.greet(name="Mia")), [None, {"text": "Hello, Mia", "visits": 1}])

    def test_says_what_is_wrong(self) -> None:
        self.assertEqual(
            self.answers(self.visit({"nam": "Mia"}), self.greet(), self.greet(name=""), self.greet(name="Mia", loud="3")),
            ["__LABEL__.visited needs a 'name'",
             "parameter 'name' is missing: expected text",
             "parameter 'name': expected a name, found nothing",
             "parameter 'loud': expected true, false, 1 or 0, found '3'"])


if __name__ == "__main__":
    unittest.main()
