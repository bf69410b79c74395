"""Where a host of these tests lives: its slatefile, its state directory, and what its modules wrote."""

import json
import os
import pathlib

SLOW = "com.crash.slow"
WITNESSES = ["com.crash.first", SLOW, "com.crash.last"]


class Site:
    """A folder with a slatefile, the state directory, and a journal for each witness.

    Three modules note what they receive: one at the front of the order, one at its end, and one between them
    that writes into a pipe, so that it is as slow as the reader of that (see `Valve`).
    """

    #: The module that writes into a pipe.
    slow = SLOW

    def __init__(self, folder, journals=None):
        self.folder = pathlib.Path(folder)
        self.state = self.folder / "state"
        self.inbox = self.state / "inbox"
        self.socket = self.state / "control.sock"
        self.slatefile = self.folder / "slatefile.json"
        self.journals = pathlib.Path(journals or self.folder / "journals")
        self.journals.mkdir(parents=True, exist_ok=True)
        os.mkfifo(self.journal(self.slow), 0o600)
        self.slatefile.write_text(json.dumps(self._slatefile(), indent=2))

    def journal(self, module):
        return self.journals / f"{module}.ndjson"

    def _slatefile(self):
        def witness(module, **more):
            config = {"file": str(self.journal(module)), "sync": module != SLOW}
            return {"id": module, "entry": "Modules.JournalModule", "config": config, **more}

        first, slow, last = WITNESSES
        return {
            "slate": 1,
            "app": "crash",
            "schemes": ["crash"],
            "modules": [
                {"id": "com.crash.main", "entry": "Modules.MainModule", "main": True},
                witness(first),
                witness(slow, deadline="100ms", backlog=16),
                {"id": "com.crash.push", "entry": "Modules.PushModule"},
                witness(last),
            ],
            # The disk of a busy machine may take long; only the slow one is to be late.
            "deadlines": {"event": "30s", "stop": "5s", "stopAll": "5s"},
        }

    def segments(self):
        """The segments of the log, in order."""
        names = (name for name in os.listdir(self.inbox) if name.endswith(".ndjson"))
        return [self.inbox / name for name in sorted(n for n in names if n[:-7].isdigit())]

    def segment(self, number):
        return self.inbox / f"{number:08}.ndjson"

    def newest_number(self):
        return int(self.segments()[-1].stem)

    def rejected(self):
        """What stands among the rejected events, as objects."""
        path = self.inbox / "dead-letters.ndjson"
        if not path.is_file():
            return []
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
