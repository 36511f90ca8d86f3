package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Builds a {@link Procedure}; what is not said is as the interface's defaults have it. Not
 * thread-safe.
 *
 * @param <ResponseT> the method's response
 */
public final class ProcedureBuilder<ResponseT extends Message> {
  static final KeyFormat UUID_FORMAT = KeyFormat.uuid();

  private final String name;
  private final Optional<MethodDescriptor<?, ?>> method;
  private final List<String> problems = new ArrayList<>();
  private Optional<KeyPolicy> keyPolicy = Optional.empty();
  private Optional<KeySource> keySource = Optional.empty();
  private KeyFormat keyFormat = UUID_FORMAT;
  private Fingerprinter fingerprinter;
  private Optional<ResourceType> resourceType = Optional.empty();
  private Function<Message, Optional<UUID>> resourceId = response -> Optional.empty();
  private Optional<StatusResolver> statusResolver = Optional.empty();
  private Retention retention = new Retention(RetentionClass.INTERACTIVE::duration);
  private boolean retainedFromLastReplay;
  private Optional<OutagePolicy> outagePolicy = Optional.empty();
  private Execution execution = Execution.RESERVED;
  private InFlightPolicy inFlightPolicy = InFlightPolicy.refuse();
  private FailurePolicy failurePolicy = FailurePolicy.releaseAll();
  private Optional<ResponseProtection> responseProtection = Optional.empty();
  private Set<String> omittedFields = Set.of();
  private Optional<ReplayGuard> replayGuard = Optional.empty();

  ProcedureBuilder(String name, Optional<MethodDescriptor<?, ?>> method) {
    this.name = name;
    this.method = method;
    this.fingerprinter =
        method
            .flatMap(MessageTypes::request)
            .map(Fingerprinter::ofSchema)
            .orElseGet(Fingerprinter::wholeRequest);
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

  /**
   * Says whether calls carry a key. By default they may, and must if {@link #keyFrom} says where it
   * comes from.
   */
  public ProcedureBuilder<ResponseT> keyPolicy(KeyPolicy policy) {
    this.keyPolicy = Optional.of(policy);
    return this;
  }

  /**
   * Says where the key comes from, which makes the policy {@link KeyPolicy#DERIVED} unless another
   * is said.
   */
  public ProcedureBuilder<ResponseT> keyFrom(KeySource source) {
    this.keySource = Optional.of(source);
    return this;
  }

  /** Says how a key in the standard header must look; a UUID by default. */
  public ProcedureBuilder<ResponseT> keyFormat(KeyFormat format) {
    this.keyFormat = format;
    return this;
  }

  /**
   * Says what of the request must be the same on every retry. By default that is all of it, but for
   * the fields whose schema says otherwise ({@link Fingerprinter#ofSchema}); this overrides both.
   */
  public ProcedureBuilder<ResponseT> fingerprint(Fingerprinter fingerprinter) {
    this.fingerprinter = fingerprinter;
    return this;
  }

  /** Says how long a record answers retries. */
  public ProcedureBuilder<ResponseT> retention(Duration retention) {
    return retention(() -> retention);
  }

  /** Says how long a record answers retries. */
  public ProcedureBuilder<ResponseT> retention(RetentionClass retention) {
    return retention(retention::duration);
  }

  /**
   * Says how long a record answers retries; asked anew for every key, so that it can be changed
   * while the server runs. It must not block. A value that is not positive, or an exception, is
   * logged, and the last good value kept.
   */
  public ProcedureBuilder<ResponseT> retention(Supplier<Duration> retention) {
    this.retention = new Retention(retention);
    return this;
  }

  /** Lets every replay begin the retention anew, with its value of that moment. */
  public ProcedureBuilder<ResponseT> retainFromLastReplay() {
    this.retainedFromLastReplay = true;
    return this;
  }

  /**
   * Says what a keyed call gets during an outage of the store. By default it is served if the
   * procedure is plainly reserved, and refused where effect and record share a database.
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

  /** Says what keeps recorded answers, responses and errors, secret at rest. */
  public ProcedureBuilder<ResponseT> protect(ResponseProtection protection) {
    this.responseProtection = Optional.of(protection);
    return this;
  }

  /**
   * Says which fields of the response are not recorded, by their paths; within a repeated message,
   * those of every element.
   */
  public ProcedureBuilder<ResponseT> omit(String... paths) {
    this.omittedFields = Set.copyOf(List.of(paths));
    return this;
  }

  /** Says who decides whether an answer may be replayed. */
  public ProcedureBuilder<ResponseT> guard(ReplayGuard guard) {
    this.replayGuard = Optional.of(guard);
    return this;
  }

  /** Keeps a problem of the descriptor's source, to be told with all others. */
  void problem(String problem) {
    problems.add(problem);
  }

  /** Returns the descriptor. It is checked when a server is built with it. */
  public Procedure build() {
    return new Built(
        name,
        method,
        List.copyOf(problems),
        keyPolicy.orElse(keySource.isPresent() ? KeyPolicy.DERIVED : KeyPolicy.OPTIONAL),
        keySource,
        keyFormat,
        fingerprinter,
        resourceType,
        resourceId,
        statusResolver,
        retention,
        retainedFromLastReplay,
        outagePolicy.orElse(OutagePolicy.of(execution)),
        execution,
        inFlightPolicy,
        failurePolicy,
        responseProtection,
        omittedFields,
        replayGuard);
  }

  @SuppressWarnings("unchecked") // the method's own marshaller made the response
  private ResponseT castResponse(Message response) {
    return (ResponseT) response;
  }

  private record Built(
      String name,
      Optional<MethodDescriptor<?, ?>> method,
      List<String> problems,
      KeyPolicy keyPolicy,
      Optional<KeySource> keySource,
      KeyFormat keyFormat,
      Fingerprinter fingerprinter,
      Optional<ResourceType> resourceType,
      Function<Message, Optional<UUID>> resourceIdFunction,
      Optional<StatusResolver> statusResolver,
      Retention retentionSetting,
      boolean retainedFromLastReplay,
      OutagePolicy outagePolicy,
      Execution execution,
      InFlightPolicy inFlightPolicy,
      FailurePolicy failurePolicy,
      Optional<ResponseProtection> responseProtection,
      Set<String> omittedFields,
      Optional<ReplayGuard> replayGuard)
      implements Procedure {
    @Override
    public Optional<UUID> resourceId(Message response) {
      return resourceIdFunction.apply(response);
    }

    @Override
    public Duration retention() {
      return retentionSetting.current();
    }
  }
}
