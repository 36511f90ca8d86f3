package io.github.grpcidempotency.call.internal;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.KeyCall;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A call whose key is looked for.
 *
 * @param headers returns all values of a header
 * @param received the request; empty if the key source must not read it
 */
public record ReceivedCall(
    String procedure,
    Optional<Caller> caller,
    Function<String, List<String>> headers,
    Optional<Message> received)
    implements KeyCall {
  @Override
  public List<String> metadata(String name) {
    return headers.apply(name);
  }

  @Override
  public Message request() {
    return received.orElseThrow(
        () ->
            new IllegalStateException(
                "the key source read the request although its readsRequest() returned false"));
  }
}
