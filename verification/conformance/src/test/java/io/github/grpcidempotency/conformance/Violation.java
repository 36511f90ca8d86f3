package io.github.grpcidempotency.conformance;

import static io.grpc.Metadata.ASCII_STRING_MARSHALLER;

import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableList;
import com.google.protobuf.Message;
import io.github.grpcidempotency.conformance.v1.RunResponse;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** A violation of the specification, planted between the runner and a right server. */
enum Violation implements ServerInterceptor {
  A_REPLAY_IS_NOT_MARKED("a-replay-is-marked") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return without(trailers, "idempotency-replayed", status);
    }
  },
  EVERY_ANSWER_IS_MARKED_AS_A_REPLAY("a-first-answer-is-not-marked") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      trailers.put(key("idempotency-replayed"), "true");
      return status;
    }
  },
  A_MISMATCH_IS_ABORTED("another-request-is-refused") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return status.getCode() == Status.Code.INVALID_ARGUMENT
          ? Status.ABORTED.withDescription(status.getDescription())
          : status;
    }
  },
  A_KEY_CROSSES_USERS("a-key-belongs-to-its-user") {
    @Override
    void request(String method, Metadata headers) {
      replace(headers, "conformance-user", "everybody");
    }
  },
  RECOVERY_CROSSES_USERS("a-foreign-key-is-unknown") {
    @Override
    void request(String method, Metadata headers) {
      replace(headers, "conformance-user", "everybody");
    }
  },
  A_CALLER_IS_INVENTED("an-optional-key-without-a-caller-runs-unprotected") {
    @Override
    void request(String method, Metadata headers) {
      if (!headers.containsKey(key("conformance-user"))) {
        headers.put(key("conformance-user"), "anonymous");
      }
    }
  },
  UPPER_CASE_IS_ANOTHER_KEY("upper-case-is-the-same-key") {
    @Override
    void request(String method, Metadata headers) {
      sent(headers)
          .filter(key -> !key.equals(Ascii.toLowerCase(key)))
          .ifPresent(key -> replace(headers, KEY, UUID.randomUUID().toString()));
    }
  },
  A_RETRY_RUNS_AGAIN("a-retry-is-replayed") {
    @Override
    void request(String method, Metadata headers) {
      replace(headers, KEY, UUID.randomUUID().toString());
    }
  },
  A_DUPLICATE_RUNS_AT_THE_SAME_TIME("of-calls-at-the-same-time-one-runs") {
    @Override
    void request(String method, Metadata headers) {
      replace(headers, KEY, UUID.randomUUID().toString());
    }
  },
  A_REPLAY_HAS_ANOTHER_RESPONSE("ten-retries-are-replayed") {
    @Override
    Message response(Message message) {
      return message instanceof RunResponse response
          ? response.toBuilder().setRun(ThreadLocalRandom.current().nextLong()).build()
          : message;
    }
  },
  AN_ANSWER_NAMES_NO_OPERATION("a-protected-answer-names-its-operation") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return without(trailers, "idempotency-operation", status);
    }
  },
  AN_ERROR_OF_THE_HANDLER_NAMES_NO_OPERATION("an-error-of-the-handler-names-its-operation") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return status.isOk() ? status : without(trailers, "idempotency-operation", status);
    }
  },
  AN_ANSWER_HAS_NO_STATUS("a-call-without-work-is-completed") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return without(trailers, "idempotency-status", status);
    }
  },
  THE_EXPIRY_MOVES("a-protected-answer-names-its-expiry") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      replace(
          trailers,
          "idempotency-expires",
          "2040-01-01T00:00:00.%06dZ".formatted(ThreadLocalRandom.current().nextInt(1_000_000)));
      return status;
    }
  },
  A_REFUSAL_HAS_NO_PUSHBACK("a-missing-key-is-never-retried") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return without(trailers, "grpc-retry-pushback-ms", status);
    }
  },
  THE_PUSHBACK_IS_NOT_THE_DELAY("a-refusal-in-flight-has-its-form") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      replace(trailers, "grpc-retry-pushback-ms", "17000");
      return status;
    }
  },
  A_REFUSAL_HAS_ANOTHER_MESSAGE("a-refusal-repeats-its-status") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return status.isOk() ? status : status.withDescription("refused");
    }
  },
  A_REFUSAL_HAS_NO_DETAILS("another-request-is-refused") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      trailers.discardAll(
          Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER));
      return status;
    }
  },
  AN_ERROR_CONTAINS_THE_KEY("a-reused-key-is-not-repeated") {
    @Override
    Status answer(Status status, Metadata trailers, Metadata headers) {
      return status.isOk() ? status : status.augmentDescription(sent(headers).orElse(""));
    }
  },
  A_DEMAND_IS_IGNORED("a-demand-requires-a-key") {
    @Override
    void request(String method, Metadata headers) {
      headers.discardAll(key("idempotency-required"));
    }
  },
  A_DEMAND_COUNTS_IN_UPPER_CASE("only-true-in-lower-case-demands-protection") {
    @Override
    void request(String method, Metadata headers) {
      replace(headers, "idempotency-required", "true");
    }
  },
  A_REPEATED_DEMAND_COUNTS_ONCE("a-repeated-demand-is-malformed") {
    @Override
    void request(String method, Metadata headers) {
      replace(headers, "idempotency-required", "true");
    }
  },
  THE_FIRST_OF_TWO_KEYS_COUNTS("two-values-are-malformed") {
    @Override
    void request(String method, Metadata headers) {
      sent(headers).ifPresent(key -> replace(headers, KEY, key));
    }
  },
  A_COMMA_SEPARATES_KEYS("a-comma-does-not-separate-values") {
    @Override
    void request(String method, Metadata headers) {
      sent(headers).ifPresent(key -> replace(headers, KEY, key.replaceFirst(",.*", "")));
    }
  },
  BRACES_ARE_REMOVED("braces-are-malformed") {
    @Override
    void request(String method, Metadata headers) {
      sent(headers).ifPresent(key -> replace(headers, KEY, key.replaceAll("[{}]", "")));
    }
  },
  A_KEY_BELONGS_TO_ONE_METHOD("a-key-belongs-to-all-methods") {
    @Override
    void request(String method, Metadata headers) {
      if (method.endsWith("RunOther")) {
        replace(headers, KEY, UUID.randomUUID().toString());
      }
    }
  },
  A_PROHIBITED_KEY_IS_IGNORED("a-prohibited-key-is-refused") {
    @Override
    void request(String method, Metadata headers) {
      if (method.endsWith("RunProhibited")) {
        headers.discardAll(key(KEY));
      }
    }
  };

  private static final String KEY = "idempotency-key";

  private final String foundBy;

  /** Names the case that finds the violation. */
  Violation(String foundBy) {
    this.foundBy = foundBy;
  }

  String foundBy() {
    return foundBy;
  }

  void request(String method, Metadata headers) {}

  Message response(Message message) {
    return message;
  }

  Status answer(Status status, Metadata trailers, Metadata headers) {
    return status;
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    request(call.getMethodDescriptor().getFullMethodName(), headers);
    return next.startCall(
        new SimpleForwardingServerCall<>(call) {
          @Override
          @SuppressWarnings("unchecked") // of the same type
          public void sendMessage(ResponseT message) {
            super.sendMessage((ResponseT) response((Message) message));
          }

          @Override
          public void close(Status status, Metadata trailers) {
            super.close(answer(status, trailers, headers), trailers);
          }
        },
        headers);
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, ASCII_STRING_MARSHALLER);
  }

  private static Optional<String> sent(Metadata headers) {
    Iterable<String> values = headers.getAll(key(KEY));
    List<String> all = values == null ? List.of() : ImmutableList.copyOf(values);
    return all.stream().findFirst();
  }

  /** Sets an entry that is present. */
  private static void replace(Metadata metadata, String name, String value) {
    if (metadata.containsKey(key(name))) {
      metadata.discardAll(key(name));
      metadata.put(key(name), value);
    }
  }

  private static Status without(Metadata trailers, String name, Status status) {
    trailers.discardAll(key(name));
    return status;
  }
}
