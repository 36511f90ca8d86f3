package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.github.grpcidempotency.torture.v1.HogRequest;
import io.github.grpcidempotency.torture.v1.Hogged;
import io.github.grpcidempotency.torture.v1.TortureServiceGrpc;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** Writes effects, slowly, and fails now and then. */
final class TortureService extends TortureServiceGrpc.TortureServiceImplBase {
  private static final String INSERT =
      """
      INSERT INTO torture.effects (key, user_id, server, form, payload, value)
      VALUES (:key, :user, :server, :form, :payload, :value)
      """;

  private final String server;
  private final DataSource pool;
  private final Jdbi jdbi;

  TortureService(String server, DataSource pool) {
    this.server = server;
    this.pool = pool;
    this.jdbi = Jdbi.create(pool);
  }

  @Override
  public void reserved(EffectRequest request, StreamObserver<Effect> answer) {
    Effect effect = effect(Form.RESERVED, request);
    answer(
        effect,
        answer,
        () -> {
          pause(request.getDelayMillis() / 2);
          failSometimes(request);
          jdbi.useTransaction(handle -> insert(handle, effect));
          pause(request.getDelayMillis() / 2);
        });
  }

  @Override
  public void joined(EffectRequest request, StreamObserver<Effect> answer) {
    join(effect(Form.JOINED, request), request, answer);
  }

  @Override
  public void joinedAttached(EffectRequest request, StreamObserver<Effect> answer) {
    join(effect(Form.JOINED_ATTACHED, request), request, answer);
  }

  @Override
  public void transactional(EffectRequest request, StreamObserver<Effect> answer) {
    write(effect(Form.TRANSACTIONAL, request), request, answer);
  }

  @Override
  public void transactionalAttached(EffectRequest request, StreamObserver<Effect> answer) {
    write(effect(Form.TRANSACTIONAL_ATTACHED, request), request, answer);
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

  private void join(Effect effect, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        effect,
        answer,
        () -> {
          pause(request.getDelayMillis() * 3L / 4);
          jdbi.useTransaction(
              handle -> {
                insert(handle, effect);
                pause(request.getDelayMillis() / 4);
                failSometimes(request);
                TransactionalCompletion.complete(handle, effect);
              });
        });
  }

  private void write(Effect effect, EffectRequest request, StreamObserver<Effect> answer) {
    answer(
        effect,
        answer,
        () -> {
          insert(ClaimTransaction.handle(), effect);
          pause(request.getDelayMillis());
          failSometimes(request);
        });
  }

  /** Answers for a failure that was asked for; every other one is thrown. */
  private static void answer(Effect effect, StreamObserver<Effect> answer, Runnable work) {
    try {
      work.run();
    } catch (StatusRuntimeException asked) {
      answer.onError(asked);
      return;
    }
    answer.onNext(effect);
    answer.onCompleted();
  }

  private static Effect effect(Form form, EffectRequest request) {
    Scope scope = TortureServer.SCOPE.get();
    return Effect.newBuilder()
        .setUser(scope.user().toString())
        .setKey(scope.key())
        .setForm(form.name())
        .setPayload(request.getPayload())
        .setValue(UUID.randomUUID().toString())
        .build();
  }

  private void insert(Handle handle, Effect effect) {
    handle
        .createUpdate(INSERT)
        .bind("key", effect.getKey())
        .bind("user", UUID.fromString(effect.getUser()))
        .bind("server", server)
        .bind("form", effect.getForm())
        .bind("payload", effect.getPayload())
        .bind("value", UUID.fromString(effect.getValue()))
        .execute();
  }

  private static void failSometimes(EffectRequest request) {
    if (ThreadLocalRandom.current().nextInt(100) < request.getFailPercent()) {
      throw Status.RESOURCE_EXHAUSTED.withDescription("as asked for").asRuntimeException();
    }
  }

  private static void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
