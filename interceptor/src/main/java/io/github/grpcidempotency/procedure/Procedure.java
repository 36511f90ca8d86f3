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
 * The descriptor of one create RPC: all that the library must know of it. Implement it, build it
 * with {@link #of}, or let the method's {@code (idempotency.v1.procedure)} option describe it with
 * {@link #annotated}.
 *
 * <p>Implementations are immutable: they are checked once, at start-up, and then read by many
 * threads.
 */
public interface Procedure {
  /** Returns the method described; empty for work that is no RPC. */
  Optional<MethodDescriptor<?, ?>> method();

  /**
   * Returns the procedure's name; a method's is {@code package.Service/Method}. Records carry it.
   */
  String name();

  /** Returns whether calls carry a key; by default they may, in the interceptor's own header. */
  default KeyPolicy keyPolicy() {
    return KeyPolicy.OPTIONAL;
  }

  /** Returns where the key comes from; empty for the interceptor's own header. */
  default Optional<KeySource> keySource() {
    return Optional.empty();
  }

  /** Returns how a key in the interceptor's own header must look; a UUID unless said otherwise. */
  default KeyFormat keyFormat() {
    return ProcedureBuilder.UUID_FORMAT;
  }

  /**
   * Returns what of the request must be the same on every retry; all of it by default. What {@link
   * #of} builds leaves out, unless said otherwise, what {@link Fingerprinter#ofSchema} does.
   */
  default Fingerprinter fingerprinter() {
    return Fingerprinter.wholeRequest();
  }

  /** Returns what the method creates; empty if its record refers to no resource. */
  default Optional<ResourceType> resourceType() {
    return Optional.empty();
  }

  /**
   * Returns the id of the resource that a response tells of. Called once per executed call, after
   * the handler succeeded; what it throws costs the record its reference, never the response.
   */
  default Optional<UUID> resourceId(Message response) {
    return Optional.empty();
  }

  /**
   * Returns who tells the status of the resource; empty for a procedure without asynchronous work,
   * which is {@code completed} at once.
   */
  default Optional<StatusResolver> statusResolver() {
    return Optional.empty();
  }

  /**
   * Returns how long a record answers retries; 24 hours by default. Asked anew for every key, so
   * that it can be changed while the server runs; keys that have been used keep what they had.
   */
  default Duration retention() {
    return RetentionClass.INTERACTIVE.duration();
  }

  /**
   * Returns whether every replay lets the retention begin anew; by default it is counted from the
   * record's creation. A replay then writes, unless the last one was a moment ago, and counts the
   * retention of its own day.
   */
  default boolean retainedFromLastReplay() {
    return false;
  }

  /**
   * Returns what keeps recorded answers, responses and errors, secret at rest; by default nothing
   * does.
   */
  default Optional<ResponseProtection> responseProtection() {
    return Optional.empty();
  }

  /**
   * Returns the paths of response fields that are not recorded. Replays lack them, and say so in
   * the {@code idempotency-omitted} trailer.
   */
  default Set<String> omittedFields() {
    return Set.of();
  }

  /**
   * Returns who decides whether an answer may be replayed; by default its caller always gets it.
   */
  default Optional<ReplayGuard> replayGuard() {
    return Optional.empty();
  }

  /**
   * Returns what a keyed call gets during an outage of the store. Where effect and record share a
   * database it fails closed, for an open run can only do harm there; a transactional procedure
   * always does.
   */
  default OutagePolicy outagePolicy() {
    return OutagePolicy.of(execution());
  }

  /** Returns how the handler's effect and its record are brought together. */
  default Execution execution() {
    return Execution.RESERVED;
  }

  /** Returns what a duplicate gets while the first call is running; by default it is refused. */
  default InFlightPolicy inFlightPolicy() {
    return InFlightPolicy.refuse();
  }

  /** Returns which of the handler's errors are recorded or held; by default every one releases. */
  default FailurePolicy failurePolicy() {
    return FailurePolicy.releaseAll();
  }

  /**
   * Returns what its author knows to be wrong with this descriptor, beside what is checked anyway;
   * a server with any of it does not start.
   */
  default List<String> problems() {
    return List.of();
  }

  /** Starts the descriptor of a method. */
  static <ResponseT extends Message> ProcedureBuilder<ResponseT> of(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return new ProcedureBuilder<>(method.getFullMethodName(), Optional.of(method));
  }

  /**
   * Starts the descriptor of work that is no RPC.
   *
   * @param name what records call it, such as {@code jobs/close-month}
   */
  static ProcedureBuilder<Message> named(String name) {
    return new ProcedureBuilder<>(name, Optional.empty());
  }

  /**
   * Starts the descriptor of a method from its {@code (idempotency.v1.procedure)} option; what is
   * then said in Java overrides. What is wrong with the option is told when the server starts.
   *
   * @throws IllegalArgumentException if the method has no such option
   */
  static <ResponseT extends Message> ProcedureBuilder<ResponseT> annotated(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return MethodOption.of(method).describe(of(method));
  }
}
