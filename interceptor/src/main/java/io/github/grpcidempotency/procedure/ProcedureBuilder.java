package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.key.internal.FieldPath;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.resource.StatusSource;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Builds a {@link Procedure}. Its methods give the defaults. Not thread-safe.
 *
 * @param <ResponseT> the method's response type
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

  final String name;
  final Optional<MethodDescriptor<?, ?>> method;
  private final List<String> problems = new ArrayList<>();
  Optional<KeyPolicy> keyPolicy = Optional.empty();
  Optional<KeySource> keySource = Optional.empty();
  KeyFormat keyFormat = UUID_FORMAT;
  Fingerprinter fingerprinter;
  Optional<ResourceType> resourceType = Optional.empty();
  Function<Message, Optional<ResourceId>> resourceId = response -> Optional.empty();
  private boolean creates;
  Optional<Function<Message, Optional<ResourceId>>> deletedId = Optional.empty();
  Optional<String> integerIdField = Optional.empty();
  Optional<BiFunction<Caller, ResourceId, ? extends Optional<? extends Message>>>
      responseRebuilder = Optional.empty();
  Optional<StatusSource> statusSource = Optional.empty();
  Retention retention = new Retention(() -> Retention.DEFAULT);
  boolean retainedFromLastReplay;
  Optional<OutagePolicy> outagePolicy = Optional.empty();
  Optional<Execution> execution = Optional.empty();
  boolean claimsAtCommit;
  Duration attachLimit = Duration.ZERO;
  FailurePolicy failurePolicy = FailurePolicy.releaseAll();
  Optional<Duration> unansweredLimit = Optional.empty();
  Optional<ResponseProtection> responseProtection = Optional.empty();
  Set<String> omittedFields = Set.of();
  int maxRecordedBytes = MAX_RECORDED_BYTES;
  Optional<BiPredicate<Caller, Optional<ResourceId>>> replayGuard = Optional.empty();

  ProcedureBuilder(String name, Optional<MethodDescriptor<?, ?>> method) {
    this.name = name;
    this.method = method;
    this.fingerprinter =
        method
            .flatMap(MethodSchema::request)
            .map(Fingerprinter::ofSchema)
            .orElseGet(Fingerprinter::wholeRequest);
  }

  /**
   * Sets the type of the created resource, and the field of the response that contains its id.
   *
   * @param idField the path of a string or integer field: field names joined by dots
   */
  public ProcedureBuilder<ResponseT> resource(ResourceType type, String idField) {
    return creating(type, idIn(idField, method.flatMap(MethodSchema::response), "creates"));
  }

  /**
   * Sets the type of the created resource, and a function that returns its id from the response. If
   * the function throws, the record has no reference to the resource, and the response is sent
   * unchanged.
   */
  public ProcedureBuilder<ResponseT> resource(
      ResourceType type, Function<? super ResponseT, ResourceId> id) {
    this.integerIdField = Optional.empty();
    return creating(type, response -> Optional.ofNullable(id.apply(castResponse(response))));
  }

  private ProcedureBuilder<ResponseT> creating(
      ResourceType type, Function<Message, Optional<ResourceId>> id) {
    this.resourceType = Optional.of(type);
    this.resourceId = id;
    this.creates = true;
    return this;
  }

  /**
   * Sets the type of the deleted resource, and the field of the request that contains its id.
   *
   * @param idField the path of a string or integer field: field names joined by dots
   */
  public ProcedureBuilder<ResponseT> deletes(ResourceType type, String idField) {
    return deleting(type, idIn(idField, method.flatMap(MethodSchema::request), "deletes"));
  }

  /**
   * Sets the type of the deleted resource, and a function that returns its id from the request, for
   * example if the id is part of a name. The record refers to the resource only while its row
   * exists, for example after a soft deletion.
   */
  public ProcedureBuilder<ResponseT> deletes(ResourceType type, Function<Message, ResourceId> id) {
    this.integerIdField = Optional.empty();
    return deleting(type, request -> Optional.ofNullable(id.apply(request)));
  }

  private ProcedureBuilder<ResponseT> deleting(
      ResourceType type, Function<Message, Optional<ResourceId>> id) {
    this.resourceType = Optional.of(type);
    this.deletedId = Optional.of(id);
    return this;
  }

  /** Returns a function that reads an id from a field. Adds a problem if the field has no id. */
  private Function<Message, Optional<ResourceId>> idIn(
      String path, Optional<Descriptor> messages, String verb) {
    Optional<FieldPath> known = messages.flatMap(type -> idField(type, path));
    messages
        .filter(type -> known.isEmpty())
        .ifPresent(
            type ->
                problem(
                    ("the id of the resource that it %s: \"%s\" is not a singular string or"
                            + " integer field of %s")
                        .formatted(verb, path, type.getFullName())));
    this.integerIdField =
        known.filter(FieldPath::isSingularInteger).map(field -> field.type() + " " + path);
    return message ->
        known
            .or(() -> idField(message.getDescriptorForType(), path))
            .flatMap(field -> readId(field, message));
  }

  private static Optional<FieldPath> idField(Descriptor message, String path) {
    return FieldPath.of(message, path)
        .filter(field -> field.isSingular(JavaType.STRING) || field.isSingularInteger());
  }

  /** Returns the id in a message; empty if the field is not set, 0, or no valid id. */
  private static Optional<ResourceId> readId(FieldPath field, Message message) {
    try {
      return field
          .readText(message)
          .filter(id -> !(field.isSingularInteger() && id.equals("0")))
          .map(ResourceId::of);
    } catch (IllegalArgumentException noId) {
      return Optional.empty();
    }
  }

  /** Sets the resolver of the resource's status. */
  public ProcedureBuilder<ResponseT> status(StatusResolver resolver) {
    return status((StatusSource) resolver);
  }

  /** Sets the source of the resource's status: an {@link OutboxQuery} or a resolver. */
  public ProcedureBuilder<ResponseT> status(StatusSource source) {
    this.statusSource = Optional.of(source);
    return this;
  }

  /**
   * Sets whether calls carry a key. Optional by default, and {@link KeyPolicy#REQUIRED} with {@link
   * #keyFrom}.
   */
  public ProcedureBuilder<ResponseT> keyPolicy(KeyPolicy policy) {
    this.keyPolicy = Optional.of(policy);
    return this;
  }

  /**
   * Sets the source of the key. The key policy becomes {@link KeyPolicy#REQUIRED}, unless you set
   * another.
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
   * Sets the rules for comparing the request of a retry with the first request. The default is
   * {@link Fingerprinter#ofSchema}: the whole request, without fields that its schema excludes.
   */
  public ProcedureBuilder<ResponseT> fingerprint(Fingerprinter fingerprinter) {
    this.fingerprinter = fingerprinter;
    return this;
  }

  /** Sets how long a record answers retries; 24 hours by default. */
  public ProcedureBuilder<ResponseT> retention(Duration retention) {
    return retention(() -> retention);
  }

  /**
   * Sets how long a record answers retries. The supplier is called for every new key, so the value
   * can change while the server runs. It must not block. If it throws or returns a value out of
   * range, a warning is logged and the last valid value is used.
   */
  public ProcedureBuilder<ResponseT> retention(Supplier<Duration> retention) {
    this.retention = new Retention(retention);
    return this;
  }

  /**
   * Restarts the retention on every replay, with the value at that time; by default it counts from
   * the record's creation. A replay then writes to the store, unless less than a tenth of the
   * retention has passed.
   */
  public ProcedureBuilder<ResponseT> retainFromLastReplay() {
    this.retainedFromLastReplay = true;
    return this;
  }

  /**
   * Sets what happens to a call with a key during an outage of the store. By default an {@link
   * Execution#RESERVED} procedure with an optional key fails open, because such a service would
   * also run without the library, and every other procedure fails closed. A transactional procedure
   * cannot fail open.
   */
  public ProcedureBuilder<ResponseT> outage(OutagePolicy policy) {
    this.outagePolicy = Optional.of(policy);
    return this;
  }

  /**
   * Sets how the handler's effect and its record are committed. There is no default: a server with
   * a procedure that needs an execution and has none does not start.
   */
  public ProcedureBuilder<ResponseT> execution(Execution execution) {
    this.execution = Optional.of(execution);
    return this;
  }

  /** Sets the execution if the procedure needs one and none was set. */
  ProcedureBuilder<ResponseT> defaultExecution(Supplier<Optional<Execution>> choice) {
    if (keyPolicy.map(ProcedureBuilder::needsExecution).orElse(true)) {
      this.execution = execution.or(choice);
    }
    return this;
  }

  /**
   * Claims the key of a {@link Execution#TRANSACTIONAL} call together with its commit, so that the
   * claim needs no round trip: the record itself is the claim. By default, the key is claimed
   * before the handler, and a duplicate never starts a handler.
   *
   * <p>A duplicate that is not marked as a retry may run its handler as well; its transaction is
   * then rolled back, and the call gets the answer that was recorded. For handlers whose effects
   * are all in their transaction, and which do not need {@code app.current_user_id}.
   */
  public ProcedureBuilder<ResponseT> claimAtCommit() {
    this.claimsAtCommit = true;
    return this;
  }

  /**
   * Lets a duplicate wait for the answer of a running call, for this time at most, and within its
   * own deadline. If the running call leaves no answer, the duplicate runs. A waiting call holds
   * neither a thread nor a connection. Zero, the default, refuses a duplicate at once, with the
   * time of the next retry.
   *
   * @throws IllegalArgumentException if it is negative, or longer than 36,500 days
   */
  public ProcedureBuilder<ResponseT> attach(Duration limit) {
    if (limit.isNegative() || limit.compareTo(Retention.MOST) > 0) {
      throw new IllegalArgumentException(
          "the time that a duplicate waits must be 0 to 36500 days, not " + limit);
    }
    this.attachLimit = limit;
    return this;
  }

  /**
   * Sets how long a handler that has returned without an answer keeps its key after its call was
   * cancelled, or its deadline has passed, and while no duplicate waits for it; the store's lease
   * by default. Set it for handlers that answer from another thread and take longer than their
   * clients wait. A handler whose method has not returned keeps its key in any case, up to the
   * interceptor's {@code callLimit}.
   *
   * @throws IllegalArgumentException if it is not positive, or more than 365 days
   */
  public ProcedureBuilder<ResponseT> unansweredLimit(Duration limit) {
    if (limit.isNegative() || limit.isZero() || limit.compareTo(Duration.ofDays(365)) > 0) {
      throw new IllegalArgumentException(
          "the unanswered limit must be positive and at most 365 days, not " + limit);
    }
    this.unansweredLimit = Optional.of(limit);
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
   * of every element. Replays list them in the trailer {@code idempotency-omitted}.
   */
  public ProcedureBuilder<ResponseT> omit(String... paths) {
    this.omittedFields = Set.copyOf(List.of(paths));
    return this;
  }

  /**
   * Sets the maximum size of a recorded response in bytes, without the fields that are {@linkplain
   * #omit omitted} and before encryption; 1 MiB by default. If a transactional handler answers with
   * a larger response, or a handler records a larger response in its own transaction, the
   * transaction is rolled back. For any other handler, the client gets the answer, but only the
   * fact is recorded that the call was answered: a retry does not run the handler again, and is
   * refused with {@code IDEMPOTENCY_ANSWER_TOO_LARGE}. For large responses, use {@link #omit} or
   * {@link #rebuild}.
   *
   * @throws IllegalArgumentException if the size is not positive
   */
  public ProcedureBuilder<ResponseT> maxRecordedBytes(int bytes) {
    if (bytes <= 0) {
      throw new IllegalArgumentException("maxRecordedBytes must be positive, not " + bytes);
    }
    this.maxRecordedBytes = bytes;
    return this;
  }

  /**
   * Records a reference to the resource instead of the response, and sets the rebuilder, which
   * rebuilds the response from the resource: for answers that are too large to record, or that
   * should show the current state. Needs {@link #resource}. A response without a resource id is
   * recorded itself.
   *
   * @param rebuilder returns the response for the current state of the resource; empty if the
   *     resource does not exist any more. Called on the thread of the replay, with the gRPC {@code
   *     Context} of the call; it may read a database. If it throws, the client gets {@code
   *     UNAVAILABLE} and may retry, and the record stays. The cause in the error is that of a
   *     {@link io.github.grpcidempotency.store.StoreException}, otherwise {@code other}
   */
  public ProcedureBuilder<ResponseT> rebuild(
      BiFunction<Caller, ResourceId, Optional<ResponseT>> rebuilder) {
    this.responseRebuilder = Optional.of(rebuilder);
    return this;
  }

  /**
   * Sets the guard that decides whether the caller may still get a recorded answer, because the
   * caller may have lost the rights since; by default every answer may be replayed.
   *
   * @param guard called before every replay, with the call's gRPC {@code Context} current. It may
   *     block as a handler may. The resource is the one that the record refers to; empty if there
   *     is none, or if it has been deleted. An exception is logged, and the replay is denied. If
   *     the guard cannot read the rights, it should throw a {@link
   *     io.github.grpcidempotency.store.StoreException}: the call is then refused with {@code
   *     UNAVAILABLE}, and the client can retry
   */
  public ProcedureBuilder<ResponseT> guard(BiPredicate<Caller, Optional<ResourceId>> guard) {
    this.replayGuard = Optional.of(guard);
    return this;
  }

  void problem(String problem) {
    problems.add(problem);
  }

  /** Returns the descriptor. It is checked when an interceptor is built with it. */
  public Procedure build() {
    return new Procedure(this);
  }

  KeyPolicy effectiveKeyPolicy() {
    return keyPolicy.orElse(keySource.isPresent() ? KeyPolicy.REQUIRED : KeyPolicy.OPTIONAL);
  }

  List<String> problems() {
    List<String> all = new ArrayList<>(problems);
    if (execution.isEmpty() && needsExecution(effectiveKeyPolicy())) {
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

  @SuppressWarnings("unchecked") // the method's own marshaller made the response
  private ResponseT castResponse(Message response) {
    return (ResponseT) response;
  }
}
