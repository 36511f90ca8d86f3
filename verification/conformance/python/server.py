"""A server that implements the specification: python3 server.py PORT [DATABASE]

It was written from docs/specification alone, to show how much a server needs. It serves the service of the conformance
runner. One process owns the database, so the keys of a process that died are free when the next one starts. Numbers in
comments are those of the specification.
"""

import hashlib
import random
import re
import sqlite3
import sys
import threading
import time
import uuid
from concurrent import futures
from dataclasses import dataclass, field
from datetime import datetime, timezone

import grpc
from google.protobuf import descriptor_pb2, message_factory, text_format

RETENTION = 24 * 60 * 60  # seconds (12.4)
OPTIONAL, REQUIRED, PROHIBITED = "optional", "required", "prohibited"  # policies (1.2)
UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")  # 3.1.1
CODES = {code.value[0]: code for code in grpc.StatusCode}

# Reasons (8) and their codes.
REASONS = {
    "KEY_REQUIRED": grpc.StatusCode.INVALID_ARGUMENT,
    "KEY_PROHIBITED": grpc.StatusCode.INVALID_ARGUMENT,
    "KEY_INVALID": grpc.StatusCode.INVALID_ARGUMENT,
    "KEY_REUSED": grpc.StatusCode.INVALID_ARGUMENT,
    "CALLER_REQUIRED": grpc.StatusCode.UNAUTHENTICATED,
    "IN_PROGRESS": grpc.StatusCode.ABORTED,
    "STORE_UNAVAILABLE": grpc.StatusCode.UNAVAILABLE,
}

SCHEMA = """
  CREATE TABLE IF NOT EXISTS records (
    caller TEXT, key TEXT, id TEXT NOT NULL, method TEXT NOT NULL, request BLOB NOT NULL, expires REAL NOT NULL,
    code INTEGER, message TEXT, response BLOB, PRIMARY KEY (caller, key));
  CREATE TABLE IF NOT EXISTS effects (name TEXT NOT NULL);
  DELETE FROM records WHERE code IS NULL;  -- of a process that died (5.4)
"""


class Refused(Exception):
    """An error of the contract (7)."""

    def __init__(self, reason, message, metadata=(), bad_field=None, delay=None, operation=None):
        super().__init__(message)
        self.code = REASONS[reason]
        info = ErrorInfo(reason="IDEMPOTENCY_" + reason, domain="grpc-idempotency")
        info.metadata.update(dict(metadata))
        if operation:
            info.metadata["operation"] = operation  # 7.12
        details = [info]
        if bad_field:
            bad = BadRequest()
            bad.field_violations.add(field=bad_field, description=message)
            details.append(bad)
        if delay is not None:
            details.append(RetryInfo(retry_delay=Duration(nanos=delay * 1_000_000)))
        self.trailers = [
            ("grpc-status-details-bin", status(self.code, message, details)),
            ("grpc-retry-pushback-ms", str(-1 if delay is None else delay)),  # 7.4, 7.5
        ]
        if operation:
            self.trailers.append(("idempotency-operation", operation))  # 7.13


class Failed(Exception):
    """An error of a handler."""

    def __init__(self, code, message=""):
        super().__init__(message)
        self.code = code


@dataclass
class Outcome:
    """How an operation has ended: a response, or a terminal error."""

    code: int
    message: str = ""
    response: bytes = b""


@dataclass
class Effects:
    """What a handler writes; committed together with the record (5.7)."""

    names: list = field(default_factory=list)


