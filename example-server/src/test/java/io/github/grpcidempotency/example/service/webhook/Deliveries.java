package io.github.grpcidempotency.example.service.webhook;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.organization.v1.HttpHeader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The deliveries of providers, and their webhooks. */
final class Deliveries {
  /** When every delivery of these tests comes in. */
  static final Instant NOW = Instant.ofEpochSecond(1_492_774_577);

  private Deliveries() {}

  /** A delivery with headers, name and value by turns. */
  static Delivery delivery(String body, String... namesAndValues) {
    List<HttpHeader> headers = new ArrayList<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      headers.add(
          HttpHeader.newBuilder()
              .setName(namesAndValues[i])
              .setValue(namesAndValues[i + 1])
              .build());
    }
    return new Delivery(headers, ByteString.copyFromUtf8(body), NOW);
  }

  static Registration webhook(Scheme scheme, String secret) {
    return new Registration(new UUID(1, 2), "nasa", new UUID(3, 4), scheme, secret);
  }
}
