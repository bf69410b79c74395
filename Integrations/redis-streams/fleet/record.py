"""A module that writes down the time at which each message on a shared topic arrives, and has many at a time."""
import json, os, sys, time

with open(os.environ["RECEIVED"], "a", buffering=1) as received:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        result, parameters = None, request.get("params", {})
        if request["method"] == "initialize":
            result = {"protocol": 3, "module": "com.example.orders", "topics": ["shared.*"], "window": 64}
        elif parameters.get("event") == "message":
            received.write(f"{time.monotonic()} {parameters['payload']['payload']['order']}\n")
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
