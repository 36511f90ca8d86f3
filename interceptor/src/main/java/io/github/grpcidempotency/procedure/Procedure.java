package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
  private final Optional<PastResources> pastResources;
  private final Optional<ResponseRebuilder> responseRebuilder;
  private final Optional<StatusSource> statusSource;
  private final Retention retention;
  private final boolean retainedFromLastReplay;
  private final OutagePolicy outagePolicy;
  private final Execution execution;
  private final Optional<ClaimTiming> claimTiming;
  private final InFlightPolicy inFlightPolicy;
  private final FailurePolicy failurePolicy;
  private final Optional<ResponseProtection> responseProtection;
  private final Set<String> omittedFields;
  private final int maxRecordedBytes;
  private final Optional<ReplayGuard> replayGuard;

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
    this.pastResources = builder.pastResources;
    this.responseRebuilder = builder.responseRebuilder;
    this.statusSource = builder.statusSource;
    this.retention = builder.retention;
    this.retainedFromLastReplay = builder.retainedFromLastReplay;
    this.execution = builder.execution.orElse(Execution.RESERVED);
    this.outagePolicy = builder.outagePolicy.orElseGet(() -> OutagePolicy.of(execution, keyPolicy));
    this.claimTiming = builder.claimTiming;
    this.inFlightPolicy = builder.inFlightPolicy;
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

  /**
   * Returns the name of the procedure, which is stored in records. For a method it is {@code
   * package.Service/Method}.
   */
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

  /**
   * Returns the rules for comparing the request of a retry with the first request; the whole
   * request by default, without fields that its schema excludes ({@link Fingerprinter#ofSchema}).
   */
  public Fingerprinter fingerprinter() {
    return fingerprinter;
  }

  /** Returns the type of the created or deleted resource; empty if the record refers to none. */
  public Optional<ResourceType> resourceType() {
    return resourceType;
  }

  /**
   * Returns the id of the created resource from a response. Called once per executed call, after
   * the handler succeeded. If it throws, the record has no reference to the resource, and the
   * response is sent unchanged.
   */
  public Optional<ResourceId> resourceId(Message response) {
    return resourceId.apply(response);
  }

  /**
   * Returns whether a call deletes its resource instead of creating it; false by default. The
   * record of a delete refers to the resource only while its row exists, for example after a soft
   * deletion.
   */
  public boolean deletes() {
    return deletedId.isPresent();
  }

  /**
   * Returns the id of the resource that a request deletes; empty if the request names none. Called
   * after the handler has ended, for procedures that {@link #deletes() delete}. If it throws, the
   * record has no reference to the resource, and the response is sent unchanged.
   */
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

  /**
   * Returns the {@link PastResources}, which adds a reason to the error of a delete that does not
   * find its resource; empty by default.
   */
  public Optional<PastResources> pastResources() {
    return pastResources;
  }

  /**
   * Returns the rebuilder, which rebuilds a response from its resource; empty if responses are
   * recorded. With a rebuilder, only a reference to the resource is recorded.
   */
  public Optional<ResponseRebuilder> responseRebuilder() {
    return responseRebuilder;
  }

  /**
   * Returns the source of the resource's status; empty for a procedure without asynchronous work,
   * which is {@code completed} at once.
   */
  public Optional<StatusSource> statusSource() {
    return statusSource;
  }

  /**
   * Returns how long a record answers retries; 24 hours by default. Called for every new key, so
   * the value can change while the server runs. Existing records are not changed.
   */
  public Duration retention() {
    return retention.current();
  }

  /**
   * Returns whether every replay restarts the retention, with the value at that time; by default
   * the retention counts from the record's creation. If it is restarted, a replay writes to the
   * store, unless less than a tenth of the retention has passed.
   */
  public boolean retainedFromLastReplay() {
    return retainedFromLastReplay;
  }

  /** Returns the encryption of recorded responses and errors; none by default. */
  public Optional<ResponseProtection> responseProtection() {
    return responseProtection;
  }

  /**
   * Returns the paths of response fields that are not recorded. Replays do not contain these
   * fields, and list them in the trailer {@code idempotency-omitted}.
   */
  public Set<String> omittedFields() {
    return omittedFields;
  }

  /**
   * Returns the maximum size of a recorded response in bytes; 1 MiB by default. See {@link
   * ProcedureBuilder#maxRecordedBytes} for larger responses.
   */
  public int maxRecordedBytes() {
    return maxRecordedBytes;
  }

  /**
   * Returns the guard that decides whether an answer may be replayed; by default every answer may.
   */
  public Optional<ReplayGuard> replayGuard() {
    return replayGuard;
  }

  /**
   * Returns what happens to a call with a key during an outage of the store. By default an {@link
   * Execution#RESERVED} procedure with an optional key fails open, because such a service would
   * also run without the library, and every other procedure fails closed. A transactional procedure
   * always fails closed.
   */
  public OutagePolicy outagePolicy() {
    return outagePolicy;
  }

  /** Returns how the handler's effect and its record are committed. There is no default. */
  public Execution execution() {
    return execution;
  }

  /** Returns when the key of a transactional call is claimed; empty if it is not set. */
  Optional<ClaimTiming> claimTiming() {
    return claimTiming;
  }

  /** Returns whether calls are claimed with their handlers' first statements. */
  public boolean claimsWithFirstStatement() {
    return claimTiming.equals(Optional.of(ClaimTiming.WITH_FIRST_STATEMENT));
  }

  /**
   * Returns what happens to a duplicate while the first call is running; it is refused by default.
   */
  public InFlightPolicy inFlightPolicy() {
    return inFlightPolicy;
  }

  /** Returns what the handler's errors mean for the key; by default every error frees it. */
  public FailurePolicy failurePolicy() {
    return failurePolicy;
  }

  /** Returns the problems that the builder has found. */
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
    return MethodOption.of(method).describe(of(method));
  }
}
