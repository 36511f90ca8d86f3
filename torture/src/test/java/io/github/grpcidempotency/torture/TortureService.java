package io.github.grpcidempotency.torture;

import com.google.common.base.Stopwatch;
import com.google.common.base.Strings;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.postgres.ClaimLostException;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.github.grpcidempotency.torture.v1.HogRequest;
import io.github.grpcidempotency.torture.v1.Hogged;
import io.github.grpcidempotency.torture.v1.TortureServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;

/** Writes effects, slowly, and sometimes fails. */
final class TortureService extends TortureServiceGrpc.TortureServiceImplBase {
  private static final String INSERT =
      """
      INSERT INTO torture.effects (key, user_id, server, form, payload, value, guarded, began)
      VALUES (:key, :user, :server, :form, :payload, :value, :guarded,
              clock_timestamp() - :millis * interval '1 millisecond')
      """;

  private static final int MAX_TRIES = 5;

  private final String server;
  private final DataSource pool;
  private final Jdbi jdbi;
  private final Jdbi past;
  private final AtomicInteger running = new AtomicInteger();

  /** A failure that the request asked for. */
  private static final class AskedFor extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Status status;

    AskedFor(Status status) {
      super(status.toString());
      this.status = status;
    }
  }

  /** One run of a handler: what it must write, whether it has a claim, and when it began. */
  private record Run(Effect effect, boolean guarded, Stopwatch watch) {}

  /**
   * Makes the service of a server.
   *
   * @param pool the pool, which the store uses too
   * @param past bypasses all faults
   */
  TortureService(String server, DataSource pool, DataSource past) {
    this.server = server;
    this.pool = pool;
    this.jdbi = Jdbi.create(pool);
    this.past = Jdbi.create(past);
  }

  /** Returns how many handlers run now. */
  int running() {
    return running.get();
  }

  @Override
  public void reserved(EffectRequest request, StreamObserver<Effect> answer) {
    reserve(jdbi, run(Form.RESERVED, request), request, request.getDelayMillis() / 2, answer);
  }

  @Override
  public void failOpen(EffectRequest request, StreamObserver<Effect> answer) {
    reserve(past, run(Form.FAIL_OPEN, request), request, request.getDelayMillis() / 10, answer);
  }

  @Override
  public void joined(EffectRequest request, StreamObserver<Effect> answer) {
    join(run(Form.JOINED, request), request, answer);
  }

  @Override
  public void joinedAttached(EffectRequest request, StreamObserver<Effect> answer) {
    join(run(Form.JOINED_ATTACHED, request), request, answer);
  }

  @Override
  public void transactional(EffectRequest request, StreamObserver<Effect> answer) {
    write(run(Form.TRANSACTIONAL, request), request, answer);
  }

  @Override
  public void transactionalAttached(EffectRequest request, StreamObserver<Effect> answer) {
    write(run(Form.TRANSACTIONAL_ATTACHED, request), request, answer);
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

  private void reserve(
      Jdbi target,
      Run run,
      EffectRequest request,
      int millisAfterwards,
      StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          pause(request.getDelayMillis() - millisAfterwards);
          failSometimes(request);
          target.useTransaction(handle -> insert(handle, run));
          pause(millisAfterwards);
        });
  }

  private void join(Run run, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          pause(request.getDelayMillis() * 3L / 4);
          tryAgainOnConflicts(
              () ->
                  jdbi.useTransaction(
                      handle -> {
                        lockIfStrict(handle);
                        insert(handle, run);
                        pause(request.getDelayMillis() / 4);
                        failSometimes(request);
                        TransactionalCompletion.complete(handle, run.effect());
                      }));
        });
  }

  /** A renewal would change the record behind the snapshot of a stricter transaction. */
  private static void lockIfStrict(Handle handle) {
    if (handle.getTransactionIsolationLevel() != TransactionIsolationLevel.READ_COMMITTED) {
      TransactionalCompletion.lock(handle);
    }
  }

  /** Done by every handler whose transactions are stricter than {@code READ COMMITTED}. */
  private static void tryAgainOnConflicts(Runnable transaction) {
    for (int tries = 1; ; tries++) {
      try {
        transaction.run();
        return;
      } catch (JdbiException failure) {
        if (tries == MAX_TRIES || !isConflict(failure)) {
          throw failure;
        }
      }
    }
  }

  private static boolean isConflict(JdbiException failure) {
    return failure.getCause() instanceof SQLException database
        && Strings.nullToEmpty(database.getSQLState()).startsWith("40");
  }

  private void write(Run run, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          insert(ClaimTransaction.handle(), run);
          pause(request.getDelayMillis());
          failSometimes(request);
        });
  }

  /**
   * Answers a failure that was asked for. Answers a lost claim with a special code, which no client
   * may ever get. Throws every other failure.
   */
  private void answer(Run run, StreamObserver<Effect> answer, Runnable work) {
    running.incrementAndGet();
    try {
      work.run();
      answer.onNext(run.effect());
      answer.onCompleted();
    } catch (AskedFor failure) {
      answer.onError(failure.status.asRuntimeException());
    } catch (ClaimLostException lost) {
      answer.onError(Status.DATA_LOSS.withDescription(lost.getMessage()).asRuntimeException());
    } finally {
      running.decrementAndGet();
    }
  }

  private static Run run(Form form, EffectRequest request) {
    Scope scope = TortureServer.SCOPE.get();
    Effect effect =
        Effect.newBuilder()
            .setUser(scope.user().toString())
            .setKey(scope.key())
            .setForm(form.name())
            .setPayload(request.getPayload())
            .setValue(UUID.randomUUID().toString())
            .build();
    return new Run(effect, CurrentOperation.claim().isPresent(), Stopwatch.createStarted());
  }

  private void insert(Handle handle, Run run) {
    Effect effect = run.effect();
    handle
        .createUpdate(INSERT)
        .bind("key", effect.getKey())
        .bind("user", UUID.fromString(effect.getUser()))
        .bind("server", server)
        .bind("form", effect.getForm())
        .bind("payload", effect.getPayload())
        .bind("value", UUID.fromString(effect.getValue()))
        .bind("guarded", run.guarded())
        .bind("millis", run.watch().elapsed().toMillis())
        .execute();
  }

  private static void failSometimes(EffectRequest request) {
    if (ThreadLocalRandom.current().nextInt(100) < request.getFailPercent()) {
      throw new AskedFor(Status.RESOURCE_EXHAUSTED.withDescription("as asked for"));
    }
    if (ThreadLocalRandom.current().nextInt(100) < request.getTerminalPercent()) {
      throw new AskedFor(Status.FAILED_PRECONDITION.withDescription(UUID.randomUUID().toString()));
    }
  }

  private static void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
