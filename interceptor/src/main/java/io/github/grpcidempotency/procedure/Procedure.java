package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.resource.StatusSource;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;

/**
 * The descriptor of one RPC that creates or deletes a resource: all settings of the library for
 * this RPC. Build it with {@link #of}, or read it from the method's {@code
 * (idempotency.v1.procedure)} option with {@link #annotated}. Immutable and thread-safe; a setting
 * that is a supplier is called by many threads.
 */
public final class Procedure {
  private final String name;
  private final Optional<MethodDescriptor<?, ?>> method;
  private final List<String> problems;
  private final KeyPolicy keyPolicy;
  private final Optional<KeySource> keySource;
  private final KeyFormat keyFormat;
  private final Fingerprinter fingerprinter;
  private final Optional<ResourceType> resourceType;
  private final Function<Message, Optional<ResourceId>> resourceId;
  private final Optional<Function<Message, Optional<ResourceId>>> deletedId;
  private final Optional<String> integerIdField;
  private final Optional<BiFunction<Caller, ResourceId, ? extends Optional<? extends Message>>>
      responseRebuilder;
  private final Optional<StatusSource> statusSource;
  private final Retention retention;
  private final boolean retainedFromLastReplay;
  private final OutagePolicy outagePolicy;
  private final Execution execution;
  private final boolean claimsAtCommit;
  private final Duration attachLimit;
  private final Optional<Duration> unansweredLimit;
  private final FailurePolicy failurePolicy;
  private final Optional<ResponseProtection> responseProtection;
  private final Set<String> omittedFields;
  private final int maxRecordedBytes;
  private final Optional<BiPredicate<Caller, Optional<ResourceId>>> replayGuard;

  Procedure(ProcedureBuilder<?> builder) {
    this.name = builder.name;
    this.method = builder.method;
    this.problems = builder.problems();
    this.keyPolicy = builder.effectiveKeyPolicy();
    this.keySource = builder.keySource;
    this.keyFormat = builder.keyFormat;
    this.fingerprinter = builder.fingerprinter;
    this.resourceType = builder.resourceType;
    this.resourceId = builder.resourceId;
    this.deletedId = builder.deletedId;
    this.integerIdField = builder.integerIdField;
    this.responseRebuilder = builder.responseRebuilder;
    this.statusSource = builder.statusSource;
    this.retention = builder.retention;
    this.retainedFromLastReplay = builder.retainedFromLastReplay;
    this.execution = builder.execution.orElse(Execution.RESERVED);
    this.outagePolicy = builder.outagePolicy.orElseGet(() -> OutagePolicy.of(execution, keyPolicy));
    this.claimsAtCommit = builder.claimsAtCommit;
    this.attachLimit = builder.attachLimit;
    this.unansweredLimit = builder.unansweredLimit;
    this.failurePolicy = builder.failurePolicy;
    this.responseProtection = builder.responseProtection;
    this.omittedFields = builder.omittedFields;
    this.maxRecordedBytes = builder.maxRecordedBytes;
    this.replayGuard = builder.replayGuard;
  }

  /** Returns the method; empty for work that is not an RPC. */
  public Optional<MethodDescriptor<?, ?>> method() {
    return method;
  }

  /** Returns the name in records; for a method, {@code package.Service/Method}. */
  public String name() {
    return name;
  }

  /** Returns whether calls carry a key; optional by default. */
  public KeyPolicy keyPolicy() {
    return keyPolicy;
  }

  /** Returns the source of the key; empty for the interceptor's own header. */
  public Optional<KeySource> keySource() {
    return keySource;
  }

  /** Returns the format of a key in the interceptor's own header; a UUID by default. */
  public KeyFormat keyFormat() {
    return keyFormat;
  }

  /** Returns the rules for comparing the request of a retry with the first request. */
  public Fingerprinter fingerprinter() {
    return fingerprinter;
  }

  /** Returns the type of the created or deleted resource; empty if the record refers to none. */
  public Optional<ResourceType> resourceType() {
    return resourceType;
  }

