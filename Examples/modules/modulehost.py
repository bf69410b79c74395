"""A module of a ModuleHost app in Python: this one file, the standard library, Python 3.10 or later.

weather.py is an example, docs/isolated-modules.md describes the protocol. Handlers run one at a time, on the thread
that called `run`; while a handler waits for a response of the host, another may run inside it, but no event inside of
an event. Other threads may call the host too, but no handler may wait for them: it returns a Future instead, see
`Module`. Printed text goes to standard error, which the host logs; what is printed before this file is imported does
not, so import it first.
"""
from __future__ import annotations

import collections, inspect, itertools, json, logging, os, pathlib, queue, re, select, sys, threading, time, traceback
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Callable, Literal, TypeVar, Union, get_args, get_origin

LINE = 1 << 20  # The most bytes of a message.
NOTICE = 25  # A level of the log, between INFO and WARNING.
# The events of which a module with a window may have several at a time.
WINDOWED = ("message", "push", "push-registered", "push-registration-failed", "notification-settings",
            "local-notification")
# The types of parameters: the host's name, the expectation in words, the pattern, and the conversion.
TYPES: dict[Any, tuple[str, str, str, Callable[[str], Any]]] = {
    str: ("String", "text", ".*", str),
    int: ("Int", "a whole number", "-?[0-9]{1,19}", int),
    float: ("Double", "a number", r"-?[0-9]{1,99}(\.[0-9]+)?([eE][-+]?[0-9]{1,2})?", float),
    bool: ("Bool", "true, false, 1 or 0", "true|false|1|0", ("true", "1").__contains__),
}
Handler = TypeVar("Handler", bound=Callable[..., Any])


def take_output() -> int:
    """Takes standard output for the messages: from now on neither print() nor a library nor a child process can write
    between them."""
    output = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()
    sys.stdout = sys.stderr
    return output


# In a module's process, at once: a library that is imported later may print. Import this file first.
OUTPUT = take_output() if "MODULEHOST_OWNER" in os.environ else None
encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class HostError(Exception):
    """The host failed to carry out a request; docs/control.md lists the codes."""
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class ParameterError(ValueError):
    """Raised by routes for wrong parameters of a call; the message says which."""


class Retry(Exception):
    """Raised for an event of WINDOWED that came through the inbox, by its handler or as the exception of its Future: not
    now, but again in so many seconds: from 0.001 to 3600, or what is nearest. Until then, or until `Module.ready`, the
    module receives no events; then it receives this one, `repeated`, and the next ones, in order. That is not a failure.
    For any other event or a call it is an error like any other."""
    def __init__(self, seconds: float) -> None:
        if not isinstance(seconds, (int, float)) or seconds != seconds:
            raise ValueError(f"Retry: expected a number of seconds, found {seconds!r}")
        super().__init__(seconds)
        self.seconds = min(max(seconds, 0.001), 3600)

    def __str__(self) -> str:  # Read only where it is an error.
        return f"wants this again in {self.seconds} s: only an event of the inbox that no module claims can come again"


class End(BaseException):
    """The host ends the module, or has ended: `run` returns. Not to be caught elsewhere."""


@dataclass(frozen=True)
class Event:
    """An event. For a message, `payload` is the posted value and `topic` its topic."""
    name: str
    payload: Any
    topic: str | None
    origin: str
    deadline: float  # In seconds.
    position: str | None  # Its position in the inbox, if it came through the inbox; the same at each attempt.
    id: str | None
    attempt: int | None
    repeated: bool
    traceparent: str | None  # Its place in a distributed trace (W3C Trace Context).
    source: str | None = None  # Where it comes from, if its sender said that.


class Parameter:
    """A parameter of a route's function."""
    def __init__(self, parameter: inspect.Parameter) -> None:
        kind, self.name, self.required = parameter.annotation, parameter.name, parameter.default is parameter.empty
        if get_origin(kind) in (Union, UnionType) and get_args(kind)[1:] == (NoneType,):
            kind = get_args(kind)[0]
        if is_list := get_origin(kind) is list:
            kind = get_args(kind)[0]
        values = get_args(kind) if get_origin(kind) is Literal else ()
        if not values and kind not in TYPES or "VAR" in parameter.kind.name:
            raise TypeError(f"parameter '{self.name}' cannot be made of text: let it be str, int, float, bool, "
                            "a Literal of strings, or a list of one of these")
        type, self.expects, self.pattern, self.convert = TYPES[str if values else kind]
        self.description = {"name": self.name, "type": type, "required": self.required, "list": is_list}
        if values:
            self.pattern, self.description["values"] = "|".join(map(re.escape, values)), values
            self.expects = "one of " + ", ".join(f"'{value}'" for value in values)
        self.description["expects"] = "values, each " * is_list + self.expects

    def read(self, given: str | list[str]) -> Any:
        if isinstance(given, list):
            return [self.read(text) for text in given]
        if not re.fullmatch(self.pattern, given, re.DOTALL):
            raise ParameterError(f"parameter '{self.name}': expected {self.expects}, found '{given}'")
        return self.convert(given)


