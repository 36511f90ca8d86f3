package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.KeyFormat;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/**
 * Builds a {@link Procedure}. Not thread-safe.
 *
 * @param <ResponseT> the method's response
 */
public final class ProcedureBuilder<ResponseT extends Message> {
  static final Duration DEFAULT_RETENTION = Duration.ofHours(24);
  static final KeyFormat UUID_FORMAT = KeyFormat.uuid();

  private final MethodDescriptor<? extends Message, ResponseT> method;
  private KeyFormat keyFormat = UUID_FORMAT;
  private Optional<ResourceType> resourceType = Optional.empty();
  private Function<Message, Optional<UUID>> resourceId = response -> Optional.empty();
  private Optional<StatusResolver> statusResolver = Optional.empty();
  private Duration retention = DEFAULT_RETENTION;
  private Optional<OutagePolicy> outagePolicy = Optional.empty();
  private Execution execution = Execution.RESERVED;
  private InFlightPolicy inFlightPolicy = InFlightPolicy.refuse();
  private FailurePolicy failurePolicy = FailurePolicy.releaseAll();

  ProcedureBuilder(MethodDescriptor<? extends Message, ResponseT> method) {
    this.method = method;
  }

  /** Says what the method creates, and how its response tells the new resource's id. */
  public ProcedureBuilder<ResponseT> resource(
      ResourceType type, Function<? super ResponseT, UUID> id) {
    this.resourceType = Optional.of(type);
    this.resourceId = response -> Optional.of(id.apply(castResponse(response)));
    return this;
  }

  /** Says who tells the status of the created resource. */
  public ProcedureBuilder<ResponseT> status(StatusResolver resolver) {
    this.statusResolver = Optional.of(resolver);
    return this;
  }

  /** Says how a raw key must look; a UUID by default. */
  public ProcedureBuilder<ResponseT> keyFormat(KeyFormat format) {
    this.keyFormat = format;
    return this;
  }

  /** Says how long a record answers retries, counted from its creation; 24 hours by default. */
  public ProcedureBuilder<ResponseT> retention(Duration retention) {
    this.retention = retention;
    return this;
  }

  /**
   * Says what a keyed call gets while the store cannot be reached. By default it is served, unless
   * the procedure is transactional.
   */
  public ProcedureBuilder<ResponseT> outage(OutagePolicy policy) {
    this.outagePolicy = Optional.of(policy);
    return this;
  }

  /** Says how the handler's effect and its record are brought together; reserved by default. */
  public ProcedureBuilder<ResponseT> execution(Execution execution) {
    this.execution = execution;
    return this;
  }

  /** Says what a duplicate gets while the first call is running; by default it is refused. */
  public ProcedureBuilder<ResponseT> inFlight(InFlightPolicy policy) {
    this.inFlightPolicy = policy;
    return this;
  }

  /** Says which of the handler's errors are recorded or held; by default every one releases. */
  public ProcedureBuilder<ResponseT> failures(FailurePolicy policy) {
    this.failurePolicy = policy;
    return this;
  }

  /** Returns the descriptor. It is checked when {@link Procedures} are made of it. */
  public Procedure build() {
    return new Built(
        method,
        keyFormat,
        resourceType,
        resourceId,
        statusResolver,
        retention,
        outagePolicy.orElse(
            execution == Execution.TRANSACTIONAL
                ? OutagePolicy.FAIL_CLOSED
                : OutagePolicy.FAIL_OPEN),
        execution,
        inFlightPolicy,
        failurePolicy);
  }

  @SuppressWarnings("unchecked") // the method's own marshaller made the response
  private ResponseT castResponse(Message response) {
    return (ResponseT) response;
  }

  private record Built(
      MethodDescriptor<?, ?> method,
      KeyFormat keyFormat,
      Optional<ResourceType> resourceType,
      Function<Message, Optional<UUID>> resourceIdFunction,
      Optional<StatusResolver> statusResolver,
      Duration retention,
      OutagePolicy outagePolicy,
      Execution execution,
      InFlightPolicy inFlightPolicy,
      FailurePolicy failurePolicy)
      implements Procedure {
    @Override
    public Optional<UUID> resourceId(Message response) {
      return resourceIdFunction.apply(response);
    }
  }
}