  /** Returns the id of the created resource from a response; empty if it contains none. */
  public Optional<ResourceId> resourceId(Message response) {
    return resourceId.apply(response);
  }

  /** Returns whether a call deletes its resource instead of creating it; false by default. */
  public boolean deletes() {
    return deletedId.isPresent();
  }

  /** Returns the id of the resource that a request deletes; empty if the request names none. */
  public Optional<ResourceId> deletedId(Message request) {
    return deletedId.flatMap(id -> id.apply(request));
  }

  /**
   * Returns the declaration of the integer field that contains the resource id, such as {@code
   * int64 order.id}; empty if the id is in a text field, or if a function returns it.
   */
  public Optional<String> integerIdField() {
    return integerIdField;
  }

  /** Returns the rebuilder of responses; empty if responses are recorded. */
  public Optional<BiFunction<Caller, ResourceId, ? extends Optional<? extends Message>>>
      responseRebuilder() {
    return responseRebuilder;
  }

  /** Returns the source of the resource's status; empty without asynchronous work. */
  public Optional<StatusSource> statusSource() {
    return statusSource;
  }

  /** Returns how long a new record answers retries. Called for every new key. */
  public Duration retention() {
    return retention.current();
  }

  /** Returns whether every replay restarts the retention. */
  public boolean retainedFromLastReplay() {
    return retainedFromLastReplay;
  }

  /** Returns the encryption of recorded responses and errors; none by default. */
  public Optional<ResponseProtection> responseProtection() {
    return responseProtection;
  }

  /** Returns the paths of response fields that are not recorded. */
  public Set<String> omittedFields() {
    return omittedFields;
  }

  /** Returns the maximum size of a recorded response in bytes. */
  public int maxRecordedBytes() {
    return maxRecordedBytes;
  }

  /** Returns the guard that decides whether an answer may be replayed. */
  public Optional<BiPredicate<Caller, Optional<ResourceId>>> replayGuard() {
    return replayGuard;
  }

  /** Returns what happens to a call with a key during an outage of the store. */
  public OutagePolicy outagePolicy() {
    return outagePolicy;
  }

  /** Returns how the handler's effect and its record are committed. */
  public Execution execution() {
    return execution;
  }

  /** Returns whether a call that is no retry is claimed at its commit. */
  public boolean claimsAtCommit() {
    return claimsAtCommit;
  }

  /** Returns how long a duplicate may wait for a running call; zero if it is refused at once. */
  public Duration attachLimit() {
    return attachLimit;
  }

  /**
   * Returns how long a handler that has returned without an answer keeps its key when nobody waits;
   * empty for the store's lease.
   */
  public Optional<Duration> unansweredLimit() {
    return unansweredLimit;
  }

  /** Returns what the handler's errors mean for the key. */
  public FailurePolicy failurePolicy() {
    return failurePolicy;
  }

  List<String> problems() {
    return problems;
  }

  /** Returns a builder for the descriptor of a method. */
  public static <ResponseT extends Message> ProcedureBuilder<ResponseT> of(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return new ProcedureBuilder<>(method.getFullMethodName(), Optional.of(method));
  }

  /**
   * Returns a builder for the descriptor of work that is not an RPC.
   *
   * @param name the name that is stored in records, such as {@code jobs/close-month}
   */
  public static ProcedureBuilder<Message> named(String name) {
    return new ProcedureBuilder<>(name, Optional.empty());
  }

  /**
   * Returns a builder for the descriptor of a method, with the settings of the method's {@code
   * (idempotency.v1.procedure)} option. Settings of the builder override the option. Problems of
   * the option are reported when the server starts.
   *
   * @throws IllegalArgumentException if the method has no such option
   */
  public static <ResponseT extends Message> ProcedureBuilder<ResponseT> annotated(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return MethodOption.describe(
        MethodSchema.optionOf(method)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        method.getFullMethodName() + " has no (idempotency.v1.procedure) option")),
        of(method));
  }
}
