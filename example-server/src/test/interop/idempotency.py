"""What docs/how-to/clients/python.md shows."""

import json
import random
import time
import uuid
from dataclasses import dataclass
from typing import Optional

import grpc
from google.protobuf.message import Message


def retrying(*methods):
    """Options of a channel that sends calls of these methods again, up to five times, when the server says so."""
    policy = {
        "maxAttempts": 5,
        "initialBackoff": "0.1s",
        "maxBackoff": "5s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["ABORTED", "UNAVAILABLE"],
    }
    name = [dict(zip(("service", "method"), path.split("/"))) for path in methods]
    config = {"methodConfig": [{"name": name, "retryPolicy": policy}]}
    return [("grpc.service_config", json.dumps(config))]


@dataclass
class Intent:
    """What somebody wants done, once."""

    request: Message
    key: Optional[str]  # none if the request has it
    sent: bool = False  # whether it may have been sent before


def intend(request, field=None):
    """Makes the key, which is in the metadata, or in a field of the request that is named."""
    key = str(uuid.uuid4())
    if field is None:
        return Intent(request, key)
    setattr(request, field, getattr(request, field) or key)
    return Intent(request, None)


def send(method, intent, metadata=(), timeout=30):
    """Sends an intent, and returns the response and its trailers."""
    if intent.key:
        metadata = (*metadata, ("idempotency-key", intent.key))
    if intent.sent:
        metadata = (*metadata, ("idempotency-retry", "true"))
    intent.sent = True
    response, call = method.with_call(intent.request, metadata=metadata, timeout=timeout)
    return response, dict(call.trailing_metadata())


WORTH_A_RETRY = (grpc.StatusCode.ABORTED, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def send_until(end, method, intent, metadata=()):
    """Sends an intent until there is an answer, or time is up."""
    backoff = 1
    while True:
        try:
            return send(method, intent, metadata)
        except grpc.RpcError as error:
            pushback = dict(error.trailing_metadata() or ()).get("grpc-retry-pushback-ms")
            pause = backoff * random.random() if pushback is None else int(pushback) / 1000
            retry = error.code() in WORTH_A_RETRY and pause >= 0
            if not retry or time.time() + pause > end:
                raise
        time.sleep(pause)
        backoff = min(2 * backoff, 60)
