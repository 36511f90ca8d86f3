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
import java.util.UUID;

/**
 * The descriptor of one RPC that creates or deletes a resource: all settings of the library for
 * this RPC. Build it with {@link #of}, read it from the method's {@code (idempotency.v1.procedure)}
 * option with {@link #annotated}, or implement it.
 *
 * <p>Implementations are immutable: they are checked once, at start-up, and then read by many
 * threads.
 */
public interface Procedure {
  /** Returns the method; empty for work that is not an RPC. */
  Optional<MethodDescriptor<?, ?>> method();

  /**
   * Returns the name of the procedure, which is stored in records. For a method it is {@code
   * package.Service/Method}.
   */
  String name();

  /** Returns whether calls carry a key; optional by default. */
  default KeyPolicy keyPolicy() {
    return KeyPolicy.OPTIONAL;
  }

  /** Returns the source of the key; empty for the interceptor's own header. */
  default Optional<KeySource> keySource() {
    return Optional.empty();
  }

  /** Returns the format of a key in the interceptor's own header; a UUID by default. */
  default KeyFormat keyFormat() {
    return ProcedureBuilder.UUID_FORMAT;
  }

  /**
   * Returns the rules for comparing the request of a retry with the first request; the whole
   * request by default. Procedures that {@link #of} builds use {@link Fingerprinter#ofSchema} by
   * default.
   */
  default Fingerprinter fingerprinter() {
    return Fingerprinter.wholeRequest();
  }

  /** Returns the type of the created or deleted resource; empty if the record refers to none. */
  default Optional<ResourceType> resourceType() {
    return Optional.empty();
  }

  /**
   * Returns the id of the created resource from a response. Called once per executed call, after
   * the handler succeeded. If it throws, the record has no reference to the resource, and the
   * response is sent unchanged.
   */
  default Optional<UUID> resourceId(Message response) {
    return Optional.empty();
  }

  /**
   * Returns whether a call deletes its resource instead of creating it; false by default. The
   * record of a delete refers to the resource only while its row exists, for example after a soft
   * deletion.
   */
  default boolean deletes() {
    return false;
  }

  /**
   * Returns the id of the resource that a request deletes; empty if the request names none. Called
   * after the handler has ended, for procedures that {@link #deletes() delete}. If it throws, the
   * record has no reference to the resource, and the response is sent unchanged.
   */
  default Optional<UUID> deletedId(Message request) {
    return Optional.empty();
  }

  /**
   * Returns the {@link PastResources}, which adds a reason to the error of a delete that does not
   * find its resource; empty by default.
   */
  default Optional<PastResources> pastResources() {
    return Optional.empty();
  }

  /**
   * Returns the rebuilder, which rebuilds a response from its resource; empty if responses are
   * recorded. With a rebuilder, only a reference to the resource is recorded.
   */
  default Optional<ResponseRebuilder> responseRebuilder() {
    return Optional.empty();
  }

  /**
   * Returns the resolver of the resource's status; empty for a procedure without asynchronous work,
   * which is {@code completed} at once.
   */
  default Optional<StatusResolver> statusResolver() {
    return Optional.empty();
  }

  /**
   * Returns how long a record answers retries; 24 hours by default. Called for every new key, so
   * the value can change while the server runs. Existing records are not changed.
   */
  default Duration retention() {
    return Retention.DEFAULT;
  }

  /**
   * Returns whether every replay restarts the retention, with the value at that time; by default
   * the retention counts from the record's creation. If it is restarted, a replay writes to the
   * store, unless less than a tenth of the retention has passed.
   */
  default boolean retainedFromLastReplay() {
    return false;
  }

  /** Returns the encryption of recorded responses and errors; none by default. */
  default Optional<ResponseProtection> responseProtection() {
    return Optional.empty();
  }

  /**
   * Returns the paths of response fields that are not recorded. Replays do not contain these
   * fields, and list them in the trailer {@code idempotency-omitted}.
   */
  default Set<String> omittedFields() {
    return Set.of();
  }

  /**
   * Returns the maximum size of a recorded response in bytes; 1 MiB by default. See {@link
   * ProcedureBuilder#maxRecordedBytes} for larger responses.
   */
  default int maxRecordedBytes() {
    return ProcedureBuilder.MAX_RECORDED_BYTES;
  }

  /**
   * Returns the guard that decides whether an answer may be replayed; by default every answer may.
   */
  default Optional<ReplayGuard> replayGuard() {
    return Optional.empty();
  }

  /**
   * Returns what happens to a call with a key during an outage of the store. By default an {@link
   * Execution#RESERVED} procedure with an optional key fails open, because such a service would
   * also run without the library, and every other procedure fails closed. A transactional procedure
   * always fails closed.
   */
  default OutagePolicy outagePolicy() {
    return OutagePolicy.of(execution(), keyPolicy());
  }

  /** Returns how the handler's effect and its record are committed. There is no default. */
  Execution execution();

  /**
   * Returns when the key of a transactional call is claimed; empty for the interceptor's own
   * setting, which is {@link ClaimTiming#BEFORE_HANDLER} by default.
   */
  default Optional<ClaimTiming> claimTiming() {
    return Optional.empty();
  }

  /**
   * Returns what happens to a duplicate while the first call is running; it is refused by default.
   */
  default InFlightPolicy inFlightPolicy() {
    return InFlightPolicy.refuse();
  }

  /** Returns what the handler's errors mean for the key; by default every error frees it. */
  default FailurePolicy failurePolicy() {
    return FailurePolicy.releaseAll();
  }

  /**
   * Returns problems of the descriptor, in addition to those that the library's own checks find. A
   * server with any problem does not start.
   */
  default List<String> problems() {
    return List.of();
  }

  /** Returns a builder for the descriptor of a method. */
  static <ResponseT extends Message> ProcedureBuilder<ResponseT> of(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return new ProcedureBuilder<>(method.getFullMethodName(), Optional.of(method));
  }

  /**
   * Returns a builder for the descriptor of work that is not an RPC.
   *
   * @param name the name that is stored in records, such as {@code jobs/close-month}
   */
  static ProcedureBuilder<Message> named(String name) {
    return new ProcedureBuilder<>(name, Optional.empty());
  }

  /**
   * Returns a builder for the descriptor of a method, with the settings of the method's {@code
   * (idempotency.v1.procedure)} option. Settings of the builder override the option. Problems of
   * the option are reported when the server starts.
   *
   * @throws IllegalArgumentException if the method has no such option
   */
  static <ResponseT extends Message> ProcedureBuilder<ResponseT> annotated(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return MethodOption.of(method).describe(of(method));
  }
}
