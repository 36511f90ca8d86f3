package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.field.FieldPath;
import io.github.grpcidempotency.internal.method.MessageTypes;
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
 * Builds a {@link Procedure}. Settings that are left out have the defaults of the interface. Not
 * thread-safe.
 *
 * @param <ResponseT> the method's response
 */
public final class ProcedureBuilder<ResponseT extends Message> {
  static final KeyFormat UUID_FORMAT = KeyFormat.uuid();
  static final int MAX_RECORDED_BYTES = 1 << 20;

  private static final String NO_EXECUTION =
      """
      it has no execution; choose one of
          .execution(Execution.TRANSACTIONAL), or execution: EXECUTION_TRANSACTIONAL in its option, if \
      its handler only writes to the store's database: effect and record are one commit
          .execution(Execution.RESERVED), or execution: EXECUTION_RESERVED in its option, for any other \
      handler: after a crash between effect and record, a retry runs the handler again\
      """;

  private final String name;
  private final Optional<MethodDescriptor<?, ?>> method;
  private final List<String> problems = new ArrayList<>();
  private Optional<KeyPolicy> keyPolicy = Optional.empty();
  private Optional<KeySource> keySource = Optional.empty();
  private KeyFormat keyFormat = UUID_FORMAT;
  private Fingerprinter fingerprinter;
  private Optional<ResourceType> resourceType = Optional.empty();
  private Function<Message, Optional<UUID>> resourceId = response -> Optional.empty();
  private boolean creates;
  private Optional<Function<Message, Optional<UUID>>> deletedId = Optional.empty();
  private Optional<PastResources> pastResources = Optional.empty();
  private Optional<ResponseRebuilder> responseRebuilder = Optional.empty();
  private Optional<StatusResolver> statusResolver = Optional.empty();
  private Retention retention = new Retention(() -> Retention.DEFAULT);
  private boolean retainedFromLastReplay;
  private Optional<OutagePolicy> outagePolicy = Optional.empty();
  private Optional<Execution> execution = Optional.empty();
  private Optional<ClaimTiming> claimTiming = Optional.empty();
  private InFlightPolicy inFlightPolicy = InFlightPolicy.refuse();
  private FailurePolicy failurePolicy = FailurePolicy.releaseAll();
  private Optional<ResponseProtection> responseProtection = Optional.empty();
  private Set<String> omittedFields = Set.of();
  private int maxRecordedBytes = MAX_RECORDED_BYTES;
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

  /** Sets the type of the created resource, and how to get its id from the response. */
  public ProcedureBuilder<ResponseT> resource(
      ResourceType type, Function<? super ResponseT, UUID> id) {
    this.resourceType = Optional.of(type);
    this.resourceId = response -> Optional.ofNullable(id.apply(castResponse(response)));
    this.creates = true;
    return this;
  }

  /**
   * Sets the type of the deleted resource, and which field of the request holds its id.
   *
   * @param idField a path of field names joined by dots, to a string that holds a UUID
   */
  public ProcedureBuilder<ResponseT> deletes(ResourceType type, String idField) {
    method
        .flatMap(MessageTypes::request)
        .filter(request -> stringField(request, idField).isEmpty())
        .ifPresent(
            request ->
                problem(
                    ("the id of the resource that it deletes: \"%s\" is not a singular string"
                            + " field of %s")
                        .formatted(idField, request.getFullName())));
    return deleting(type, request -> deletedId(request, idField));
  }

  /**
   * Sets the type of the deleted resource, and how to get its id from the request: where it is part
   * of a name, for example.
   */
  public ProcedureBuilder<ResponseT> deletes(ResourceType type, Function<Message, UUID> id) {
    return deleting(type, request -> Optional.ofNullable(id.apply(request)));
  }

  private ProcedureBuilder<ResponseT> deleting(
      ResourceType type, Function<Message, Optional<UUID>> id) {
    this.resourceType = Optional.of(type);
    this.deletedId = Optional.of(id);
    return this;
  }

  /** Sets who knows what was deleted before. Needs {@link #deletes}. */
  public ProcedureBuilder<ResponseT> pastResources(PastResources past) {
    this.pastResources = Optional.of(past);
    return this;
  }

