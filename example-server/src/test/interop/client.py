"""A client of the example server in Python: what client.js does, with the gRPC of C++ and Python.

    python3 client.py PORT DESCRIPTOR_SET

The test that starts it holds the first call back in the database, and lets it go once others have been retried. The
descriptors are the server's own, from a file: no compiler is needed.
"""

import os
import sys
import threading
import time
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor

os.environ["GRPC_VERBOSITY"] = "INFO"  # both are read when grpc is loaded
os.environ["GRPC_TRACE"] = "retry"

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from idempotency import Intent, intend, reason, retrying, send, send_until

PORT, DESCRIPTORS = sys.argv[1:]
POOL = descriptor_pool.DescriptorPool()
with open(DESCRIPTORS, "rb") as file:
    for proto in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
        POOL.Add(proto)

USER = (("authorization", f"Bearer {uuid.uuid4()}"),)


def main():
    pushbacks = Pushbacks()
    address = f"localhost:{PORT}"
    create_project = "organization.v1.ProjectService/CreateProject"
    create_node_pool = "organization.v1.ClusterService/CreateNodePool"
    with grpc.insecure_channel(address, retrying(create_project, create_node_pool)) as patient:
        with grpc.insecure_channel(address, [("grpc.enable_retries", 0)]) as impatient:
            project = projects(
                pushbacks, method(patient, create_project), method(impatient, create_project)
            )
            node_pools(patient, create_node_pool, project)


def projects(pushbacks, create, create_once):
    apollo = intend(message("CreateProjectRequest")(name="apollo"))
    with ThreadPoolExecutor() as threads:
        unsent = Counted(create)
        first = threads.submit(send, unsent, apollo, USER)
        say("sent", "reserved")
        assert unsent.hints == [None], unsent.hints

        a_duplicate_is_told_to_come_back(create_once, apollo)
        second = threads.submit(send, create, apollo, USER)
        pushbacks.reach(1)
        counted = Counted(create_once)
        third = threads.submit(send_until, time.time() + 30, counted, apollo, USER)
        counted.reach(2)
        assert set(counted.hints) == {"true"}, counted.hints
        print("retried", flush=True)

        response, trailers = first.result()
        assert "idempotency-replayed" not in trailers, trailers
        assert trailers["idempotency-status"] == "processing", trailers
        for duplicate in second, third:
            answer, trailers = duplicate.result()
            assert answer == response
            assert trailers["idempotency-replayed"] == "true", trailers

    an_intent_that_was_written_down_is_replayed(create_once, apollo, response)
    another_body_is_refused_for_good(create, apollo)
    return response.project


def a_duplicate_is_told_to_come_back(create, intent):
    error = failure_of(lambda: send(create, intent, USER))
    assert error.code() == grpc.StatusCode.ABORTED, error
    assert reason(error) == "IDEMPOTENCY_IN_PROGRESS"
    assert int(dict(error.trailing_metadata())["grpc-retry-pushback-ms"]) > 0


def an_intent_that_was_written_down_is_replayed(create, intent, expected):
    request = message("CreateProjectRequest").FromString(intent.request.SerializeToString())
    response, trailers = send(create, Intent(request, str(intent.key)), USER)
    assert response == expected
    assert trailers["idempotency-replayed"] == "true", trailers
    assert trailers["idempotency-status"] in ("processing", "completed"), trailers
    assert uuid.UUID(trailers["idempotency-operation"])
    assert trailers["idempotency-expires"] > time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())


def another_body_is_refused_for_good(create, intent):
    gemini = Intent(message("CreateProjectRequest")(name="gemini"), intent.key)
    error = failure_of(lambda: send_until(time.time() + 30, create, gemini, USER))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
    assert reason(error) == "IDEMPOTENCY_KEY_REUSED"
    assert dict(error.trailing_metadata())["grpc-retry-pushback-ms"] == "-1"


def node_pools(channel, create_node_pool, project):
    create_cluster = method(channel, "organization.v1.ClusterService/CreateCluster")
    place = message("CreateClusterRequest")(project_id=project.id, name="saturn", region="eu")
    response, _ = send(create_cluster, intend(place), USER)

    create = method(channel, create_node_pool)
    request = message("CreateNodePoolRequest")(
        cluster_id=response.cluster.id, name="workers", node_count=3
    )
    pool = intend(request, "request_id")
    assert pool.key is None
    first, trailers = send(create, pool, USER)
    assert "idempotency-replayed" not in trailers, trailers
    again, trailers = send(create, pool, USER)
    assert trailers["idempotency-replayed"] == "true", trailers
    assert again == first

    own = pool.request.request_id
    assert intend(pool.request, "request_id").request.request_id == own


def message(name):
    return named(f"organization.v1.{name}")


def named(name):
    return message_factory.MessageFactory(POOL).GetPrototype(POOL.FindMessageTypeByName(name))


def failure_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call should have failed")


def method(channel, path):
    service, name = path.split("/")
    descriptor = POOL.FindServiceByName(service).FindMethodByName(name)
    return channel.unary_unary(
        f"/{path}",
        request_serializer=lambda request: request.SerializeToString(),
        response_deserializer=named(descriptor.output_type.full_name).FromString,
    )


def say(word, expected):
    print(word, flush=True)
    assert sys.stdin.readline().strip() == expected


class Count:
    def __init__(self):
        self._count = 0
        self._changed = threading.Condition()

    def add(self):
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def reach(self, wanted):
        with self._changed:
            assert self._changed.wait_for(lambda: self._count >= wanted, 60), self._count


class Counted(Count):
    """Passes calls on to a method, counts them, and hears what each says of being a retry."""

    def __init__(self, method):
        super().__init__()
        self._method = method
        self.hints = []

    def with_call(self, *arguments, metadata, **options):
        self.hints.append(dict(metadata).get("idempotency-retry"))
        self.add()
        return self._method.with_call(*arguments, metadata=metadata, **options)


class Pushbacks(Count):
    """Hears from gRPC's own trace how often it heeded a pushback: nothing else tells."""

    def __init__(self):
        super().__init__()
        read, write = os.pipe()
        os.dup2(write, 2)
        threading.Thread(target=self._listen, args=(read,), daemon=True).start()

    def _listen(self, read):
        for line in os.fdopen(read):
            if "server push-back: retry in" in line:
                self.add()


if __name__ == "__main__":
    errors = os.fdopen(os.dup(2), "w")  # what is written to 2 is read for pushbacks
    try:
        main()
    except BaseException:
        traceback.print_exc(file=errors)
        errors.flush()
        os._exit(1)  # other threads may wait for what never comes
