package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.rpc.ErrorInfo;
import io.grpc.Status;
import java.util.Map;
import java.util.Set;

/** The refusals that a client may see, whatever it sends. */
final class WireContract {
  private static final Map<Status.Code, Set<String>> REFUSALS =
      Map.of(
          Status.Code.INVALID_ARGUMENT,
          Set.of(
              "IDEMPOTENCY_KEY_INVALID",
              "IDEMPOTENCY_KEY_REQUIRED",
              "IDEMPOTENCY_KEY_PROHIBITED",
              "IDEMPOTENCY_KEY_REUSED"),
          Status.Code.UNAUTHENTICATED,
          Set.of("IDEMPOTENCY_CALLER_REQUIRED"));

  private WireContract() {}

  /** Asserts that a call was served, or refused for something that its client did. */
  static void assertKept(Seen seen) {
    if (seen.code() != Status.Code.OK) {
      String reason = seen.detail(ErrorInfo.class).map(ErrorInfo::getReason).orElse("");
      assertThat(REFUSALS.getOrDefault(seen.code(), Set.of()))
          .as("%s", seen.status())
          .contains(reason);
      seen.refused(seen.code(), reason).forGood();
    }
  }
}
