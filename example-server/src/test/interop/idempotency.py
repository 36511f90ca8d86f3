"""Creates a project, and sends the call again: python3 idempotency.py localhost:50051"""

import json
import random
import sys
import time
import uuid
from dataclasses import dataclass
from typing import Optional

import grpc
from google.protobuf import descriptor_pb2, message_factory, text_format
from google.protobuf.message import Message


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


def reason(error):
    """Why the server refused a call: a reason of the wire contract, or None."""
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    for detail in Status.FromString(details).details:
        if detail.type_url.endswith("/google.rpc.ErrorInfo"):
            return ErrorInfo.FromString(detail.value).reason
    return None


# Stands for the classes that protoc makes of your .proto files, and for the package googleapis-common-protos.
SKETCH = """
  name: "sketch.proto"  package: "sketch"  syntax: "proto3"
  message_type { name: "CreateProjectRequest"
    field { name: "name"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL } }
  message_type { name: "Project"
    field { name: "id"    number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL } }
  message_type { name: "CreateProjectResponse"
    field { name: "project"  number: 1  type: TYPE_MESSAGE  type_name: ".sketch.Project"  label: LABEL_OPTIONAL } }
  message_type { name: "Any"
    field { name: "type_url"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL }
    field { name: "value"     number: 2  type: TYPE_BYTES   label: LABEL_OPTIONAL } }
  message_type { name: "Status"
    field { name: "details"  number: 3  type: TYPE_MESSAGE  type_name: ".sketch.Any"  label: LABEL_REPEATED } }
  message_type { name: "ErrorInfo"
    field { name: "reason"  number: 1  type: TYPE_STRING  label: LABEL_OPTIONAL } }
"""
FILE = text_format.Parse(SKETCH, descriptor_pb2.FileDescriptorProto())
MESSAGES = message_factory.GetMessages([FILE])
Status = MESSAGES["sketch.Status"]
ErrorInfo = MESSAGES["sketch.ErrorInfo"]
CreateProjectRequest = MESSAGES["sketch.CreateProjectRequest"]
CreateProjectResponse = MESSAGES["sketch.CreateProjectResponse"]


def main(address):
    path = "organization.v1.ProjectService/CreateProject"
    user = [("authorization", f"Bearer {uuid.uuid4()}")]
    with grpc.insecure_channel(address, retrying(path)) as channel:
        create = channel.unary_unary(  # with generated code: stub.CreateProject
            f"/{path}", CreateProjectRequest.SerializeToString, CreateProjectResponse.FromString
        )
        intent = intend(CreateProjectRequest(name="apollo"))

        response, trailers = send(create, intent, user)
        print("created", response.project.id, trailers.get("idempotency-status"))

        again, trailers = send_until(time.time() + 600, create, intent, user)
        print("replayed", again.project.id, trailers["idempotency-replayed"])

        try:
            send(create, Intent(CreateProjectRequest(name="gemini"), intent.key), user)
        except grpc.RpcError as error:
            print("refused", error.code().name, reason(error))


if __name__ == "__main__":
    main(sys.argv[1])
