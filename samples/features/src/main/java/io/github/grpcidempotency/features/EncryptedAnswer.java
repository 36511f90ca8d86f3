package io.github.grpcidempotency.features;

import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.CreateTokenRequest;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.features.shop.v1.Token;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.tink.TinkProtection;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** The recorded answer is encrypted. Every retry gets the whole answer. */
final class EncryptedAnswer extends OrderServiceGrpc.OrderServiceImplBase {
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

  static List<Reply<Token>> run(DataSource pool) throws IOException, GeneralSecurityException {
    AeadConfig.register();
    // Stands for a keyset that your key management has encrypted.
    KeysetHandle keyset =
        KeysetHandle.generateNew(PredefinedAeadParameters.AES256_GCM, RegistryConfiguration.get());
    Procedure createToken =
        Procedure.annotated(OrderServiceGrpc.getCreateTokenMethod())
            .protect(TinkProtection.of(keyset))
            .build();
    try (Shop shop = Shop.open(pool, new EncryptedAnswer(), createToken)) {
      OrderServiceBlockingStub stub =
          Intent.create().on(OrderServiceGrpc.newBlockingStub(shop.channel()));
      CreateTokenRequest request = CreateTokenRequest.getDefaultInstance();
      Reply<Token> first = Reply.blocking(stub, tokens -> tokens.createToken(request));
      Reply<Token> retry = Reply.blocking(stub, tokens -> tokens.createToken(request));
      return List.of(first, retry);
    }
  }
}
