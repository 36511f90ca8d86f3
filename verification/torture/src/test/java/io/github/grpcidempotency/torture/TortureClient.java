package io.github.grpcidempotency.torture;

import static io.github.grpcidempotency.grpc.IdempotencyMetadata.KEY;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.REPLAYED;

import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.Durations;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.History.Session;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Makes calls, and records their results. */
final class TortureClient {
  private static final int IMPATIENT_PERCENT = 30;
  private static final Metadata.Key<String> OPERATION =
      Metadata.Key.of(WireNames.OPERATION, Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> RETRY =
      Metadata.Key.of(WireNames.RETRY, Metadata.ASCII_STRING_MARSHALLER);

  private final Duration lease;
  private final Plan.Mix mix;
  private final ScheduledExecutorService timer;

  /** The names of operations, by what they are of, as trailers gave them. */
  private final Map<Operation, String> names = new ConcurrentHashMap<>();

  private final Map<UUID, Answer> answers = new ConcurrentHashMap<>();
  private final Queue<Call> made = new ConcurrentLinkedQueue<>();
  private final AtomicLong count = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong replayed = new AtomicLong();

  TortureClient(Duration lease, Plan.Mix mix, ScheduledExecutorService timer) {
    this.lease = lease;
    this.mix = mix;
    this.timer = timer;
  }

  /** Returns the calls that have ended. */
  Queue<Call> made() {
    return made;
  }

  /** Returns how many calls have ended so far. */
  long count() {
    return count.get();
  }

  /** Returns how many calls were replayed so far. */
  long replayed() {
    return replayed.get();
  }

  /** Returns how many calls were answered so far. */
  long answered() {
    return answered.get();
  }

  /** Makes a call. */
  CompletableFuture<Call> call(Purpose purpose, Operation operation, ServerNode server) {
    return new OneCall(purpose, operation, server).start();
  }

  /** Makes a call, and cancels it after a while if it has not ended by then. */
  CompletableFuture<Call> callAndCancel(
      Purpose purpose, Operation operation, ServerNode server, long afterMillis) {
    OneCall call = new OneCall(purpose, operation, server);
    CompletableFuture<Call> ended = call.start();
    var unused = timer.schedule(call::cancel, afterMillis, TimeUnit.MILLISECONDS);
    return ended;
  }

  /** Waits for an operation by its name, if that is known. */
  Optional<CompletableFuture<Call>> await(Operation operation, ServerNode server) {
    return Optional.ofNullable(names.get(operation))
        .map(name -> new OneWait(name, operation, server).start());
  }

  private Session session(Purpose purpose, Form form) {
    boolean hasRight = purpose == Purpose.PROBE || !form.isGuarded() || !chance(mix.withoutRight());
    if (purpose == Purpose.PROBE || purpose == Purpose.WAIT) {
      return new Session(Manner.ORDINARY, hasRight);
    }
    for (Map.Entry<Manner, Integer> manner : mix.manners().entrySet()) {
      if (form.knows(manner.getKey()) && chance(manner.getValue())) {
        return new Session(manner.getKey(), hasRight);
      }
    }
    return new Session(Manner.ORDINARY, hasRight);
  }

  private static boolean chance(int percent) {
    return ThreadLocalRandom.current().nextInt(100) < percent;
  }

  private static Metadata headers(Operation operation, Session session) {
    Metadata headers = new Metadata();
    headers.put(TortureServer.USER, operation.scope().user().toString());
    headers.put(TortureServer.TENANT, operation.scope().tenant());
    headers.put(KEY, operation.scope().sent());
    headers.put(TortureServer.MANNER, session.manner().name());
    if (!session.hasRight()) {
      headers.put(TortureServer.WITHOUT_RIGHT, "true");
    }
    return headers;
  }

  private void made(Call call) {
    made.add(call);
    count.incrementAndGet();
    if (call.isOk()) {
      answered.incrementAndGet();
    }
    if (call.replayed()) {
      replayed.incrementAndGet();
    }
  }

  /** Some clients give up before a lease has ended, or much sooner, and try again. */
  private Duration deadline(Purpose purpose) {
    boolean works = purpose == Purpose.WORK || purpose == Purpose.RETRY;
    if (works && chance(mix.hurried())) {
      return lease.dividedBy(10);
    }
    boolean impatient = works && chance(IMPATIENT_PERCENT);
    return impatient ? lease.multipliedBy(3).dividedBy(4) : lease.multipliedBy(3);
  }

  private final class OneCall extends ClientCall.Listener<Effect> {
    private final Purpose purpose;
    private final Operation operation;
    private final ServerNode server;
    private final Session session;
    private final Duration deadline;
    private final ClientCall<EffectRequest, Effect> call;
    private final long start = System.currentTimeMillis();
    private final CompletableFuture<Call> ended = new CompletableFuture<>();
    private volatile boolean cancelled;
    private Optional<Answer> answer = Optional.empty();

    OneCall(Purpose purpose, Operation operation, ServerNode server) {
      this.purpose = purpose;
      this.operation = operation;
      this.server = server;
      this.session = session(purpose, operation.form());
      this.deadline = deadline(purpose);
      this.call =
          server
              .channel()
              .newCall(
                  operation.form().method(),
                  CallOptions.DEFAULT.withDeadlineAfter(
                      deadline.toMillis(), TimeUnit.MILLISECONDS));
    }

    CompletableFuture<Call> start() {
      Metadata headers = headers(operation, session);
      if (purpose == Purpose.RETRY) {
        headers.put(RETRY, "true");
      }
      call.start(this, headers);
      call.request(2);
      call.sendMessage(operation.request());
      call.halfClose();
      return ended;
    }

    void cancel() {
      cancelled = !ended.isDone();
      call.cancel("changed its mind", null);
    }

    @Override
    public void onMessage(Effect effect) {
      answer = Optional.of(alike(Answer.of(effect)));
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      Call result =
          new Call(
              purpose,
              operation,
              server.index(),
              start,
              System.currentTimeMillis(),
              start + deadline.toMillis(),
              cancelled,
              status.getCode(),
              reason(status, trailers),
              "true".equals(trailers.get(REPLAYED)),
              status.isOk() ? answer : Optional.empty(),
              session);
      String name = trailers.get(OPERATION);
      if (name != null && operation.form() == Form.GUARDED) {
        names.put(operation, name);
      }
      made(result);
      ended.complete(result);
    }
  }

  /** One call of {@code WaitOperation}. */
  private final class OneWait implements StreamObserver<com.google.longrunning.Operation> {
    private final String name;
    private final Operation operation;
    private final ServerNode server;
    private final Session session;
    private final long start = System.currentTimeMillis();
    private final CompletableFuture<Call> ended = new CompletableFuture<>();
    private com.google.longrunning.Operation found =
        com.google.longrunning.Operation.getDefaultInstance();

    OneWait(String name, Operation operation, ServerNode server) {
      this.name = name;
      this.operation = operation;
      this.server = server;
      this.session = session(Purpose.WAIT, operation.form());
    }

    CompletableFuture<Call> start() {
      OperationsGrpc.newStub(server.channel())
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers(operation, session)))
          .withDeadlineAfter(3 * lease.toMillis(), TimeUnit.MILLISECONDS)
          .waitOperation(
              WaitOperationRequest.newBuilder()
                  .setName(name)
                  .setTimeout(Durations.fromMillis(lease.toMillis() * 3 / 2))
                  .build(),
              this);
      return ended;
    }