class HostLog(logging.Handler):
    """Passes log records of the module to its host."""
    write: Callable[..., None]

    def emit(self, record: logging.LogRecord) -> None:
        level = {10: "debug", 20: "info", NOTICE: "notice", 30: "warning"}.get(record.levelno, "error")
        self.write(method="log", params={"level": level, "message": self.format(record)})


class Module:
    """The module: its events, its routes, and its calls to the host.

    With a `window`, from 1 to 256, a handler of an event of WINDOWED may return a Future, which answers the event when it is
    done, within `Event.deadline`. Up to so many events are sent before the first is answered; other events, such as
    `background`, wait for the answers to all before them:

        module, workers = Module(window=16), ThreadPoolExecutor(16)

        @module.topic("parcel.*")
        def parcel(event: Event) -> Future[None]:
            return workers.submit(upload, event.payload)  # `upload` may raise Retry(30).

    If the host dies, events that were answered come again, too, `repeated`, behind the first that was not.
    """
    def __init__(self, window: int | None = None) -> None:
        if window is not None and (type(window) is not int or not 1 <= window <= 256):
            raise ValueError(f"window: expected a whole number from 1 to 256, found {window!r}")
        self.id, self.app, self.state_directory = "", "", pathlib.Path()  # These and the next three: from `run` on.
        self.host_id: str | None = None  # 16 hexadecimal digits, which stay while the inbox does; None without an inbox.
        self.config: dict[str, Any] = {}
        self.app_config: dict[str, Any] = {}
        self.sender: dict[str, Any] = {}  # The sender of the current event or call: the `from` that the host sent.
        self.traceparent: str | None = None  # The trace of the current event or call: its requests are a part of it.
        self.log = logging.Logger("module")
        self.log.addHandler(log := HostLog())
        log.write = self._write
        self._window, self._is_in_event = window, False
        self._deferred: collections.deque[Any] = collections.deque()  # Events that came inside of an event.
        self._handlers: list[tuple[str, str, Callable[[Event], Any]]] = []  # With event and topic.
        self._routes: dict[str, tuple[Callable[..., Any], list[Parameter], dict[str, Any]]] = {}
        self._answers: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}
        self._futures: dict[int, Future[Any]] = {}  # The calls that are answered later.
        self._ids, self._writing, self._thread, self._output = itertools.count(1), threading.Lock(), 0, 2

    def on(self, event: str, topic: str = "*") -> Callable[[Handler], Handler]:
        """Receives an event. For `push` the handler returns "newData", "noData" or "failed"; for `open-url`,
        `user-activity` and `shortcut` it returns True to claim the event, which ends its delivery."""
        def add(handler: Handler) -> Handler:
            self._handlers.append((event, topic, handler))
            return handler
        return add

    def topic(self, pattern: str) -> Callable[[Handler], Handler]:
        """Receives messages on a topic; a `*` at its end matches any rest."""
        return self.on("message", pattern)

    def route(self, pattern: str, *, access: str = "local", action: str = "", summary: str = "", reply: str = "",
              later: bool = False, deadline: float | None = None) -> Callable[[Handler], Handler]:
        """Answers calls, with the parameters of the function. By default the action has the function's name, and the
        summary is the first line of its docstring. With `later`, the function may return a Future: its result is the
        answer, other events and calls are handled meanwhile, and its caller waits for `deadline` seconds at most."""
        def add(handler: Handler) -> Handler:
            name = action or handler.__name__
            if name in self._routes:
                raise ValueError(f"there is an action '{name}' already")
            signature = inspect.signature(handler, eval_str=True)
            parameters = [Parameter(each) for each in signature.parameters.values()]
            self._routes[name] = handler, parameters, {
                "pattern": pattern, "action": name, "access": access, "reply": reply,
                "summary": summary or (inspect.getdoc(handler) or "").partition("\n")[0],
                "parameters": [parameter.description for parameter in parameters],
                **({"later": True} if later else {}),
                **({"deadlineMs": round(deadline * 1000)} if later and deadline else {})}
            return handler
        return add

    def call(self, module: str, action: str, /, **parameters: Any) -> Any:
        """Calls an action of a module, given by its id or by a service; returns the reply."""
        texts = {name: [as_text(each) for each in value] if isinstance(value, list) else as_text(value)
                 for name, value in parameters.items() if value is not None}
        return self._ask("call", module=module, action=action, parameters=texts)["reply"]

    def open(self, url: str, sender: dict[str, Any] | None = None) -> Any:
        """Opens a URL; returns the reply, or None if a module claimed it as an event. For a URL from outside the app,
        pass its sender (`self.sender` when it arrived): it then reaches only what that sender may reach."""
        return self._ask("open", url=url, **outside(sender)).get("reply")

    def can_open(self, url: str, sender: dict[str, Any] | None = None) -> bool:
        """Whether a route answers the URL; for a URL from outside, pass its sender as for `open`."""
        return bool(self._ask("canopen", url=url, **outside(sender)))

    def post(self, topic: str, payload: Any = None) -> None:
        """Posts a message, which is delivered after the current event."""
        self._ask("post", topic=topic, payload=payload)

    def send(self, event: str, payload: Any = None, id: str | None = None, source: str | None = None) -> str | None:
        """Sends an event through the inbox; it is on the disk when this returns its position. Returns None if nothing was
        added: it was accepted before with this id, or the event has no payload and is delivered at once. Raises HostError if
        the id is that of an event with other contents. `source` says where the event comes from, in 1 to 64 bytes."""
        position: str | None = self._ask("send", event=event, payload=payload, id=id, source=source).get("position")
        return position

    def deliver(self, event: str, payload: Any, id: str | None = None, source: str | None = None) -> dict[str, Any]:
        """Sends an event as `send` does, and waits until it is delivered. Returns the answer of the host, with `outcome`,
        `deadLetter`, `left` or `duplicate`. A handler must not wait for an event that its own module receives."""
        answer: dict[str, Any] = self._ask("send", event=event, payload=payload, id=id, source=source, wait=True)
        return answer

    def ready(self) -> None:
        """Ends the pause after a `Retry` before its time, if the host has received that `Retry` already."""
        self._write(method="ready")

    def run(self) -> None:
        """Serves the host until it ends the module or ends itself. The process must end within 2 s after that."""
        self._thread, self._input = threading.get_ident(), os.fdopen(os.dup(0), "rb")
        self._output = take_output() if OUTPUT is None else OUTPUT
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        threading.Thread(target=self._end_with_host, daemon=True).start()
        try:
            while True:
                self._serve()
        except End:
            for answer in list(self._answers.values()):
                answer.put({"error": {"code": -32000, "message": "the host has ended"}})

    def _end_with_host(self) -> None:
        """Ends a process that hangs in a handler or in another thread."""
        hang_up = select.poll()
        hang_up.register(self._input.fileno(), 0)
        hang_up.poll()
        time.sleep(2)
        os._exit(1)

    def _serve(self) -> None:
        """Handles one message of the host."""
        message: Any
        if self._deferred and not self._is_in_event:
            message = self._deferred.popleft()
        elif (line := self._input.readline()).endswith(b"\n"):
            message = json.loads(line)
        else:
            raise End
        if "method" not in message:
            return self._answers[message["id"]].put(message)
        id, name = message.get("id"), message["method"]
        if name == "cancel":
            if future := self._futures.get(message["params"]["id"]):
                future.cancel()
            return
        if name not in ("initialize", "event", "call", "shutdown"):
            return self._write(id=id, error={"code": -32601, "message": f"no method '{name}'"})
        if name == "event" and self._is_in_event:
            return self._deferred.append(message)
        params, outer = message.get("params", {}), (self.sender, self.traceparent, self._is_in_event)
        self.sender, self.traceparent = params.get("from", {}), params.get("traceparent")
        self._is_in_event = self._is_in_event or name == "event"
        try:
            result = getattr(self, "_" + name)(params)
            if name == "event":
                self._answer_after(id, *result)
            elif isinstance(result, Future):
                self._futures[id] = result
                self._answer_after(id, [result], result.result)
            else:
                self._answer(id, lambda: result)
        except Exception as error:
            self._answer(id, error)
        finally:
            self.sender, self.traceparent, self._is_in_event = outer
        if name == "shutdown":
            raise End

    def _answer_after(self, id: int, futures: list[Future[Any]], result: Callable[[], Any]) -> None:
        """Answers a request of the host when all of these are done."""
        if waiting := next((future for future in futures if not future.done()), None):
            waiting.add_done_callback(lambda _: self._answer_after(id, futures, result))
        else:
            self._answer(id, result)

    def _answer(self, id: int, result: Callable[[], Any] | Exception) -> None:
        """Answers a request of the host, from any thread."""
        self._futures.pop(id, None)
        try:
            if isinstance(result, Exception):
                raise result
            self._write(id=id, result=result())
        except (Exception, CancelledError) as error:
            code = -32007 if isinstance(error, ParameterError) else -32005
            if code == -32005 and not isinstance(error, CancelledError):
                traceback.print_exc()
            self._write(id=id, error={"code": code, "message": str(error)[:4096] or type(error).__name__})

    def _shutdown(self, params: dict[str, Any]) -> None:
        """Cleanup belongs into the handler of `terminate`."""

    def _initialize(self, params: dict[str, Any]) -> Any:
        self.id, self.app, self.config = params["module"], params["app"], params["config"]
        self.app_config, self.state_directory = params["appConfig"], pathlib.Path(params["stateDirectory"])
        self.host_id = params.get("hostId")
        return {"protocol": 3, "module": self.id, **({"window": self._window} if self._window else {}),
                "events": sorted({event for event, _, _ in self._handlers} - {"message"}),
                "topics": sorted({topic for event, topic, _ in self._handlers if event == "message"}),
                "routes": [{key: value for key, value in description.items() if value != ""}
                           for _, _, description in self._routes.values()]}

    def _event(self, params: dict[str, Any]) -> tuple[list[Future[Any]], Callable[[], Any]]:
        """Returns the Futures of the handlers, and what makes the result of those that are done."""
        name, topic = params["event"], ""
        payload: Any = params.get("payload")
        if name == "message":
            topic, payload = payload["topic"], payload.get("payload")
        elif name == "configuration-changed":
            self.config, self.app_config = payload["config"], payload["appConfig"]
        get = params.get
        event = Event(name, payload, topic or None, get("origin", ""), get("deadlineMs", 0) / 1000, get("position"),
                      get("id"), get("attempt"), bool(get("repeated")), get("traceparent"), get("source"))
        results: list[Any] = []
        error: Exception | None = None
        try:
            for kind, pattern, handler in self._handlers:
                if kind == name and (topic == pattern or pattern.endswith("*") and topic.startswith(pattern[:-1])):
                    result = handler(event)
                    if isinstance(result, Future) and not (name in WINDOWED and self._window):
                        raise TypeError(f"a handler of '{name}' returned a Future: " + (
                            "that needs a window, as in Module(window=16)" if name in WINDOWED else
                            f"this event has its answer when the handler returns; a Future is for {', '.join(WINDOWED)}"))
                    results.append(result)
        except Exception as raised:
            error = raised  # Of the event, when the Futures of the handlers before are done.

        def outcome() -> Any:
            try:
                values = [each.result() if isinstance(each, Future) else each for each in results]
                if error:
                    raise error
            except Retry as retry:
                if name not in WINDOWED or not event.position:
                    raise
                return {"retryMs": round(retry.seconds * 1000)}
            result = next((value for value in values if value), None)
            return {"fetch": result} if isinstance(result, str) else {"claimed": True} if result is True else None

        return [each for each in results if isinstance(each, Future)], outcome

    def _call(self, params: dict[str, Any]) -> Any:
        function, parameters, _ = self._routes[params["action"]]
        given, arguments = params.get("parameters", {}), {}
        for parameter in parameters:
            if parameter.name in given:
                arguments[parameter.name] = parameter.read(given[parameter.name])
            elif parameter.required:
                raise ParameterError(f"parameter '{parameter.name}' is missing: expected {parameter.expects}")
        return function(**arguments)

    def _ask(self, method: str, **params: Any) -> Any:
        id, answer = next(self._ids), queue.SimpleQueue[dict[str, Any]]()
        self._answers[id] = answer
        params["traceparent"] = self.traceparent if threading.get_ident() == self._thread else None
        try:
            self._write(id=id, method=method, params={key: v for key, v in params.items() if v is not None})
            while threading.get_ident() == self._thread and answer.empty():
                self._serve()
            message = answer.get()
        finally:
            del self._answers[id]
        if error := message.get("error"):
            # An invalid request has its diagnosis beside the message.
            more = f": {error['data']}" if error["code"] <= -32600 and "data" in error else ""
            raise HostError(error["code"], error["message"] + more)
        return message["result"]

    def _write(self, **message: Any) -> None:
        # File names may have bytes that are not text: each is replaced by a question mark.
        line = encode({"jsonrpc": "2.0", **message}).encode("utf-8", "replace")
        if len(line) > LINE:
            raise ValueError(f"a message of {len(line)} bytes, {LINE} are allowed: pass the name of a file")
        line += b"\n"
        try:
            with self._writing:
                while line:
                    line = line[os.write(self._output, line):]
        except BrokenPipeError:
            raise End from None


def outside(sender: dict[str, Any] | None) -> dict[str, Any]:
    """The sender member of a request; empty for the host and for modules of the app."""
    return {"from": sender} if sender and sender["kind"] not in ("host", "local") else {}


def as_text(value: Any) -> str:
    """The text of a value as a parameter of a call."""
    return value if isinstance(value, str) else encode(value)
