package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.KeyFormat;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Optional;
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
  /** Returns the unary method described. */
  MethodDescriptor<?, ?> method();

  /** Returns the method's full name, {@code package.Service/Method}; records carry it. */
  default String name() {
    return method().getFullMethodName();
  }

  /** Returns how a raw key must look; a UUID unless said otherwise. */
  default KeyFormat keyFormat() {
    return ProcedureBuilder.UUID_FORMAT;
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

  /** Returns how long a record answers retries, from its creation on; 24 hours by default. */
  default Duration retention() {
    return ProcedureBuilder.DEFAULT_RETENTION;
  }

  /**
   * Returns what a keyed call gets while the store cannot be reached. A transactional procedure
   * needs its database and always fails closed.
   */
  default OutagePolicy outagePolicy() {
    return execution() == Execution.TRANSACTIONAL
        ? OutagePolicy.FAIL_CLOSED
        : OutagePolicy.FAIL_OPEN;
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

  /** Starts the descriptor of a method. */
  static <ResponseT extends Message> ProcedureBuilder<ResponseT> of(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return new ProcedureBuilder<>(method);
  }

  /**
   * Starts the descriptor of a method from its {@code (idempotency.v1.procedure)} option; what is
   * then said in Java overrides.
   *
   * @throws IllegalArgumentException if the method has no such option, or the option names a field
   *     that the response does not have
   */
  static <ResponseT extends Message> ProcedureBuilder<ResponseT> annotated(
      MethodDescriptor<? extends Message, ResponseT> method) {
    return MethodOption.of(method).describe(new ProcedureBuilder<>(method));
  }
}
