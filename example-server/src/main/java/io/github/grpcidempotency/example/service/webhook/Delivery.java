package io.github.grpcidempotency.example.service.webhook;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.organization.v1.HttpHeader;
import io.github.grpcidempotency.example.organization.v1.IngestRequest;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A provider's HTTP request, as it was forwarded.
 *
 * @param headers its headers; their names are not case-sensitive (RFC 9110)
 * @param body its unchanged body, because providers sign bytes
 * @param received the time of its arrival, by the database's clock
 */
record Delivery(List<HttpHeader> headers, ByteString body, Instant received) {

  static Delivery of(IngestRequest request, Instant received) {
    return new Delivery(request.getHeadersList(), request.getBody().getData(), received);
  }

  /**
   * Returns the value of a header; empty if there is none, or if there are several, because it is
   * unclear which one is meant.
   */
  Optional<String> header(String name) {
    List<String> values =
        headers.stream()
            .filter(header -> header.getName().equalsIgnoreCase(name))
            .map(header -> header.getValue().strip())
            .toList();
    return values.size() == 1 ? Optional.of(values.get(0)) : Optional.empty();
  }
}
