package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.features.shop.v1.CreateTokenRequest;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.features.shop.v1.Token;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.procedure.Procedure;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** A guard decides before each replay whether the caller may still get the answer. */
final class GuardedReplay extends OrderServiceGrpc.OrderServiceImplBase {
  @Override
  public void createToken(CreateTokenRequest request, StreamObserver<Token> observer) {
    long id =
        ClaimJdbi.handle()
            .createQuery("INSERT INTO shop.tokens DEFAULT VALUES RETURNING id")
            .mapTo(Long.class)
            .one();
    String secret = "secret-" + UUID.randomUUID();
    Shop.answer(observer, Token.newBuilder().setId(id).setSecret(secret).build());
  }

  private static boolean isValid(Jdbi jdbi, long token) {
    return jdbi.withHandle(
        database ->
            database
                .createQuery(
                    "SELECT EXISTS (SELECT FROM shop.tokens WHERE id = :id AND NOT revoked)")
                .bind("id", token)
                .mapTo(Boolean.class)
                .one());
  }

  /** Returns the error that a retry gets after the token was revoked. */
  static StatusRuntimeException run(DataSource pool) throws IOException {
    Jdbi jdbi = Jdbi.create(pool);
    Procedure createToken =
        Procedure.annotated(OrderServiceGrpc.getCreateTokenMethod())
            .guard((caller, token) -> token.map(id -> isValid(jdbi, id.asLong())).orElse(false))
            .build();
    try (Shop shop = Shop.open(pool, new GuardedReplay(), createToken)) {
      OrderServiceBlockingStub stub =
          Intent.create().on(OrderServiceGrpc.newBlockingStub(shop.channel()));
      CreateTokenRequest request = CreateTokenRequest.getDefaultInstance();
      Token token = stub.createToken(request);
      if (!stub.createToken(request).equals(token)) {
        throw new IllegalStateException("the retry has another token");
      }
      jdbi.useHandle(database -> database.execute("UPDATE shop.tokens SET revoked = true"));
      Token leaked = stub.createToken(request);
      throw new IllegalStateException("the retry was answered with " + leaked);
    } catch (StatusRuntimeException denied) {
      return denied;
    }
  }
}