    @Override
    public void onNext(com.google.longrunning.Operation operationNow) {
      found = operationNow;
    }

    @Override
    public void onError(Throwable failure) {
      Metadata trailers = Status.trailersFromThrowable(failure);
      Status status = Status.fromThrowable(failure);
      end(
          status.getCode(),
          reason(status, trailers == null ? new Metadata() : trailers),
          Optional.empty());
    }

    @Override
    public void onCompleted() {
      if (found.hasError()) {
        Status.Code code = Status.fromCodeValue(found.getError().getCode()).getCode();
        end(
            code,
            code == Status.Code.FAILED_PRECONDITION
                ? found.getError().getMessage()
                : reason(found.getError()),
            Optional.empty());
      } else if (found.getDone()) {
        end(Status.Code.OK, "", Optional.of(alike(Answer.of(unpacked()))));
      } else {
        end(Status.Code.UNAVAILABLE, "not done", Optional.empty());
      }
    }

    private Effect unpacked() {
      try {
        return found.getResponse().unpack(Effect.class);
      } catch (InvalidProtocolBufferException wrong) {
        throw new IllegalStateException(wrong);
      }
    }

    private void end(Status.Code code, String reason, Optional<Answer> answer) {
      Call result =
          new Call(
              Purpose.WAIT,
              operation,
              server.index(),
              start,
              System.currentTimeMillis(),
              start + 3 * lease.toMillis(),
              false,
              code,
              reason,
              false,
              answer,
              session);
      made(result);
      ended.complete(result);
    }
  }

  /**
   * Returns an equal answer that is already kept, if there is one: all answers of a key are alike.
   */
  private Answer alike(Answer answer) {
    Answer kept = answers.putIfAbsent(answer.value(), answer);
    return answer.equals(kept) ? kept : answer;
  }

  /** Returns what distinguishes one error from another. */
  private static String reason(Status status, Metadata trailers) {
    if (status.getCode() == Status.Code.FAILED_PRECONDITION) {
      return String.valueOf(status.getDescription());
    }
    com.google.rpc.Status rich = StatusProto.fromStatusAndTrailers(status, trailers);
    return rich == null || status.isOk() ? "" : reason(rich);
  }

  private static String reason(com.google.rpc.Status rich) {
    try {
      for (Any detail : rich.getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          return detail.unpack(ErrorInfo.class).getReason().intern();
        }
      }
      return "";
    } catch (InvalidProtocolBufferException wrong) {
      throw new IllegalStateException(wrong);
    }
  }
}
