package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.github.grpcidempotency.procedure.Execution;
import io.grpc.MethodDescriptor;
import java.util.Locale;
import java.util.Optional;

/** The ways of making one create RPC idempotent. Each is an RPC of its own. */
public enum Variant {
  BARE("bare handler", Optional.empty()),
  ROUND_TRIP("bare, and one round trip more", Optional.empty()),
  LOOK_UP("one look-up by key, nothing else", Optional.empty()),
  BARE_RECORD("bare, and the least record, which protects nothing", Optional.empty()),
  SEPARATE("separate look-up, reserve, complete", Optional.empty()),
  RESERVED("reserved", Optional.of(Execution.RESERVED)),
  JOINED_COMMIT("reserved, joined completion and commit", Optional.of(Execution.RESERVED)),
  TRANSACTIONAL("transactional", Optional.of(Execution.TRANSACTIONAL)),
  AT_COMMIT("transactional, claimed at commit", Optional.of(Execution.TRANSACTIONAL));

  private final String label;
  private final Optional<Execution> execution;

  @SuppressWarnings(
      "ImmutableEnumChecker") // the list is immutable, but its type does not show this
  private final MethodDescriptor<CreateProjectRequest, Project> method;

  Variant(String label, Optional<Execution> execution) {
    this.label = label;
    this.execution = execution;
    this.method = CreateMethod.named(name());
  }

  /** Returns its name on the command line. */
  public String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns its name in tables. */
  public String label() {
    return label;
  }

  /** Returns its execution; empty if the library does not execute it. */
  Optional<Execution> execution() {
    return execution;
  }

  /** Returns whether this library runs it. */
  public boolean isOurs() {
    return execution.isPresent();
  }

  /** Returns the gRPC service that has all variants as its methods. */
  public static String service() {
    return CreateMethod.SERVICE;
  }

  /** Returns whether it answers a retry with the first response. */
  public boolean replays() {
    return execution.isPresent() || this == SEPARATE;
  }

  /** Returns the variant's method. */
  public MethodDescriptor<CreateProjectRequest, Project> method() {
    return method;
  }
}
