package io.github.grpcidempotency.torture;

import com.google.common.base.Strings;
import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.store.ClaimLostException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.github.grpcidempotency.torture.v1.HogRequest;
import io.github.grpcidempotency.torture.v1.Hogged;
import io.github.grpcidempotency.torture.v1.TortureServiceGrpc;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/** Writes effects, slowly, and sometimes fails. */
final class TortureService extends TortureServiceGrpc.TortureServiceImplBase {
  private static final int MAX_TRIES = 5;
  private static final Status OUT_OF_TIME =
      Status.RESOURCE_EXHAUSTED.withDescription("the handler's time is over");
  private static final String UNIQUE_VIOLATION = "23505";
  private static final Status BESIDE_A_TWIN =
      Status.ALREADY_EXISTS.withDescription("a twin of this call has its name");

  private final String server;
  private final DataSource pool;
  private final HandlerTransactions transactions;
  private final Jdbi jdbi;
  private final Jdbi past;
  private final Jobs jobs;
  private final Duration lease;
  private final boolean reservedIsTransactional;
  private final Executor threads = Executors.newCachedThreadPool();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Map<Thread, Scope> interruptible = new ConcurrentHashMap<>();
  private final AtomicInteger running = new AtomicInteger();

  /** Runs work once for each key. */
  @FunctionalInterface
  interface Jobs {
    WorkResult<Effect> run(Scope scope, EffectRequest request, Callable<Effect> job)
        throws Exception;
  }

  /** Rolls a transaction of the host back. */
  private static final class RolledBack extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** A failure that the request asked for. */
  private static final class AskedFor extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Status status;

