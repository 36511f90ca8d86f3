package io.github.grpcidempotency.features;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.Event;
import io.github.grpcidempotency.features.shop.v1.EventServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.IngestRequest;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.procedure.Procedure;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;

/** A provider's event, such as GitHub's: its id is the key, and its signature authenticates it. */
final class SignedEvent extends EventServiceGrpc.EventServiceImplBase {
  @Override
  public void ingest(IngestRequest request, StreamObserver<Event> observer) {
    ClaimJdbi.handle()
        .execute(
            "INSERT INTO shop.events VALUES (?, ?)",
            request.getDelivery(),
            request.getBody().toByteArray());
    Shop.answer(observer, Event.newBuilder().setId(request.getDelivery()).build());
  }

  private static Optional<FoundKey> key(KeyCall call, Function<ByteString, String> sign) {
    IngestRequest request = (IngestRequest) call.request();
    byte[] expected = ("sha256=" + sign.apply(request.getBody())).getBytes(UTF_8);
    if (!MessageDigest.isEqual(expected, request.getSignature().getBytes(UTF_8))) {
      throw KeyException.unauthenticated("the signature is wrong");
    }
    Caller webhook = Caller.ofSubject("webhook|" + request.getWebhook()); // owns the key
    return Optional.of(FoundKey.of(request.getDelivery(), webhook));
  }

  /**
   * Delivers an event twice.
   *
   * @param sign computes the HMAC-SHA256 of a body with the webhook's secret, in hexadecimal digits
   * @param signature the header that the provider sends
   */
  static List<Reply<Event>> run(
      DataSource pool, Function<ByteString, String> sign, String signature) throws IOException {
    KeySource events = call -> key(call, sign);
    Procedure ingest =
        Procedure.annotated(EventServiceGrpc.getIngestMethod())
            .keyFrom(events.as(KeyFormat.opaque()).prefixed("github:"))
            .build();
    IngestRequest.Builder event =
        IngestRequest.newBuilder().setWebhook("whk_1").setDelivery("72d3162e");
    event.setSignature(signature).setBody(ByteString.copyFromUtf8("Hello, World!"));
    try (Shop shop = Shop.open(pool, new SignedEvent(), ingest)) {
      EventServiceGrpc.EventServiceBlockingStub stub =
          EventServiceGrpc.newBlockingStub(shop.channel());
      Reply<Event> first = Reply.blocking(stub, github -> github.ingest(event.build()));
      return List.of(first, Reply.blocking(stub, github -> github.ingest(event.build())));
    }
  }
}
