package io.github.grpcidempotency.conformance;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import com.google.protobuf.Timestamp;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.conformance.v1.RunResponse;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a call ended with.
 *
 * @param headers the headers of the response; empty if there were none before the trailers
 */
record Ending(
    Status status, Optional<Metadata> headers, Optional<Message> message, Metadata trailers) {
  private static final String DOMAIN = "grpc-idempotency";
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  String code() {
    return status.getCode().name();
  }

  Optional<String> trailer(String name) {
    return value(trailers, name);
  }

  boolean isReplay() {
    return trailer("idempotency-replayed").isPresent();
  }

  boolean isInProgress() {
    return reason().equals("IDEMPOTENCY_IN_PROGRESS");
  }

  /** Returns the reason of the contract; empty if there is none. */
  String reason() {
    return info().map(ErrorInfo::getReason).orElse("");
  }

  Optional<ErrorInfo> info() {
    return detail(ErrorInfo.class).filter(info -> info.getDomain().equals(DOMAIN));
  }

  Optional<RetryInfo> retry() {
    return detail(RetryInfo.class);
  }

  Optional<BadRequest> badRequest() {
    return detail(BadRequest.class);
  }

  /** Returns the status in the details, whatever it is; empty if there is none. */
  Optional<com.google.rpc.Status> details() {
    byte[] bytes = trailers.get(DETAILS);
    try {
      return bytes == null ? Optional.empty() : Optional.of(com.google.rpc.Status.parseFrom(bytes));
    } catch (InvalidProtocolBufferException malformed) {
      return Optional.empty();
    }
  }

  List<String> detailTypes() {
    return details().stream()
        .flatMap(found -> found.getDetailsList().stream())
        .map(any -> any.getTypeUrl().substring(any.getTypeUrl().lastIndexOf('/') + 1))
        .toList();
  }

  private <T extends Message> Optional<T> detail(Class<T> type) {
    for (Any any : details().map(com.google.rpc.Status::getDetailsList).orElse(List.of())) {
      if (any.is(type)) {
        try {
          return Optional.of(any.unpack(type));
        } catch (InvalidProtocolBufferException malformed) {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }

  /** Returns whether another call had the same answer. */
  boolean isSameAnswer(Ending other) {
    return code().equals(other.code())
        && message.equals(other.message)
        && String.valueOf(status.getDescription()).equals(status(other))
        && details().equals(other.details());
  }

  /** Returns the answer of Recovery; empty if this is the end of another call. */
  Optional<RecoverResponse> recovered() {
    return message.filter(RecoverResponse.class::isInstance).map(RecoverResponse.class::cast);
  }

  /** Returns whether the answer of Recovery is that of a call. */
  boolean recovers(Ending call) {
    RecoverResponse recovered = recovered().orElse(RecoverResponse.getDefaultInstance());
    boolean same;
    try {
      same =
          recovered.hasResponse()
              ? call.message.equals(Optional.of(recovered.getResponse().unpack(RunResponse.class)))
              : recovered.getError().getCode() == call.status.getCode().value();
    } catch (InvalidProtocolBufferException malformed) {
      same = false;
    }
    return same
        && call.trailer("idempotency-operation").equals(Optional.of(recovered.getOperation()))
        && call.trailer("idempotency-expires")
            .map(Instant::parse)
            .map(instant(recovered.getExpires())::equals)
            .orElse(true);
  }

  private static Instant instant(Timestamp time) {
    return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
  }

  private static String status(Ending other) {
    return String.valueOf(other.status.getDescription());
  }

  /** Returns the call's end as lines. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    headers.ifPresent(
        present -> names(present).forEach(name -> lines.add("  header  " + line(present, name))));
    message.ifPresent(found -> lines.add("  message " + line(found)));
    lines.add(
        "  status  "
            + code()
            + Optional.ofNullable(status.getDescription()).map(text -> " " + text).orElse(""));
    names(trailers).forEach(name -> lines.add("  trailer " + line(trailers, name)));
    details()
        .ifPresent(
            found ->
                found
                    .getDetailsList()
                    .forEach(any -> lines.add("  detail  " + type(any) + " " + text(any))));
    return lines;
  }

  /** Returns a message on one line. */
  static String line(Message message) {
    return TextFormat.printer().emittingSingleLine(true).printToString(message).trim();
  }

  private static String type(Any any) {
    return any.getTypeUrl().substring(any.getTypeUrl().lastIndexOf('/') + 1);
  }

  private static String text(Any any) {
    for (Class<? extends Message> known :
        List.of(ErrorInfo.class, BadRequest.class, RetryInfo.class)) {
      if (any.is(known)) {
        try {
          return line(any.unpack(known));
        } catch (InvalidProtocolBufferException malformed) {
          return "(malformed)";
        }
      }
    }
    return "";
  }

  private static List<String> names(Metadata metadata) {
    return metadata.keys().stream().sorted().collect(Collectors.toList());
  }

  private static String line(Metadata metadata, String name) {
    return name + ": " + value(metadata, name).orElse("(binary)");
  }

  private static Optional<String> value(Metadata metadata, String name) {
    return name.endsWith(Metadata.BINARY_HEADER_SUFFIX)
        ? Optional.empty()
        : Optional.ofNullable(
            metadata.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER)));
  }
}