    AskedFor(Status status) {
      super(status.toString());
      this.status = status;
    }
  }

  /**
   * Makes the service of a server.
   *
   * @param transactions of the handlers that write together with their record
   * @param pool the pool, which the store uses too
   * @param past bypasses all faults
   * @param jobs runs work without gRPC
   * @param reservedIsTransactional whether this server runs {@code Reserved} in a transaction
   */
  TortureService(
      String server,
      HandlerTransactions transactions,
      DataSource pool,
      DataSource past,
      Jobs jobs,
      Duration lease,
      boolean reservedIsTransactional) {
    this.server = server;
    this.jobs = jobs;
    this.lease = lease;
    this.reservedIsTransactional = reservedIsTransactional;
    this.transactions = transactions;
    this.pool = pool;
    this.jdbi = Jdbi.create(pool);
    this.past = Jdbi.create(past);
  }

  /** Counts a handler that has run in vain, on another thread. */
  void preempted() {
    threads.execute(
        () -> {
          try {
            past.useHandle(handle -> handle.execute("SELECT nextval('torture.preempted')"));
          } catch (JdbiException databaseIsOut) {
            // then it is not counted
          }
        });
  }

  /** Returns how many handlers run now. */
  int running() {
    return running.get();
  }

  @Override
  public void reserved(EffectRequest request, StreamObserver<Effect> answer) {
    if (reservedIsTransactional) {
      write(Form.RESERVED, request, answer);
    } else {
      reserve(Form.RESERVED, request, answer);
    }
  }

  @Override
  public void failOpen(EffectRequest request, StreamObserver<Effect> answer) {
    EffectRun run = EffectRun.begin(Form.FAIL_OPEN, request);
    switch (manner()) {
      case NEVER -> {}
      case ELSEWHERE ->
          handOver(run, answer, once -> reserve(past, run, request, delay(request) / 10, once));
      default -> reserve(past, run, request, delay(request) / 10, answer);
    }
  }

  @Override
  public void joined(EffectRequest request, StreamObserver<Effect> answer) {
    join(Form.JOINED, request, answer);
  }

  @Override
  public void joinedAttached(EffectRequest request, StreamObserver<Effect> answer) {
    join(Form.JOINED_ATTACHED, request, answer);
  }

  @Override
  public void guarded(EffectRequest request, StreamObserver<Effect> answer) {
    join(Form.GUARDED, withoutTerminalFailure(request), answer);
  }

  @Override
  public void guardedAttached(EffectRequest request, StreamObserver<Effect> answer) {
    write(Form.GUARDED_ATTACHED, withoutTerminalFailure(request), answer);
  }

  /** A failure on record has no resource, and the guard of these methods asks for one. */
  private static EffectRequest withoutTerminalFailure(EffectRequest request) {
    return request.toBuilder().clearTerminalPercent().build();
  }

  @Override
  public void transactional(EffectRequest request, StreamObserver<Effect> answer) {
    write(Form.TRANSACTIONAL, request, answer);
  }

  @Override
  public void transactionalAttached(EffectRequest request, StreamObserver<Effect> answer) {
    write(Form.TRANSACTIONAL_ATTACHED, request, answer);
  }

  @Override
  public void late(EffectRequest request, StreamObserver<Effect> answer) {
    write(Form.LATE, request, answer);
  }

  @Override
  public void lateAttached(EffectRequest request, StreamObserver<Effect> answer) {
    write(Form.LATE_ATTACHED, request, answer);
  }

  /**
   * Does the work of a scheduler or consumer, on a thread of its own. One that is to be interrupted
   * is so at any time, or just when another one with the same key ends.
   */
  @Override
  public void job(EffectRequest request, StreamObserver<Effect> answer) {
    Scope scope = TortureServer.SCOPE.get();
    Thread worker =
        new Thread(
            Context.current()
                .wrap(
                    () -> {
                      track(answer, () -> work(scope, request, answer));
                      interruptible.remove(Thread.currentThread());
                      interruptOthers(scope);
                    }),
            "job");
    if (manner() == Manner.INTERRUPTED && chance(50)) {
      later(random(delay(request) + 50), worker::interrupt);
    } else if (manner() == Manner.INTERRUPTED) {
      interruptible.put(worker, scope);
    }
    worker.start();
  }

  private void interruptOthers(Scope scope) {
    interruptible.forEach(
        (other, itsScope) -> {
          if (itsScope.equals(scope)) {
            later(random(4), other::interrupt);
          }
        });
  }

  private void work(Scope scope, EffectRequest request, StreamObserver<Effect> answer) {
    try {
      Effect effect = jobs.run(scope, request, () -> writeAsJob(request)).value();
      answer.onNext(effect);
      answer.onCompleted();
    } catch (WorkRefusedException refused) {
      answer.onError(refusal(refused.reason()));
    } catch (WorkFailedException failed) {
      answer.onError(
          Status.fromCodeValue(failed.code().getNumber())
              .withDescription(failed.getMessage())
              .asRuntimeException());
    } catch (AskedFor | ClaimLostException known) {
      throw known;
    } catch (Exception failure) {
      Status status = isFailureBecauseOfTwin(failure) ? BESIDE_A_TWIN : Status.UNKNOWN;
      answer.onError(status.withCause(failure).asRuntimeException());
    }
  }

  private Effect writeAsJob(EffectRequest request) throws WorkFailedException {
    EffectRun run = inSomeWay(EffectRun.begin(Form.JOB, request));
    try {
      transactions.write(
          run,
          () -> {
            pause(request.getDelayMillis());
            failSometimes(request);
          });
    } catch (AskedFor failure) {
      if (failure.status.getCode() == Status.Code.FAILED_PRECONDITION) {
        throw new WorkFailedException(Code.FAILED_PRECONDITION, failure.status.getDescription());
      }
      throw failure;
    }
    return run.effect();
  }

  private static RuntimeException refusal(RefusalReason reason) {
    Code code = reason == RefusalReason.KEY_REUSED ? Code.INVALID_ARGUMENT : Code.ABORTED;
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code.getNumber())
            .addDetails(Any.pack(ErrorInfo.newBuilder().setReason(reason.wireName()).build()))
            .build());
  }

  @Override
  public void hog(HogRequest request, StreamObserver<Hogged> answer) {
    List<Connection> taken = new ArrayList<>();
    try {
      for (int i = 0; i < request.getConnections(); i++) {
        taken.add(pool.getConnection());
      }
    } catch (SQLException exhausted) {
      // which is what is wanted
    }
    pause(request.getMillis());
    for (Connection connection : taken) {
      try {
        connection.close();
      } catch (SQLException broken) {
        // then the pool drops it
      }
    }
    answer.onNext(Hogged.getDefaultInstance());
    answer.onCompleted();
  }

  private static Manner manner() {
    return TortureServer.ASKED_MANNER.get();
  }

  private static int delay(EffectRequest request) {
    return request.getDelayMillis();
  }

  /**
   * Lets another thread answer, and waits for it or not. If effect and record are one commit, a
   * time limit may answer first: nothing is committed after that.
   */
  private void handOver(
      EffectRun run, StreamObserver<Effect> answer, Consumer<StreamObserver<Effect>> handler) {
    OnceObserver once = new OnceObserver(answer);
    if (run.form().joins() && chance(50)) {
      later(random(60), () -> once.onError(OUT_OF_TIME.asRuntimeException()));
    }
    CountDownLatch done = new CountDownLatch(1);
    threads.execute(
        Context.current()
            .wrap(
                () -> {
                  try {
                    handler.accept(once);
                  } catch (RuntimeException | Error failure) {
                    once.onError(Status.UNKNOWN.withCause(failure).asRuntimeException());
                  } finally {
                    done.countDown();
                  }
                }));
    if (chance(50)) {
      boolean unused = Uninterruptibles.awaitUninterruptibly(done, lease);
    }
  }

  private void later(long millis, Runnable task) {
    var unused = timer.schedule(Context.current().wrap(task), millis, TimeUnit.MILLISECONDS);
  }

  private void reserve(Form form, EffectRequest request, StreamObserver<Effect> answer) {
    EffectRun run = EffectRun.begin(form, request);
    switch (manner()) {
      case NEVER -> {}
      case WITHIN -> answerWithin(run, request, answer);
      case HOLDING -> answerHolding(run, request, answer);
      case ELSEWHERE ->
          handOver(run, answer, once -> reserve(jdbi, run, request, delay(request) / 2, once));
      case ORDINARY, INTERRUPTED -> reserve(jdbi, run, request, delay(request) / 2, answer);
    }
  }

  private void reserve(
      Jdbi target,
      EffectRun run,
      EffectRequest request,
      int millisAfterwards,
      StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          pause(request.getDelayMillis() - millisAfterwards);
          failSometimes(request);
          target.useTransaction(handle -> PlainTransactions.insert(handle, server, run));
          pause(millisAfterwards);
        });
  }

  /** Keeps its connection for up to two leases after it has answered. */
  private void answerHolding(EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    track(
        answer,
        () -> {
          pause(request.getDelayMillis());
          failSometimes(request);
          jdbi.useHandle(
              handle -> {
                handle.useTransaction(own -> PlainTransactions.insert(own, server, run));
                answer.onNext(run.effect());
                answer.onCompleted();
                pause(random(Math.toIntExact(2 * lease.toMillis())));
              });
        });
  }

  /**
   * Answers while its own transaction is open. Where nobody knows of that transaction, or it holds
   * the record, only an error can be answered that frees the key.
   */
  private void answerWithin(EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    track(
        answer,
        () -> {
          pause(request.getDelayMillis() / 2);
          if (!transactions.areOfHost() || chance(30)) {
            transactions.inVain(run, true, () -> answer.onError(OUT_OF_TIME.asRuntimeException()));
          } else {
            answerInTransactionOfHost(run, request, answer);
          }
        });
  }

  /**
   * An error is answered in a transaction that is known to roll back, or that will. After another
   * answer the library lets the commit fail.
   */
  private void answerInTransactionOfHost(
      EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    try {
      failSometimes(request);
    } catch (AskedFor failure) {
      rollBackAround(run, () -> answer.onError(failure.status.asRuntimeException()));
      return;
    }
    try {
      transactions.beside(
          run,
          () -> {
            answer.onNext(run.effect());
            answer.onCompleted();
          });
    } catch (RuntimeException failure) {
      if (Throwables.getCausalChain(failure).stream()
          .noneMatch(TransactionMisuseException.class::isInstance)) {
        throw failure;
      }
    }
  }

  private void rollBackAround(EffectRun run, HandlerTransactions.Rest rest) {
    if (chance(50)) {
      transactions.inVain(run, false, rest);
      return;
    }
    try {
      transactions.beside(
          run,
          () -> {
            rest.run();
            throw new RolledBack();
          });
    } catch (RolledBack asWanted) {
      // the client has its error
    }
  }

  private void join(Form form, EffectRequest request, StreamObserver<Effect> answer) {
    EffectRun run = EffectRun.begin(form, request);
    switch (manner()) {
      case NEVER ->
          track(answer, () -> transactions.inVain(run, true, () -> pause(3 * lease.toMillis())));
      case WITHIN -> answerWithin(run, request, answer);
      case ELSEWHERE -> handOver(run, answer, once -> join(run, request, once));
      case ORDINARY, HOLDING, INTERRUPTED -> join(run, request, answer);
    }
  }

  private void join(EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          pause(request.getDelayMillis() * 3L / 4);
          tryAgainOnConflicts(() -> transactions.join(run, () -> finish(request)));
        });
  }

  private static void finish(EffectRequest request) {
    pause(request.getDelayMillis() / 4);
    failSometimes(request);
  }

  /** Done by every handler whose transactions are stricter than {@code READ COMMITTED}. */
  private static void tryAgainOnConflicts(Runnable transaction) {
    for (int tries = 1; ; tries++) {
      try {
        transaction.run();
        return;
      } catch (RuntimeException failure) {
        if (tries == MAX_TRIES || !isConflict(failure)) {
          throw failure;
        }
      }
    }
  }

  private static boolean isConflict(Throwable failure) {
    return hasState(failure, "40");
  }

  /** Whether a call that its commit claims has failed because another one has committed. */
  private static boolean isFailureBecauseOfTwin(Throwable failure) {
    return hasState(failure, UNIQUE_VIOLATION);
  }

  private static boolean hasState(Throwable failure, String beginning) {
    return Throwables.getCausalChain(failure).stream()
        .anyMatch(
            cause ->
                cause instanceof SQLException database
                    && Strings.nullToEmpty(database.getSQLState()).startsWith(beginning));
  }

  private void write(Form form, EffectRequest request, StreamObserver<Effect> answer) {
    EffectRun run = EffectRun.begin(form, request);
    switch (manner()) {
      case NEVER -> track(answer, () -> transactions.write(run, () -> {}));
      case ELSEWHERE -> {
        EffectRun elsewhere = run.by(Way.AT_COMMIT_ELSEWHERE);
        if (transactions.areOfHost()) {
          track(answer, () -> transactions.write(elsewhere, () -> {}));
          handOver(run, answer, once -> answer(run, once, () -> finish(request)));
        } else {
          handOver(run, answer, once -> write(elsewhere, request, once));
        }
      }
      case ORDINARY, WITHIN, HOLDING, INTERRUPTED -> write(inSomeWay(run), request, answer);
    }
  }

  private static EffectRun inSomeWay(EffectRun run) {
    if (chance(5)) {
      return run.by(Way.AT_COMMIT_AFTER_A_FAILURE);
    }
    return chance(40) ? run.by(Way.AT_COMMIT_WITH_NAME) : run;
  }

  /** Takes its time before it writes too, and may fail there. */
  private void write(EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          pause(request.getDelayMillis() / 3);
          if (chance(30)) {
            failSometimes(request);
          }
          transactions.write(
              run,
              () -> {
                pause(request.getDelayMillis() * 2L / 3);
                failSometimes(request);
              });
        });
  }

  private void answer(EffectRun run, StreamObserver<Effect> answer, Runnable work) {
    track(
        answer,
        () -> {
          work.run();
          answer.onNext(run.effect());
          answer.onCompleted();
        });
  }

  /**
   * Answers a failure that was asked for. Answers a lost claim, or a name that its twin has, with a
   * special code, which no client may ever get. Throws every other failure.
   */
  private void track(StreamObserver<Effect> answer, Runnable work) {
    running.incrementAndGet();
    try {
      work.run();
    } catch (AskedFor failure) {
      answer.onError(failure.status.asRuntimeException());
    } catch (ClaimLostException lost) {
      answer.onError(Status.DATA_LOSS.withDescription(lost.getMessage()).asRuntimeException());
    } catch (RuntimeException failure) {
      if (!isFailureBecauseOfTwin(failure)) {
        throw failure;
      }
      answer.onError(BESIDE_A_TWIN.asRuntimeException());
    } finally {
      running.decrementAndGet();
    }
  }

  private static void failSometimes(EffectRequest request) {
    if (chance(request.getFailPercent())) {
      throw new AskedFor(Status.RESOURCE_EXHAUSTED.withDescription("as asked for"));
    }
    if (chance(request.getTerminalPercent())) {
      throw new AskedFor(Status.FAILED_PRECONDITION.withDescription(UUID.randomUUID().toString()));
    }
  }

  private static boolean chance(int percent) {
    return ThreadLocalRandom.current().nextInt(100) < percent;
  }

  private static long random(int limit) {
    return ThreadLocalRandom.current().nextInt(limit);
  }

  private static void pause(long millis) {
    Uninterruptibles.sleepUninterruptibly(Duration.ofMillis(millis));
  }
}
