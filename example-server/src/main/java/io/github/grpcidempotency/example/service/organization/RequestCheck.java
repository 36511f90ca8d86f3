package io.github.grpcidempotency.example.service.organization;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.BadRequest.FieldViolation;
import com.google.rpc.Code;
import com.google.rpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.UUID;

/**
 * Checks the fields of one request, and refuses it with a list of all problems: {@code
 * INVALID_ARGUMENT} and a {@link BadRequest}. The result of a check can be used after {@link
 * #orThrow} has returned.
 */
final class RequestCheck {
  private static final int MAX_LENGTH = 100;

  /** The maximum number that fits into the metadata that a client accepts by default, 8 KiB. */
  private static final int MAX_VIOLATIONS = 20;

  private static final UUID NO_ID = new UUID(0, 0);

  private final BadRequest.Builder violations = BadRequest.newBuilder();

  /**
   * Checks a request with only one field to check, and returns that field.
   *
   * @throws StatusRuntimeException if it is wrong
   */
  static UUID onlyId(String field, String value) {
    RequestCheck check = new RequestCheck();
    UUID id = check.id(field, value);
    check.orThrow();
    return id;
  }

  UUID id(String field, String value) {
    try {
      return UUID.fromString(value);
    } catch (IllegalArgumentException e) {
      that(false, field, "must be a UUID");
      return NO_ID;
    }
  }

  String text(String field, String value) {
    boolean storable = value.indexOf('\0') < 0; // PostgreSQL cannot store U+0000
    that(
        storable && !value.isBlank() && value.codePointCount(0, value.length()) <= MAX_LENGTH,
        field,
        "must have 1 to %d characters, and not be blank".formatted(MAX_LENGTH));
    return value;
  }

  String email(String field, String value) {
    that(value.contains("@"), field, "must be an e-mail address");
    return text(field, value);
  }

  int between(int min, int max, String field, int value) {
    that(min <= value && value <= max, field, "must be between %d and %d".formatted(min, max));
    return value;
  }

  void that(boolean holds, String field, String description) {
    if (!holds && violations.getFieldViolationsCount() < MAX_VIOLATIONS) {
      violations.addFieldViolations(
          FieldViolation.newBuilder().setField(field).setDescription(description));
    }
  }

  /**
   * Ends the check.
   *
   * @throws StatusRuntimeException if there was any problem
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
}