  /** Sets the resolver of the resource's status. */
  public ProcedureBuilder<ResponseT> status(StatusResolver resolver) {
    this.statusResolver = Optional.of(resolver);
    return this;
  }

  /**
   * Sets whether calls carry a key. Optional by default, and {@link KeyPolicy#DERIVED} with {@link
   * #keyFrom}.
   */
  public ProcedureBuilder<ResponseT> keyPolicy(KeyPolicy policy) {
    this.keyPolicy = Optional.of(policy);
    return this;
  }

  /**
   * Sets where the key comes from, which makes the policy {@link KeyPolicy#DERIVED} unless you set
   * one.
   */
  public ProcedureBuilder<ResponseT> keyFrom(KeySource source) {
    this.keySource = Optional.of(source);
    return this;
  }

  /** Sets the format of a key in the standard header; a UUID by default. */
  public ProcedureBuilder<ResponseT> keyFormat(KeyFormat format) {
    this.keyFormat = format;
    return this;
  }

  /**
   * Sets the rules by which a retry's request must be equal to the first one. The default is {@link
   * Fingerprinter#ofSchema}: the whole request, without fields that its schema leaves out.
   */
  public ProcedureBuilder<ResponseT> fingerprint(Fingerprinter fingerprinter) {
    this.fingerprinter = fingerprinter;
    return this;
  }

  /** Sets how long a record answers retries. */
  public ProcedureBuilder<ResponseT> retention(Duration retention) {
    return retention(() -> retention);
  }

  /**
   * Sets how long a record answers retries. The supplier is called for every new key, so the value
   * can change while the server runs. It must not block. If it throws or returns a value out of
   * range, that is logged and the last good value is used.
   */
  public ProcedureBuilder<ResponseT> retention(Supplier<Duration> retention) {
    this.retention = new Retention(retention);
    return this;
  }

  /** Restarts the retention on every replay, with the value of that moment. */
  public ProcedureBuilder<ResponseT> retainFromLastReplay() {
    this.retainedFromLastReplay = true;
    return this;
  }

  /**
   * Sets what happens to a call with a key during an outage of the store. By default an {@link
   * Execution#RESERVED} procedure whose key is optional fails open, as its service would go on
   * without the library, and every other procedure fails closed.
   */
  public ProcedureBuilder<ResponseT> outage(OutagePolicy policy) {
    this.outagePolicy = Optional.of(policy);
    return this;
  }

  /**
   * Sets how the handler's effect and its record are committed. There is no default: a procedure
   * with a key and without an execution is a problem.
   */
  public ProcedureBuilder<ResponseT> execution(Execution execution) {
    this.execution = Optional.of(execution);
    return this;
  }

  /** Sets the execution if one is needed, and none was set before. */
  ProcedureBuilder<ResponseT> defaultExecution(Supplier<Optional<Execution>> choice) {
    if (keyPolicy.map(ProcedureBuilder::needsExecution).orElse(true)) {
      this.execution = execution.or(choice);
    }
    return this;
  }

  /**
   * Sets when the key of a transactional call is claimed. By default the interceptor says so, for
   * all its transactional procedures.
   */
  public ProcedureBuilder<ResponseT> claim(ClaimTiming timing) {
    this.claimTiming = Optional.of(timing);
    return this;
  }

  /** Sets what happens to a duplicate while the first call is running; it is refused by default. */
  public ProcedureBuilder<ResponseT> inFlight(InFlightPolicy policy) {
    this.inFlightPolicy = policy;
    return this;
  }

  /** Sets what the handler's errors mean for the key; by default every error frees it. */
  public ProcedureBuilder<ResponseT> failures(FailurePolicy policy) {
    this.failurePolicy = policy;
    return this;
  }

  /** Sets the encryption of recorded responses and errors; none by default. */
  public ProcedureBuilder<ResponseT> protect(ResponseProtection protection) {
    this.responseProtection = Optional.of(protection);
    return this;
  }

  /**
   * Sets the paths of response fields that are not recorded; within a repeated message, the field
   * of every element.
   */
  public ProcedureBuilder<ResponseT> omit(String... paths) {
    this.omittedFields = Set.copyOf(List.of(paths));
    return this;
  }

