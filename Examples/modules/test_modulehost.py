"""Drives the modules of this folder over pipes, as their host does: python3 -m unittest discover Examples/modules"""
import contextlib
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from typing import Any, Callable, Iterator

HERE = pathlib.Path(__file__).parent
PATIENCE = 30  # Seconds, after which what is waited for will not come.


class Host:
    """The other end of a module's pipes."""

    def __init__(self, command: list[str], folder: str, module: str, config: dict[str, Any] | None = None) -> None:
        self.process = subprocess.Popen(
            command, cwd=folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(HERE), "MODULEHOST_OWNER": "test"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.input, self.output = self.process.stdin, self.process.stdout
        self.alarm = threading.Timer(PATIENCE, self.process.kill)
        self.alarm.start()
        self.errors = b""
        self.reader = threading.Thread(target=self.read_errors)
        self.reader.start()
        self.ids = 0
        self.received: list[dict[str, Any]] = []  # Of the module's own: notifications, and requests.
        self.hello = {
            "protocol": 3, "host": "0.1.0", "hostId": "0123456789abcdef", "app": "demo", "module": module, "config": config or {},
            "appConfig": {"domain": "example.com"}, "stateDirectory": folder}

    def read_errors(self) -> None:
        assert self.process.stderr
        self.errors = self.process.stderr.read()

    def write(self, message: dict[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        self.input.write(text.encode() + b"\n")
        self.input.flush()

    def read(self) -> dict[str, Any]:
        line = self.output.readline()
        if not line:
            raise EOFError("the module has closed its output")
        message: dict[str, Any] = json.loads(line)
        assert message.pop("jsonrpc") == "2.0"
        return message

    def begin(self, method: str, **params: Any) -> int:
        self.ids += 1
        self.write({"id": self.ids, "method": method, "params": params})
        return self.ids

    def answer_to(self, id: int) -> dict[str, Any]:
        """What the module answers; what else it sends is kept."""
        while "method" in (message := self.read()):
            self.received.append(message)
        assert message.pop("id") == id
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer_to(self.begin(method, **params))

    def initialize(self) -> Any:
        return self.ask("initialize", **self.hello)["result"]

    def event(self, name: str, payload: Any = None, **params: Any) -> dict[str, Any]:
        return self.ask("event", event=name, payload=payload, origin="host", deadlineMs=5000, **params)

    def message(self, topic: str, payload: Any, **params: Any) -> dict[str, Any]:
        return self.event("message", {"topic": topic, "payload": payload}, **params)

    def call(self, action: str, **parameters: Any) -> dict[str, Any]:
        return self.ask("call", action=action, parameters=parameters, origin="host")

    def end(self) -> int:
        """Ends the module as the host's death does; returns its exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.input.close()
        code = self.process.wait()
        self.alarm.cancel()
        self.reader.join()
        self.output.close()
        assert self.process.stderr
        self.process.stderr.close()
        return code


class ModuleTestCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @contextlib.contextmanager
    def running(self, command: list[str], module: str, config: dict[str, Any] | None = None) -> Iterator[Host]:
        host = Host(command, self.folder, module, config)
        try:
            yield host
        finally:
            host.end()

    @contextlib.contextmanager
    def small(self, code: str, made: str = "") -> Iterator[tuple[Host, Any]]:
        """A module of a few lines, made with these arguments, and its answer to `initialize`."""
        path = pathlib.Path(self.folder, "small.py")
        head = ("import os, sys, threading\nfrom concurrent.futures import Future\nfrom typing import *\n"
                f"from modulehost import *\nmodule = Module({made})\n")
        path.write_text(head + textwrap.dedent(code) + "\nmodule.run()\n", encoding="utf-8")
        with self.running([sys.executable, str(path)], "com.example.small") as host:
            yield host, host.initialize()


class WeatherTests(ModuleTestCase):
    def weather(self) -> contextlib.AbstractContextManager[Host]:
        return self.running(
            [sys.executable, str(HERE / "weather.py")], "com.example.weather", {"cities": ["Oslo"]})

    def launched(self, host: Host) -> Any:
        answer = host.initialize()
        self.assertEqual(host.event("launch"), {"result": None})
        return answer

    def test_handshake(self) -> None:
        with self.weather() as host:
            answer = self.launched(host)
        routes = {route.pop("action"): route for route in answer.pop("routes")}
        self.assertEqual(answer, {
            "protocol": 3, "module": "com.example.weather",
            "events": ["launch"], "topics": ["city.*"]})
        self.assertEqual(routes["forecast"], {
            "pattern": "forecast/:city", "access": "public", "reply": "Forecast",
            "summary": "The weather to come.",
            "parameters": [
                {"name": "city", "type": "String", "required": True, "list": False, "expects": "text"},
                {"name": "days", "type": "Int", "required": False, "list": False, "expects": "a whole number"},
                {"name": "unit", "type": "String", "required": False, "list": False,
                 "values": ["celsius", "fahrenheit"], "expects": "one of 'celsius', 'fahrenheit'"},
            ]})
        self.assertEqual(routes["cities"]["parameters"], [])
        self.assertEqual(host.received[0], {
            "method": "log", "params": {"level": "info", "message": "1 cities, launched by host"}})

    def test_forecast(self) -> None:
        with self.weather() as host:
            self.launched(host)
            first = host.call("forecast", city="Tromsø", days="2")["result"]
            self.assertEqual(first["city"], "Tromsø")
            self.assertEqual(len(first["days"]), 2)
            self.assertEqual(len(host.call("forecast", city="Tromsø")["result"]["days"]), 3)
            warm = host.call("forecast", city="Tromsø", unit="fahrenheit")["result"]["days"][0]
            self.assertEqual(warm["degrees"], round(first["days"][0]["degrees"] * 1.8 + 32))
            for parameters, message in [
                ({}, "parameter 'city' is missing: expected text"),
                ({"city": "Oslo", "days": "x"}, "parameter 'days': expected a whole number, found 'x'"),
                ({"city": "Oslo", "days": "99"}, "parameter 'days': expected 1 to 14, found '99'"),
                ({"city": "Oslo", "unit": "kelvin"},
                 "parameter 'unit': expected one of 'celsius', 'fahrenheit', found 'kelvin'"),
            ]:
                error = {"error": {"code": -32007, "message": message}}
                self.assertEqual(host.call("forecast", **parameters), error)
        self.assertEqual(host.errors, b"")

    def test_counts_once_whatever_happens(self) -> None:
        def visit(host: Host, position: str | None) -> None:
            event = {"position": position, "repeated": True} if position else {}
            self.assertEqual(host.message("city.visited", {"city": "Oslo"}, **event), {"result": None})

        with self.weather() as host:
            self.launched(host)
            visit(host, "1:900")
            visit(host, "1:900")
            visit(host, "1:1000")
            visit(host, None)
            host.process.kill()
        with self.weather() as host:
            self.launched(host)
            visit(host, "1:1000")
            self.assertEqual(host.call("cities"), {"result": [{"city": "Oslo", "visits": 3}]})
            host.message("city.forgotten", {"city": "Oslo"}, position="2:0")
            self.assertEqual(host.call("cities"), {"result": []})
            self.assertIn("error", host.message("city.visited", {}, position="2:9"))


class NotifyTests(ModuleTestCase):
    def test_listens(self) -> None:
        file = pathlib.Path(self.folder, "received.ndjson")
        with self.running(["sh", str(HERE / "notify.sh"), str(file)], "com.example.notify") as host:
            self.assertEqual(host.initialize(), {
                "protocol": 2, "module": "com.example.notify", "events": ["push", "terminate"]})
            # Nothing in a payload is taken for a part of the message.
            trap = {"id": 7, "method": "initialize", "text": "\"id\":8,\"method\":\"x\" \\ \n $HOME `x` é"}
            self.assertEqual(host.event("push", trap), {"result": None})
            host.ids = 2_000_000_000
            self.assertEqual(host.event("push", "x" * 1_000_000), {"result": None})
            self.assertEqual(host.event("terminate"), {"result": None})
            self.assertEqual(host.ask("shutdown"), {"result": None})
        self.assertEqual(host.process.returncode, 0)
        lines = [json.loads(line)["params"] for line in file.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([line["event"] for line in lines], ["push", "push", "terminate"])
        self.assertEqual(lines[0]["payload"], trap)

    def test_stands_in_the_document(self) -> None:
        text = (HERE.parents[1] / "docs" / "isolated-modules.md").read_text(encoding="utf-8")
        script = (HERE / "notify.sh").read_text(encoding="utf-8")
        self.assertIn(f"<!-- file=Examples/modules/notify.sh -->\n```sh\n{script}```\n", text)
        self.assertLessEqual(len(script.splitlines()), 20)


class KitTests(ModuleTestCase):
    def test_every_type_of_parameter(self) -> None:
        code = """
            @module.route("all/:text")
            def all(text: str, whole: int = 0, number: float = 0, flag: bool = False, maybe: str | None = None,
                    one: Optional[int] = None, some: list[int] = [], way: list[Literal["n", "s"]] = []) -> Any:
                return [text, whole, number, flag, maybe, one, some, way]
        """
        with self.small(code) as (host, answer):
            described = {each["name"]: each for each in answer["routes"][0]["parameters"]}
            self.assertEqual([each["type"] for each in described.values()],
                             ["String", "Int", "Double", "Bool", "String", "Int", "Int", "String"])
            self.assertEqual(described["way"], {
                "name": "way", "type": "String", "required": False, "list": True, "values": ["n", "s"],
                "expects": "values, each one of 'n', 's'"})
            self.assertEqual(host.call("all", text="")["result"], ["", 0, 0, False, None, None, [], []])
            self.assertEqual(
                host.call("all", text="a\nb", whole="-12", number="-1.5e3", flag="1", maybe="m", one="1",
                          some=["1", "2"], way=["n"])["result"],
                ["a\nb", -12, -1500, True, "m", 1, [1, 2], ["n"]])
            for name, value in [("whole", "+1"), ("whole", "1_0"), ("whole", " 1"), ("whole", "1\n"), ("whole", "²"),
                                ("whole", "9" * 5000), ("number", "inf"), ("number", "1e999"), ("number", ".5"),
                                ("flag", "yes"), ("some", ["1", "x"]), ("way", ["w"])]:
                error = host.call("all", text="", **{name: value})["error"]
                self.assertEqual(error["code"], -32007, f"{name}={value}")
                self.assertTrue(error["message"].startswith(f"parameter '{name}': expected "))
            # The host knows better than to send it.
            self.assertEqual(host.call("nothing")["error"]["code"], -32005)

    def test_refuses_what_it_cannot_describe(self) -> None:
        sys.path.insert(0, str(HERE))
        self.addCleanup(sys.path.remove, str(HERE))
        from modulehost import Module

        def bare(city) -> None: ...  # type: ignore[no-untyped-def]
        def bytes_(city: bytes) -> None: ...
        def several(city: int | str) -> None: ...
        def rest(*city: str) -> None: ...
        def named(**city: str) -> None: ...
        functions: list[Callable[..., None]] = [bare, bytes_, several, rest, named]
        for function in functions:
            with self.assertRaisesRegex(TypeError, "parameter 'city' cannot be made of text: let it be str, "):
                Module().route("x")(function)
        module = Module()
        module.route("x")(lambda: None)
        with self.assertRaisesRegex(ValueError, "there is an action '<lambda>' already"):
            module.route("y")(lambda: None)

    def test_events(self) -> None:
        code = """
            @module.on("push")
            def pushed(event: Event) -> str: return "newData" if event.payload else "noData"
            @module.on("open-url")
            def opened(event: Event) -> bool: return event.payload == "mine"
            @module.on("background")
            def background(event: Event) -> Any: return {"whatever": 1}
            @module.on("configuration-changed")
            def changed(event: Event) -> None: module.log.warning("%s %s", module.config, module.app_config)
            @module.topic("a.*")
            @module.topic("a.b")
            def received(event: Event) -> None:
                module.log.log(NOTICE, "%s %s %s", event.topic, event.payload, event)
        """
        with self.small(code) as (host, answer):
            self.assertEqual(answer["events"], ["background", "configuration-changed", "open-url", "push"])
            self.assertEqual(answer["topics"], ["a.*", "a.b"])
            self.assertEqual(host.event("push", {"aps": {}}), {"result": {"fetch": "newData"}})
            self.assertEqual(host.event("push"), {"result": {"fetch": "noData"}})
            self.assertEqual(host.event("open-url", "mine"), {"result": {"claimed": True}})
            self.assertEqual(host.event("open-url", "other"), {"result": None})
            self.assertEqual(host.event("background"), {"result": None})
            host.event("configuration-changed", {"config": {"é": 1}, "appConfig": {}, "changed": ["config"]})
            host.message("a.c", 0, position="1:2", id="x", attempt=2, repeated=True, source="shop")
            host.message("a.b", None)
            logged = [(each["params"]["level"], each["params"]["message"]) for each in host.received]
            self.assertEqual(logged[0], ("warning", "{'é': 1} {}"))
            self.assertEqual(logged[1], (
                "notice", "a.c 0 Event(name='message', payload=0, topic='a.c', origin='host', deadline=5.0, "
                "position='1:2', id='x', attempt=2, repeated=True, traceparent=None, source='shop')"))
            self.assertEqual(len(logged), 4)

    def test_trace(self) -> None:
        """What a handler asks for is a part of the trace of its event, and of none if the event is."""
        code = """
            @module.topic("t")
            def received(event: Event) -> None: module.post("u", event.traceparent)
        """
        text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        with self.small(code) as (host, _):
            for trace in ({"traceparent": text}, {}):
                id = host.begin("event", event="message", payload={"topic": "t"}, origin="host", deadlineMs=5000, **trace)
                posted = host.read()
                self.assertEqual(posted["params"].get("traceparent"), trace.get("traceparent"))
                self.assertEqual(posted["params"].get("payload"), trace.get("traceparent"))
                host.write({"id": posted["id"], "result": None})
                self.assertEqual(host.answer_to(id), {"result": None})

    def test_answers_later(self) -> None:
        code = '''
            waiting: list[Future[str]] = []
            @module.route("keep/:text", later=True, deadline=2.5)
            def keep(text: str) -> Future[str]:
                future: Future[str] = Future()
                waiting.append(future)
                if text == "now": future.set_result("at once")
                return future
            @module.route("open", action="open")
            def opened() -> int:
                for future in waiting:
                    if future.cancelled(): return -1
                    if not future.done(): threading.Thread(target=future.set_result, args=["later"]).start()
                return len(waiting)
            @module.route("fail")
            def fail() -> None: waiting[-1].set_exception(ParameterError("wrong"))
        '''
        with self.small(code) as (host, answer):
            self.assertEqual([answer["routes"][0][key] for key in ("later", "deadlineMs")], [True, 2500])
            self.assertNotIn("later", answer["routes"][1])
            self.assertEqual(host.call("keep", text="now"), {"result": "at once"})
            first = host.begin("call", action="keep", parameters={"text": "x"}, origin="host")
            opened = host.begin("call", action="open", origin="host")
            self.assertEqual(
                sorted([host.read(), host.read()], key=lambda each: int(each["id"])),
                [{"id": first, "result": "later"}, {"id": opened, "result": 2}])
            wrong = host.begin("call", action="keep", parameters={"text": "x"}, origin="host")
            host.begin("call", action="fail", origin="host")
            self.assertEqual(host.answer_to(wrong), {"error": {"code": -32007, "message": "wrong"}})
            self.assertEqual(host.read()["result"], None)
            late = host.begin("call", action="keep", parameters={"text": "x"}, origin="host")
            host.write({"method": "cancel", "params": {"id": 4711}})
            host.write({"method": "cancel", "params": {"id": late}})
            self.assertEqual(host.answer_to(late)["error"]["code"], -32005)
            self.assertEqual(host.call("open"), {"result": -1})
        self.assertEqual(host.errors, b"")

    def test_asks_its_host(self) -> None:
        code = """
            @module.on("push")
            def pushed(event: Event) -> None:
                assert module.call("com.example.b", "add", a=1, b=True, c=["x", 2], d=None, e="é") == [3]
                assert module.open("example://x") == 4
                assert module.open("example://y") is None
                assert module.can_open("example://z") is False
                assert module.post("t", {"x": 1}) is None
                assert module.send("push", {"aps": {}}, id="u") == "1:9"
                assert module.send("push", {"aps": {}}, id="u") is None
                assert module.send("background") is None
                assert module.send("push", {}, source="shop") == "1:10"
                assert module.deliver("push", {}, id="w")["outcome"]["delivered"] == 2
                try:
                    module.call("com.example.b", "gone")
                except HostError as error:
                    first = f"{error.code} {error}"
                try:
                    module.open("example://x", {"kind": "pussh"})
                except HostError as error:
                    raise RuntimeError(f"{first}, {error}")
        """
        with self.small(code) as (host, _):
            event = host.begin("event", event="push")
            exchanges: list[tuple[dict[str, Any], dict[str, Any]]] = [
                ({"method": "call", "params": {
                    "module": "com.example.b", "action": "add",
                    "parameters": {"a": "1", "b": "true", "c": ["x", "2"], "e": "é"}}}, {"result": {"reply": [3]}}),
                ({"method": "open", "params": {"url": "example://x"}}, {"result": {"reply": 4}}),
                ({"method": "open", "params": {"url": "example://y"}}, {"result": {"claimedBy": "b"}}),
                ({"method": "canopen", "params": {"url": "example://z"}}, {"result": False}),
                ({"method": "post", "params": {"topic": "t", "payload": {"x": 1}}}, {"result": None}),
                ({"method": "send", "params": {"event": "push", "payload": {"aps": {}}, "id": "u"}},
                 {"result": {"id": "u", "position": "1:9"}}),
                ({"method": "send", "params": {"event": "push", "payload": {"aps": {}}, "id": "u"}},
                 {"result": {"id": "u", "duplicate": True}}),
                ({"method": "send", "params": {"event": "background"}}, {"result": {}}),
                ({"method": "send", "params": {"event": "push", "payload": {}, "source": "shop"}},
                 {"result": {"id": "v", "position": "1:10"}}),
                ({"method": "send", "params": {"event": "push", "payload": {}, "id": "w", "wait": True}},
                 {"result": {"id": "w", "position": "1:11", "outcome": {"delivered": 2}}}),
                ({"method": "call", "params": {"module": "com.example.b", "action": "gone", "parameters": {}}},
                 {"error": {"code": -32001, "message": "no action 'gone'", "data": "nearest"}}),
                ({"method": "open", "params": {"url": "example://x", "from": {"kind": "pussh"}}},
                 {"error": {"code": -32602, "message": "Invalid params", "data": "'from' is not an origin"}}),
            ]
            for request, answer in exchanges:
                asked = host.read()
                id = asked.pop("id")
                self.assertEqual(asked, request)
                host.write({"id": id, **answer})
            error = {"error": {"code": -32005, "message": "-32001 no action 'gone', Invalid params: 'from' is not an origin"}}
            self.assertEqual(host.answer_to(event), error)

    def test_acts_for_senders_from_outside(self) -> None:
        code = """
            @module.on("push")
            def pushed(event: Event) -> None:
                sender = module.sender
                module.open("example://x", sender)
                assert module.sender == sender
                module.can_open("example://y", sender=sender)
            @module.route("act")
            def act() -> Any:
                return module.sender
        """
        remote = {"kind": "control", "uid": 1000, "pid": 4711}
        with self.small(code) as (host, _):
            module = {"kind": "local", "module": "com.example.b"}
            for sender in [{"kind": "push"}, remote, module, {"kind": "host"}, None]:
                event = host.begin("event", event="push", **({"from": sender} if sender else {}))
                said = {"from": sender} if sender in ({"kind": "push"}, remote) else {}
                asked = host.read()
                self.assertEqual(asked["params"], {"url": "example://x", **said})
                # A call in between has a sender of its own.
                self.assertEqual(host.ask("call", action="act", **{"from": {"kind": "inbox"}}),
                                 {"result": {"kind": "inbox"}})
                host.write({"id": asked["id"], "result": {"reply": None}})
                asked = host.read()
                self.assertEqual(asked["params"], {"url": "example://y", **said})
                host.write({"id": asked["id"], "result": True})
                self.assertEqual(host.answer_to(event), {"result": None})
            self.assertEqual(host.call("act"), {"result": {}})

    def test_serves_while_it_waits(self) -> None:
        code = """
            @module.route("down/:n")
            def down(n: int) -> Any:
                return [n, module.call("com.example.b", "down", n=n - 1)] if n else []
        """
        with self.small(code) as (host, _):
            calls = [host.begin("call", action="down", parameters={"n": "3"})]
            asked = []
            for n in [2, 1, 0]:
                asked.append(host.read())
                self.assertEqual(asked[-1]["params"]["parameters"], {"n": str(n)})
                calls.append(host.begin("call", action="down", parameters={"n": str(n)}))
            reply = host.answer_to(calls.pop())["result"]
            while calls:
                host.write({"id": asked.pop()["id"], "result": {"reply": reply}})
                reply = host.answer_to(calls.pop())["result"]
            self.assertEqual(reply, [3, [2, [1, []]]])

    def test_other_threads_ask_too(self) -> None:
        code = """
            def ask() -> None:
                try:
                    while True: module.post("t", module.call("b", "next"))
                except HostError as error:
                    print(error, file=sys.stderr)
            @module.on("launch")
            def launch(event: Event) -> None: threading.Thread(target=ask).start()
        """
        with self.small(code) as (host, _):
            host.event("launch")
            if not host.received:
                host.received.append(host.read())
            host.write({"id": host.received[0]["id"], "result": {"reply": 5}})
            post = host.read()
            self.assertEqual(post["params"], {"topic": "t", "payload": 5})
            host.write({"id": post["id"], "result": None})
            self.assertEqual(host.read()["method"], "call")
        self.assertEqual((host.process.returncode, host.errors), (0, b"the host has ended\n"))

    def test_nothing_printed_gets_between_the_messages(self) -> None:
        code = """
            print("early")
            os.write(1, b"by a library\\n")
            @module.on("push")
            def pushed(event: Event) -> None:
                print('{"jsonrpc": "2.0", "id": 1, "result": "é"}')
                os.system("echo of a program; cat")
                os.write(1, b"raw\\n")
                assert sys.stdin.read() == ""
        """
        with self.small(code) as (host, _):
            self.assertEqual(host.event("push"), {"result": None})
            self.assertEqual(host.event("push"), {"result": None})
            self.assertEqual(host.received, [])
        printed = ['{"jsonrpc": "2.0", "id": 1, "result": "é"}', "of a program", "raw"]
        lines = host.errors.decode().splitlines()
        self.assertEqual(sorted(lines[:2]), ["by a library", "early"])
        self.assertEqual(lines[2:], printed * 2)

    def test_prints_as_usual_where_no_host_runs_it(self) -> None:
        code = "import modulehost; print('printed', flush=True)"
        result = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, timeout=PATIENCE)
        self.assertEqual(result.stdout, b"printed\n")

    def test_exceptions(self) -> None:
        code = """
            @module.on("push")
            def pushed(event: Event) -> None: raise RuntimeError("no such é")
            @module.on("background")
            def background(event: Event) -> None: raise NotImplementedError
            @module.route("reply/:how")
            def reply(how: str) -> Any: return {"set": {1}, "nan": float("nan"), "file": "a\\udcffb"}[how]
        """
        with self.small(code) as (host, _):
            self.assertEqual(host.event("push"), {"error": {"code": -32005, "message": "no such é"}})
            error = {"error": {"code": -32005, "message": "NotImplementedError"}}
            self.assertEqual(host.event("background"), error)
            for how in ["set", "nan"]:
                self.assertIn("JSON", host.call("reply", how=how)["error"]["message"])
            self.assertEqual(host.call("reply", how="file"), {"result": "a?b"})
            self.assertEqual(host.ask("dance")["error"], {"code": -32601, "message": "no method 'dance'"})
        self.assertIn("Traceback (most recent call last):", host.errors.decode())
        self.assertIn("RuntimeError: no such é", host.errors.decode())

    def test_large_messages(self) -> None:
        code = """
            @module.route("reply/:length")
            def reply(length: int) -> str: return "x" * length
            @module.route("post/:length")
            def post(length: int) -> None: module.post("t", "x" * length)
            @module.route("count")
            def count(text: str) -> int: return len(text)
        """
        limit = 1 << 20
        message = "a message of 1048577 bytes, 1048576 are allowed: pass the name of a file"
        with self.small(code) as (host, _):
            # What is around the text: the id has one digit.
            around = len('{"jsonrpc":"2.0","id":2,"result":""}')
            self.assertEqual(len(host.call("reply", length=str(limit - around))["result"]), limit - around)
            error = {"error": {"code": -32005, "message": message}}
            self.assertEqual(host.call("reply", length=str(limit - around + 1)), error)
            self.assertEqual(host.call("post", length=str(limit))["error"]["code"], -32005)
            self.assertEqual(host.call("count", text="é" * 500_000), {"result": 500_000})
        self.assertEqual(host.received, [])

    def test_ends_with_its_host(self) -> None:
        code = """
            @module.route("wait")
            def wait() -> None: module.call("b", "c")
            @module.route("hang")
            def hang() -> None:
                while True:
                    try: threading.Event().wait()
                    except Exception: pass
        """
        with self.small(code) as (host, _):
            self.assertEqual(host.end(), 0)
        with self.small(code) as (host, _):
            self.assertEqual(host.ask("shutdown"), {"result": None})
            self.assertEqual(host.process.wait(), 0)
        with self.small(code) as (host, _):
            host.begin("call", action="wait", parameters={})
            self.assertEqual(host.read()["method"], "call")
            self.assertEqual(host.end(), 0)
        with self.small(code) as (host, _):
            host.input.write(b'{"jsonrpc":"2.0","id":9,"meth')
            self.assertEqual(host.end(), 0)
        with self.small(code) as (host, _):
            host.begin("call", action="hang", parameters={})
            self.assertEqual(host.end(), 1)


class WindowTests(ModuleTestCase):
    """Events that are answered later, and those that come again."""
    # Keeps each push until a call ends it; what is done with it depends on its id.
    CODE = """
            kept: dict[Any, Future[Any]] = {}
            @module.on("push")
            @module.topic("*")
            def keep(event: Event) -> Any:
                kept[event.id] = Future()
                return kept[event.id]
            @module.route("end/:id")
            def end(id: str, result: str = "", error: str = "", seconds: float = 0) -> None:
                if error: kept[id].set_exception(ParameterError(error))
                elif seconds: kept[id].set_exception(Retry(seconds))
                else: kept[id].set_result(result)
            @module.route("cancel/:id")
            def cancel(id: str) -> None: kept[id].cancel()
        """

    def begin(self, host: Host, id: str, name: str = "push", payload: Any = None) -> int:
        return host.begin("event", event=name, payload=payload, origin="host", deadlineMs=30000, id=id, position="1:9")

    def answer(self, host: Host, event: int, action: str, **parameters: str) -> dict[str, Any]:
        """What a call makes the answer to an event, which comes before that to the call."""
        call = host.begin("call", action=action, parameters=parameters, origin="host")
        answer = host.answer_to(event)
        self.assertEqual(host.answer_to(call), {"result": None})
        return answer

    def test_answers_in_any_order(self) -> None:
        with self.small(self.CODE, "window=3") as (host, answer):
            self.assertEqual((answer["protocol"], answer["window"]), (3, 3))
            one, two, three = self.begin(host, "1"), self.begin(host, "2"), self.begin(host, "3")
            self.assertEqual(self.answer(host, two, "end", id="2", result="failed"), {"result": {"fetch": "failed"}})
            self.assertEqual(self.answer(host, three, "end", id="3", error="no such é")["error"]["message"], "no such é")
            self.assertEqual(self.answer(host, one, "end", id="1"), {"result": None})
            four = self.begin(host, "4", "message", {"topic": "a"})
            self.assertEqual(self.answer(host, four, "cancel", id="4")["error"]["message"], "CancelledError")
        self.assertEqual(host.errors, b"")

    def test_has_no_window_unless_it_says_so(self) -> None:
        with self.small(self.CODE) as (host, answer):
            self.assertNotIn("window", answer)
            self.assertEqual(host.event("push", id="1"), {"error": {"code": -32005, "message": (
                "a handler of 'push' returned a Future: that needs a window, as in Module(window=16)")}})

    def test_answers_at_once_what_is_not_of_the_window(self) -> None:
        code = """
            @module.on("background")
            @module.on("push-registered")
            def keep(event: Event) -> Any:
                future: Future[None] = Future()
                future.set_result(None)
                return future
        """
        with self.small(code, "window=3") as (host, _):
            self.assertEqual(host.event("push-registered", {"token": "00"}), {"result": None})
            self.assertEqual(host.event("background")["error"]["message"], (
                "a handler of 'background' returned a Future: this event has its answer when the handler returns; a Future "
                "is for message, push, push-registered, push-registration-failed, notification-settings, local-notification"))

    def test_waits_for_all_handlers(self) -> None:
        more = """
            from dataclasses import replace
            @module.on("push")
            def second(event: Event) -> Any:
                if event.id.startswith("fails"): raise ParameterError("second")
                return keep(replace(event, id=event.id + "b"))
            @module.on("push")
            def third(event: Event) -> str: return "noData"
        """
        with self.small(self.CODE + more, "window=3") as (host, _):
            push = self.begin(host, "1")
            self.assertEqual(host.call("end", id="1b", result="newData"), {"result": None})
            self.assertEqual(self.answer(host, push, "end", id="1"), {"result": {"fetch": "newData"}})
            push = self.begin(host, "fails")
            self.assertEqual(self.answer(host, push, "end", id="fails")["error"]["message"], "second")
            push = self.begin(host, "fails2")
            self.assertEqual(self.answer(host, push, "end", id="fails2", seconds="1"), {"result": {"retryMs": 1000}})

    def test_wants_an_event_again(self) -> None:
        code = """
            @module.on("open-url")
            @module.on("push")
            def push(event: Event) -> None: raise Retry(event.payload)
            @module.route("reply")
            def reply() -> None: raise Retry(5)
            @module.route("ready")
            def ready() -> None: module.ready()
        """
        with self.small(self.CODE + code, "window=3") as (host, _):
            one, two = self.begin(host, "1", "message", {"topic": "a"}), self.begin(host, "2", "message", {"topic": "a"})
            self.assertEqual(self.answer(host, two, "end", id="2", seconds="0.5"), {"result": {"retryMs": 500}})
            self.assertEqual(self.answer(host, one, "end", id="1"), {"result": None})
            host.call("ready")
            self.assertEqual(host.received, [{"method": "ready"}])
        with self.small(code) as (host, _):
            for seconds, time in [(3600, 3600000), (0.001, 1), (2.5, 2500), (0, 1), (-1, 1), (1e9, 3600000)]:
                self.assertEqual(host.event("push", seconds, position="1:9"), {"result": {"retryMs": time}})
            for wrong in ["5", None]:
                self.assertEqual(host.event("push", wrong, position="1:9")["error"]["message"],
                                 f"Retry: expected a number of seconds, found {wrong!r}")
            error = {"error": {"code": -32005, "message": (
                "wants this again in 5 s: only an event of the inbox that no module claims can come again")}}
            self.assertEqual(host.event("push", 5), error)
            self.assertEqual(host.event("open-url", 5, position="1:9"), error)
            self.assertEqual(host.call("reply"), error)

    def test_begins_no_event_inside_of_another(self) -> None:
        code = """
            @module.on("push")
            def push(event: Event) -> None: module.post("begins", event.id); module.post("ends", event.id)
            @module.route("post")
            def post() -> None: module.post("called")
        """
        with self.small(code, "window=256") as (host, _):
            events = [self.begin(host, str(number)) for number in range(256)]
            call = host.begin("call", action="post", parameters={}, origin="host")
            first, inside = host.read(), host.read()
            self.assertEqual((first["params"]["topic"], inside["params"]["topic"]), ("begins", "called"))
            host.write({"id": inside["id"], "result": None})
            self.assertEqual(host.answer_to(call), {"result": None})
            for number, event in enumerate(events):
                for topic in ["begins", "ends"]:
                    asked, first = first or host.read(), {}
                    self.assertEqual(asked["params"], {"topic": topic, "payload": str(number)})
                    host.write({"id": asked["id"], "result": None})
                self.assertEqual(host.answer_to(event), {"result": None})

    def test_knows_its_host(self) -> None:
        code = """
            @module.route("host")
            def host() -> str | None: return module.host_id
        """
        with self.small(code) as (host, _):
            self.assertEqual(host.call("host"), {"result": "0123456789abcdef"})
            del host.hello["hostId"]
            host.initialize()
            self.assertEqual(host.call("host"), {"result": None})

    def test_refuses_what_is_no_window(self) -> None:
        sys.path.insert(0, str(HERE))
        self.addCleanup(sys.path.remove, str(HERE))
        from modulehost import Module, Retry

        wrong: list[Any] = [0, 257, -1, 1.0, "3", True]
        for window in wrong:
            with self.assertRaisesRegex(ValueError, f"window: expected a whole number from 1 to 256, found {window!r}"):
                Module(window=window)
        self.assertEqual(pickle.loads(pickle.dumps(Retry(2))).seconds, 2)
        self.assertEqual([Retry(0).seconds, Retry(7200).seconds], [0.001, 3600])
        with self.assertRaisesRegex(ValueError, "Retry: expected a number of seconds, found nan"):
            Retry(float("nan"))


if __name__ == "__main__":
    unittest.main()
