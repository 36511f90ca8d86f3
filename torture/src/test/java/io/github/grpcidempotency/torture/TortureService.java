package io.github.grpcidempotency.torture;

import com.google.common.base.Strings;
import com.google.common.base.Throwables;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.postgres.ClaimLostException;
import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.store.Claim;
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
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/** Writes effects, slowly, and sometimes fails. */
final class TortureService extends TortureServiceGrpc.TortureServiceImplBase {
  private static final int MAX_TRIES = 5;

  private final String server;
  private final DataSource pool;
  private final HandlerTransactions transactions;
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

  /**
   * Makes the service of a server.
   *
   * @param transactions of the handlers that write together with their record
   * @param pool the pool, which the store uses too
   * @param past bypasses all faults
   */
  TortureService(
      String server, HandlerTransactions transactions, DataSource pool, DataSource past) {
    this.server = server;
    this.transactions = transactions;
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
    reserve(
        jdbi,
        EffectRun.begin(Form.RESERVED, request),
        request,
        request.getDelayMillis() / 2,
        answer);
  }

  @Override
  public void sameDatabase(EffectRequest request, StreamObserver<Effect> answer) {
    reserve(
        jdbi,
        EffectRun.begin(Form.SAME_DATABASE, request),
        request,
        request.getDelayMillis() / 2,
        answer);
  }

  @Override
  public void failOpen(EffectRequest request, StreamObserver<Effect> answer) {
    reserve(
        past,
        EffectRun.begin(Form.FAIL_OPEN, request),
        request,
        request.getDelayMillis() / 10,
        answer);
  }

  @Override
  public void joined(EffectRequest request, StreamObserver<Effect> answer) {
    join(EffectRun.begin(Form.JOINED, request), request, answer);
  }

  @Override
  public void joinedAttached(EffectRequest request, StreamObserver<Effect> answer) {
    if (transactions.holdsAnswersBack()) {
      joinAndAnswerWithin(EffectRun.begin(Form.JOINED_ATTACHED, request), request, answer);
    } else {
      join(EffectRun.begin(Form.JOINED_ATTACHED, request), request, answer);
    }
  }

  @Override
  public void transactional(EffectRequest request, StreamObserver<Effect> answer) {
    write(EffectRun.begin(Form.TRANSACTIONAL, request), request, answer);
  }

  @Override
  public void transactionalAttached(EffectRequest request, StreamObserver<Effect> answer) {
    write(EffectRun.begin(Form.TRANSACTIONAL_ATTACHED, request), request, answer);
  }

  @Override
  public void late(EffectRequest request, StreamObserver<Effect> answer) {
    writeLate(EffectRun.begin(Form.LATE, request), request, answer);
  }

  @Override
  public void lateAttached(EffectRequest request, StreamObserver<Effect> answer) {
    writeLate(EffectRun.begin(Form.LATE_ATTACHED, request), request, answer);
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

  private void join(EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          pause(request.getDelayMillis() * 3L / 4);
          tryAgainOnConflicts(() -> transactions.join(run, () -> finish(request)));
        });
  }

  /** What is answered before the commit cannot be tried again after a conflict. */
  private void joinAndAnswerWithin(
      EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    track(
        answer,
        () -> {
          pause(request.getDelayMillis() * 3L / 4);
          transactions.join(
              run,
              () -> {
                finish(request);
                answer.onNext(run.effect());
                answer.onCompleted();
              });
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
    return Throwables.getCausalChain(failure).stream()
        .anyMatch(
            cause ->
                cause instanceof SQLException database
                    && Strings.nullToEmpty(database.getSQLState()).startsWith("40"));
  }

  private void write(EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () ->
            transactions.write(
                run,
                () -> {
                  pause(request.getDelayMillis());
                  failSometimes(request);
                }));
  }

  /** Takes its time before its first statement too, and may fail there. */
  private void writeLate(EffectRun run, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        run,
        answer,
        () -> {
          pause(request.getDelayMillis() / 3);
          if (chance(30)) {
            failSometimes(request);
          }
          try {
            transactions.write(
                run.by(lateWay()),
                () -> {
                  pause(request.getDelayMillis() * 2L / 3);
                  failSometimes(request);
                });
          } catch (ClaimPreemptedException stopped) {
            goOnSometimes(stopped);
          }
        });
  }

  private static Way lateWay() {
    if (CurrentOperation.claim().map(Claim::isWon).orElse(true)) {
      return Way.CLAIMED_FIRST;
    }
    if (chance(5)) {
      return Way.AFTER_A_FAILURE;
    }
    return chance(15) ? Way.BY_ITSELF : Way.WITH_FIRST_STATEMENT;
  }

  /** A handler that was stopped may not mind, and answer all the same, whatever that is. */
  private void goOnSometimes(ClaimPreemptedException stopped) {
    try {
      past.useHandle(handle -> handle.execute("SELECT nextval('torture.preempted')"));
    } catch (JdbiException databaseIsOut) {
      // then it is not counted
    }
    if (chance(50)) {
      throw stopped;
    }
    if (chance(30)) {
      throw new AskedFor(Status.FAILED_PRECONDITION.withDescription(UUID.randomUUID().toString()));
    }
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
   * Answers a failure that was asked for. Answers a lost claim with a special code, which no client
   * may ever get. Throws every other failure.
   */
  private void track(StreamObserver<Effect> answer, Runnable work) {
    running.incrementAndGet();
    try {
      work.run();
    } catch (AskedFor failure) {
      answer.onError(failure.status.asRuntimeException());
    } catch (ClaimLostException lost) {
      answer.onError(Status.DATA_LOSS.withDescription(lost.getMessage()).asRuntimeException());
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

  private static void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