  /**
   * Sets how many bytes of a response are recorded at most, without the fields that are {@linkplain
   * #omit omitted} and before it is encrypted; 1 MiB by default. If a transactional handler answers
   * with a larger response, or a handler records one in its own transaction, the transaction is
   * rolled back. If any other handler does, the client gets its answer, which is recorded without
   * the response: a retry does not run the handler again, and is refused with {@code
   * IDEMPOTENCY_ANSWER_TOO_LARGE}. For large responses, use {@link #omit} or {@link #rebuild}.
   *
   * @throws IllegalArgumentException if it is not positive
   */
  public ProcedureBuilder<ResponseT> maxRecordedBytes(int bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("maxRecordedBytes must be positive, not " + bytes);
    }
    this.maxRecordedBytes = bytes;
    return this;
  }

  /**
   * Records a reference to the resource instead of the response, and sets who makes the response
   * again from it. Needs {@link #resource}. A response that names no resource is recorded itself.
   */
  public ProcedureBuilder<ResponseT> rebuild(ResponseRebuilder rebuilder) {
    this.responseRebuilder = Optional.of(rebuilder);
    return this;
  }

  /** Sets the guard that decides whether an answer may be replayed. */
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
    KeyPolicy policy =
        keyPolicy.orElse(keySource.isPresent() ? KeyPolicy.DERIVED : KeyPolicy.OPTIONAL);
    Execution committed = execution.orElse(Execution.RESERVED);
    return new Built(
        name,
        method,
        allProblems(policy),
        policy,
        keySource,
        keyFormat,
        fingerprinter,
        resourceType,
        resourceId,
        deletedId,
        pastResources,
        responseRebuilder,
        statusResolver,
        retention,
        retainedFromLastReplay,
        outagePolicy.orElse(OutagePolicy.of(committed, policy)),
        committed,
        claimTiming,
        inFlightPolicy,
        failurePolicy,
        responseProtection,
        omittedFields,
        maxRecordedBytes,
        replayGuard);
  }

  private List<String> allProblems(KeyPolicy policy) {
    List<String> all = new ArrayList<>(problems);
    if (execution.isEmpty() && needsExecution(policy)) {
      all.add(NO_EXECUTION);
    }
    if (creates && deletedId.isPresent()) {
      all.add(
          "it has both a resource that it creates and a resource that it deletes: remove one"
              + " of them");
    }
    return List.copyOf(all);
  }

  private static boolean needsExecution(KeyPolicy policy) {
    return policy != KeyPolicy.HANDLER_INTERNAL && policy != KeyPolicy.PROHIBITED;
  }

  private static Optional<FieldPath> stringField(Descriptor type, String path) {
    return FieldPath.of(type, path).filter(found -> found.isSingular(JavaType.STRING));
  }

  private static Optional<UUID> deletedId(Message request, String idField) {
    return stringField(request.getDescriptorForType(), idField)
        .flatMap(path -> path.read(request))
        .flatMap(id -> uuid((String) id));
  }

  /** Clients send what they like, and what is no id names nothing. */
  private static Optional<UUID> uuid(String text) {
    try {
      return Optional.of(UUID.fromString(text));
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
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
      Optional<Function<Message, Optional<UUID>>> deletedIdFunction,
      Optional<PastResources> pastResources,
      Optional<ResponseRebuilder> responseRebuilder,
      Optional<StatusResolver> statusResolver,
      Retention retentionSetting,
      boolean retainedFromLastReplay,
      OutagePolicy outagePolicy,
      Execution execution,
      Optional<ClaimTiming> claimTiming,
      InFlightPolicy inFlightPolicy,
      FailurePolicy failurePolicy,
      Optional<ResponseProtection> responseProtection,
      Set<String> omittedFields,
      int maxRecordedBytes,
      Optional<ReplayGuard> replayGuard)
      implements Procedure {
    @Override
    public Optional<UUID> resourceId(Message response) {
      return resourceIdFunction.apply(response);
    }

    @Override
    public boolean deletes() {
      return deletedIdFunction.isPresent();
    }

    @Override
    public Optional<UUID> deletedId(Message request) {
      return deletedIdFunction.flatMap(id -> id.apply(request));
    }

    @Override
    public Duration retention() {
      return retentionSetting.current();
    }
  }
}
