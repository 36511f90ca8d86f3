package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.util.ArrayList;
import java.util.List;

/** Something that is compared with the bare handler. */
record Subject(String label, Operation operation) {
  /** Returns those that are to be compared, and the bare handler before them. */
  static List<Subject> of(Client client, Pace pace) {
    List<Subject> subjects = new ArrayList<>();
    for (Variant variant : Variant.values()) {
      if (variant == Variant.BARE
          || (!variant.label().endsWith("attaching") && pace.includes(variant.label()))) {
        subjects.add(new Subject(variant.label(), Operations.create(client, variant)));
      }
    }
    for (Variant variant : List.of(Variant.RESERVED, Variant.TRANSACTIONAL)) {
      String label = "replay of " + variant.label();
      if (pace.includes(label)) {
        subjects.add(new Subject(label, Operations.replay(client, variant)));
      }
    }
    return subjects;
  }
}
