package io.github.grpcidempotency.example.organization;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.BadRequest.FieldViolation;
import com.google.rpc.Code;
import com.google.rpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Checks the fields of one request, and refuses it with all that is wrong with it: {@code
 * INVALID_ARGUMENT} and a {@link BadRequest}. What a check returns may be used once {@link
 * #orThrow} has returned.
 */
final class RequestCheck {
  private static final int MAX_LENGTH = 100;
  private static final Pattern TOKEN =
      Pattern.compile("[A-Za-z0-9._~-]{1,%d}".formatted(MAX_LENGTH));
  private static final Pattern HTTP_URL = Pattern.compile("https?://[!-~&&[^#]]{1,2000}");
  private static final UUID NO_ID = new UUID(0, 0);

  private final BadRequest.Builder violations = BadRequest.newBuilder();

  UUID id(String field, String value) {
    try {
      return UUID.fromString(value);
    } catch (IllegalArgumentException e) {
      violated(field, "must be a UUID");
      return NO_ID;
    }
  }

  String text(String field, String value) {
    if (value.isBlank() || value.length() > MAX_LENGTH) {
      violated(field, "must have 1 to %d characters and not be blank".formatted(MAX_LENGTH));
    }
    return value;
  }

  String email(String field, String value) {
    if (!value.contains("@")) {
      violated(field, "must be an e-mail address");
    }
    return text(field, value);
  }

  String token(String field, String value) {
    if (!TOKEN.matcher(value).matches()) {
      violated(field, "must have 1 to %d characters of [A-Za-z0-9._~-]".formatted(MAX_LENGTH));
    }
    return value;
  }

  void httpUrl(String field, String value) {
    that(
        HTTP_URL.matcher(value).matches(),
        field,
        "must be an http or https URL without a fragment");
  }

  int between(int min, int max, String field, int value) {
    if (value < min || value > max) {
      violated(field, "must be between %d and %d".formatted(min, max));
    }
    return value;
  }

  void that(boolean holds, String field, String description) {
    if (!holds) {
      violated(field, description);
    }
  }

  /**
   * Ends the check.
   *
   * @throws StatusRuntimeException if anything was wrong
   */
  void orThrow() {
    if (violations.getFieldViolationsCount() > 0) {
      FieldViolation first = violations.getFieldViolations(0);
      throw StatusProto.toStatusRuntimeException(
          Status.newBuilder()
              .setCode(Code.INVALID_ARGUMENT_VALUE)
              .setMessage(first.getField() + " " + first.getDescription())
              .addDetails(Any.pack(violations.build()))
              .build());
    }
  }

  private void violated(String field, String description) {
    violations.addFieldViolations(
        FieldViolation.newBuilder().setField(field).setDescription(description));
  }
}
