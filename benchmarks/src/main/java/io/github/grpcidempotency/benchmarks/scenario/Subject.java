package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.util.ArrayList;
import java.util.List;

/** Something that is compared with the bare handler. */
record Subject(String label, Operation operation) {
  /** Returns all of them, the bare handler first. */
  static List<Subject> all(Client client) {
    List<Subject> subjects = new ArrayList<>();
    for (Variant variant : Variant.values()) {
      if (!variant.label().endsWith("attaching")) {
        subjects.add(new Subject(variant.label(), Operations.create(client, variant)));
      }
    }
    for (Variant variant : List.of(Variant.RESERVED, Variant.TRANSACTIONAL)) {
      subjects.add(new Subject("replay of " + variant.label(), Operations.replay(client, variant)));
    }
    return subjects;
  }
}