class Store:
    """The records, in SQLite."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.database = sqlite3.connect(path, check_same_thread=False)
        self.database.executescript(SCHEMA)

    def claim(self, caller, key, method, request):
        """Claims a key. Returns the id of the operation, the outcome, and whether the claim was won (5.1)."""
        with self.lock, self.database as transaction:
            transaction.execute("DELETE FROM records WHERE code IS NOT NULL AND expires <= ?", (time.time(),))
            row = transaction.execute(
                "SELECT id, method, request, expires, code, message, response FROM records WHERE caller = ? AND key = ?",
                (caller, key),
            ).fetchone()
            if row is None:
                operation, expires = str(uuid.uuid4()), time.time() + RETENTION
                transaction.execute(
                    "INSERT INTO records (caller, key, id, method, request, expires) VALUES (?, ?, ?, ?, ?, ?)",
                    (caller, key, operation, method, request, expires),
                )
                return operation, expires, None, True
        operation, first_method, first_request, expires, code, message, response = row
        if first_method != method:
            raise Refused("KEY_REUSED", "the key was used for another method", {"mismatch": "procedure"})  # 4.1
        if first_request != request:
            raise Refused("KEY_REUSED", "the key was used for another request", {"mismatch": "request"})
        if code is None:
            delay = random.randint(250, 500)  # 7.6
            raise Refused("IN_PROGRESS", "a call with this key is in progress", delay=delay, operation=operation)
        return operation, expires, Outcome(code, message, response), False

    def complete(self, caller, key, outcome, effects):
        """Records an outcome together with the effects (1.6)."""
        with self.lock, self.database as transaction:
            transaction.execute(
                "UPDATE records SET code = ?, message = ?, response = ? WHERE caller = ? AND key = ?",
                (outcome.code, outcome.message, outcome.response, caller, key),
            )
            self.write(transaction, effects)

    def release(self, caller, key):
        """Frees the key of a handler that has failed (11.1)."""
        with self.lock, self.database as transaction:
            transaction.execute("DELETE FROM records WHERE caller = ? AND key = ?", (caller, key))

    def write_unprotected(self, effects):
        with self.lock, self.database as transaction:
            self.write(transaction, effects)

    @staticmethod
    def write(transaction, effects):
        transaction.executemany("INSERT INTO effects VALUES (?)", [(name,) for name in effects.names])

    def effects(self, name):
        with self.lock:
            return self.database.execute("SELECT count(*) FROM effects WHERE name = ?", (name,)).fetchone()[0]


class Method:
    """A protected method."""

    def __init__(self, store, name, handler, policy=OPTIONAL, terminal=()):
        self.store, self.name, self.handler, self.policy, self.terminal = store, name, handler, policy, terminal

    def __call__(self, request, context):
        """Serves a call."""
        headers = context.invocation_metadata()
        caller = next((value for name, value in headers if name == "conformance-user"), None)
        try:
            key = self.key(headers, caller)
            if key is None:
                return self.unprotected(request, context)
            operation, expires, outcome, won = self.store.claim(caller, key, self.name, fingerprint(request))
        except Refused as refused:
            context.set_trailing_metadata(refused.trailers)
            context.abort(refused.code, str(refused))
        except sqlite3.Error:
            unavailable = Refused("STORE_UNAVAILABLE", "the database is unavailable", {"cause": "other"}, delay=1000)
            context.set_trailing_metadata(unavailable.trailers)
            context.abort(unavailable.code, str(unavailable))  # 13.1
        if won:
            outcome = self.run(request, caller, key)
        return answer(context, operation, expires, outcome, replayed=not won)

    def key(self, headers, caller):
        """Returns the key; none if the call is not protected. The order of the checks is that of 3.3.4."""
        demands = [word.strip() for name, value in headers if name == "idempotency-required" for word in value.split(",")]
        keys = [value for name, value in headers if name == "idempotency-key"]
        if self.policy == PROHIBITED:
            if keys:
                raise Refused("KEY_PROHIBITED", "this method takes no key")
            return None  # 2.7
        if len(demands) > 1:
            raise malformed("repeated", "idempotency-required")  # 2.5
        required = self.policy == REQUIRED or demands == ["true"]  # 2.1, 2.6
        if keys and caller is None and not required:
            return None  # 3.3.5
        if len(keys) > 1:
            raise malformed("repeated")
        if keys and not keys[0]:
            raise malformed("empty")
        if keys and len(keys[0]) > 512:
            raise malformed("too_long")
        if keys and not UUID.fullmatch(keys[0]):
            raise malformed("format" if re.fullmatch("[ -~]*", keys[0]) else "characters")
        if required and not keys:
            raise Refused("KEY_REQUIRED", "this method needs a key: idempotency-key")
        if required and caller is None:
            raise Refused("CALLER_REQUIRED", "this method needs an authenticated caller")
        return keys[0].lower() if keys else None

    def unprotected(self, request, context):
        effects = Effects()
        try:
            response = self.handler(request, effects)
        except Failed as failed:
            context.abort(CODES[failed.code], str(failed))
        self.store.write_unprotected(effects)
        return response.SerializeToString()

    def run(self, request, caller, key):
        """Runs the handler, and settles its end before it is sent (1.6, 11.2)."""
        effects = Effects()
        try:
            outcome = Outcome(0, response=self.handler(request, effects).SerializeToString())
        except Failed as failed:
            if failed.code not in self.terminal:
                self.store.release(caller, key)
                return Outcome(failed.code, str(failed))
            outcome, effects = Outcome(failed.code, str(failed)), Effects()
        except BaseException:
            self.store.release(caller, key)
            raise
        self.store.complete(caller, key, outcome, effects)
        return outcome


def answer(context, operation, expires, outcome, replayed):
    """Sends an outcome with its trailers (6, 7.14, 11.5)."""
    trailers = [("idempotency-operation", operation)]
    if replayed:
        trailers.append(("idempotency-replayed", "true"))
    if outcome.code:
        context.set_trailing_metadata(trailers)
        context.abort(CODES[outcome.code], outcome.message)
    moment = datetime.fromtimestamp(expires, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    trailers += [("idempotency-expires", moment), ("idempotency-status", "completed")]  # 6.1, 6.6
    context.set_trailing_metadata(trailers)
    return outcome.response


def fingerprint(request):
    """Returns a hash for comparison (4). The field "sent" is not compared."""
    compared = RunRequest()
    compared.CopyFrom(request)
    compared.ClearField("sent")
    return hashlib.sha256(compared.SerializeToString(deterministic=True)).digest()


def malformed(problem, where="idempotency-key"):
    message = f"{where} is malformed: {problem}; expected a UUID"
    return Refused("KEY_INVALID", message, {"problem": problem}, bad_field=where)


def status(code, message, details):
    """Returns a google.rpc.Status with its details, as bytes."""
    packed = Status(code=code.value[0], message=message)
    for detail in details:
        packed.details.add(
            type_url=f"type.googleapis.com/{detail.DESCRIPTOR.full_name}", value=detail.SerializeToString()
        )
    return packed.SerializeToString()


class Handlers:
    """The handlers of the service, which do what the request says."""

    def __init__(self, store):
        self.store = store
        self.lock = threading.Lock()
        self.begun = {}
        self.released = {}

    def gate(self, name):
        with self.lock:
            return self.released.setdefault(name, threading.Event())

    def run(self, request, effects):
        with self.lock:
            run = self.begun[request.name] = self.begun.get(request.name, 0) + 1
        if request.hold:
            self.gate(request.name).wait()
        if request.code:
            raise Failed(request.code)
        effects.names.append(request.name)
        return RunResponse(text=request.text, run=run)

    def release(self, request, context):
        self.gate(request.name).set()
        return b""

    def count(self, request, context):
        counted = CountResponse(begun=self.begun.get(request.name, 0), effects=self.store.effects(request.name))
        return counted.SerializeToString()


# The messages of conformance.proto and of google.rpc, without generated code.
SKETCH = """
  name: "sketch.proto"  syntax: "proto3"
  message_type { name: "RunRequest"
    field { name: "name"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "text"  number: 2  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "labels"  number: 3  type: TYPE_MESSAGE  type_name: ".RunRequest.LabelsEntry"  label: LABEL_REPEATED }
    field { name: "code"  number: 4  type: TYPE_INT32  label: LABEL_OPTIONAL }
    field { name: "hold"  number: 5  type: TYPE_BOOL  label: LABEL_OPTIONAL }
    field { name: "sent"  number: 6  type: TYPE_STRING  label: LABEL_OPTIONAL }
    nested_type { name: "LabelsEntry"  options { map_entry: true }
      field { name: "key"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
      field { name: "value"  number: 2  type: TYPE_STRING  label: LABEL_OPTIONAL } } }
  message_type { name: "RunResponse"
    field { name: "text"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "run"  number: 2  type: TYPE_INT64  label: LABEL_OPTIONAL } }
  message_type { name: "Named"
    field { name: "name"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL } }
  message_type { name: "CountResponse"
    field { name: "begun"  number: 1  type: TYPE_INT64  label: LABEL_OPTIONAL }
    field { name: "effects"  number: 2  type: TYPE_INT64  label: LABEL_OPTIONAL } }
"""
RPC = """
  name: "rpc.proto"  package: "google.rpc"  syntax: "proto3"
  message_type { name: "Any"
    field { name: "type_url"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "value"  number: 2  type: TYPE_BYTES  label: LABEL_OPTIONAL } }
  message_type { name: "Duration"
    field { name: "seconds"  number: 1  type: TYPE_INT64  label: LABEL_OPTIONAL }
    field { name: "nanos"  number: 2  type: TYPE_INT32  label: LABEL_OPTIONAL } }
  message_type { name: "Status"
    field { name: "code"  number: 1  type: TYPE_INT32  label: LABEL_OPTIONAL }
    field { name: "message"  number: 2  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "details"  number: 3  type: TYPE_MESSAGE  type_name: ".google.rpc.Any"  label: LABEL_REPEATED } }
  message_type { name: "ErrorInfo"
    field { name: "reason"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "domain"  number: 2  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "metadata"  number: 3  type: TYPE_MESSAGE  type_name: ".google.rpc.ErrorInfo.MetadataEntry"
      label: LABEL_REPEATED }
    nested_type { name: "MetadataEntry"  options { map_entry: true }
      field { name: "key"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
      field { name: "value"  number: 2  type: TYPE_STRING  label: LABEL_OPTIONAL } } }
  message_type { name: "RetryInfo"
    field { name: "retry_delay"  number: 1  type: TYPE_MESSAGE  type_name: ".google.rpc.Duration"
      label: LABEL_OPTIONAL } }
  message_type { name: "BadRequest"
    field { name: "field_violations"  number: 1  type: TYPE_MESSAGE
      type_name: ".google.rpc.BadRequest.FieldViolation"  label: LABEL_REPEATED }
    nested_type { name: "FieldViolation"
      field { name: "field"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
      field { name: "description"  number: 2  type: TYPE_STRING  label: LABEL_OPTIONAL } } }
"""
TYPES = message_factory.GetMessages(
    [text_format.Parse(sketch, descriptor_pb2.FileDescriptorProto()) for sketch in (SKETCH, RPC)]
)
RunRequest, RunResponse = TYPES["RunRequest"], TYPES["RunResponse"]
Named, CountResponse = TYPES["Named"], TYPES["CountResponse"]
Status, ErrorInfo, RetryInfo = TYPES["google.rpc.Status"], TYPES["google.rpc.ErrorInfo"], TYPES["google.rpc.RetryInfo"]
BadRequest, Duration = TYPES["google.rpc.BadRequest"], TYPES["google.rpc.Duration"]


def service(store):
    handlers = Handlers(store)
    methods = {
        "Run": Method(store, "Run", handlers.run),
        "RunOther": Method(store, "RunOther", handlers.run),
        "RunRequired": Method(store, "RunRequired", handlers.run, REQUIRED),
        "RunProhibited": Method(store, "RunProhibited", handlers.run, PROHIBITED),
        "RunTerminal": Method(store, "RunTerminal", handlers.run, terminal=[6]),
    }
    served = {
        name: grpc.unary_unary_rpc_method_handler(method, RunRequest.FromString) for name, method in methods.items()
    }
    served["Release"] = grpc.unary_unary_rpc_method_handler(handlers.release, Named.FromString)
    served["Count"] = grpc.unary_unary_rpc_method_handler(handlers.count, Named.FromString)
    return grpc.method_handlers_generic_handler("idempotency.conformance.v1.Conformance", served)


def main(port, path=":memory:"):
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64))
    server.add_generic_rpc_handlers([service(Store(path))])
    print(server.add_insecure_port(f"localhost:{port}"), flush=True)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])
