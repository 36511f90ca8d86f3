package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.CreateTokenRequest;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.features.shop.v1.Token;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.procedure.Procedure;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A field of the answer is not recorded. Only the first answer has the field. */
final class OmittedField extends OrderServiceGrpc.OrderServiceImplBase {
  private static final Procedure CREATE_TOKEN =
      Procedure.annotated(OrderServiceGrpc.getCreateTokenMethod()).omit("secret").build();

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

  static List<Reply<Token>> run(DataSource pool) throws IOException {
    try (Shop shop = Shop.open(pool, new OmittedField(), CREATE_TOKEN)) {
      OrderServiceBlockingStub stub =
          Intent.create().on(OrderServiceGrpc.newBlockingStub(shop.channel()));
      CreateTokenRequest request = CreateTokenRequest.getDefaultInstance();
      Reply<Token> first = Reply.blocking(stub, tokens -> tokens.createToken(request));
      Reply<Token> retry = Reply.blocking(stub, tokens -> tokens.createToken(request));
      return List.of(first, retry);
    }
  }
}
