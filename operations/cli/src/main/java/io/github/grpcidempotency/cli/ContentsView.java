package io.github.grpcidempotency.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.util.JsonFormat;
import com.google.protobuf.util.JsonFormat.TypeRegistry;
import com.google.rpc.BadRequest;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.Status;
import io.github.grpcidempotency.admin.Contents;
import io.github.grpcidempotency.proto.v1.RecordedError;
import java.util.HexFormat;
import java.util.Map;

/**
 * A recorded outcome. An error is decoded.
 *
 * @param kind a response, an error, or nothing
 * @param encoding the encoding of {@code value}
 * @param bytes the size of the recorded outcome
 * @param value the outcome
 */
record ContentsView(Kind kind, Encoding encoding, int bytes, JsonElement value) {
  enum Kind {
    response,
    error,
    none
  }

  enum Encoding {
    /** A decoded error. */
    json,
    /** The bytes of a response in hexadecimal. */
    hex,
    /**
     * Not a protobuf message: the service encrypts its records, and only the service has the key.
     */
    encrypted
  }

  private static final TypeRegistry ERROR_DETAILS =
      TypeRegistry.newBuilder()
          .add(ErrorInfo.getDescriptor().getFile().getMessageTypes())
          .add(BadRequest.getDescriptor())
          .build();

  static ContentsView of(Contents contents) {
    return contents
        .failure()
        .map(ContentsView::ofError)
        .or(() -> contents.response().map(ContentsView::ofResponse))
        .orElseGet(ContentsView::none);
  }

  static ContentsView none() {
    return new ContentsView(Kind.none, Encoding.hex, 0, text(""));
  }

  private static ContentsView ofResponse(byte[] bytes) {
    return isProtobuf(bytes)
        ? new ContentsView(
            Kind.response, Encoding.hex, bytes.length, text(HexFormat.of().formatHex(bytes)))
        : encrypted(Kind.response, bytes);
  }

  private static ContentsView ofError(byte[] bytes) {
    try {
      Status status = status(RecordedError.parseFrom(bytes));
      return new ContentsView(Kind.error, Encoding.json, bytes.length, json(status));
    } catch (InvalidProtocolBufferException sealed) {
      return encrypted(Kind.error, bytes);
    }
  }

  /** Returns the error as a {@code google.rpc.Status}. */
  private static Status status(RecordedError recorded) throws InvalidProtocolBufferException {
    Status.Builder status =
        Status.newBuilder().setCode(recorded.getCode()).setMessage(recorded.getMessage());
    for (RecordedError.Trailer trailer : recorded.getTrailersList()) {
      if (trailer.getName().equals("grpc-status-details-bin")) {
        status.mergeFrom(trailer.getValue());
      }
    }
    return status.build();
  }

  /**
   * Returns whether the bytes can be a protobuf message. The first byte of Tink's ciphertexts
   * cannot begin one.
   */
  private static boolean isProtobuf(byte[] bytes) {
    try {
      return UnknownFieldSet.parseFrom(bytes).getSerializedSize() == bytes.length;
    } catch (InvalidProtocolBufferException sealed) {
      return false;
    }
  }

  private static ContentsView encrypted(Kind kind, byte[] bytes) {
    return new ContentsView(kind, Encoding.encrypted, bytes.length, text(""));
  }

  private static JsonElement json(Message message) {
    try {
      return JsonParser.parseString(
          JsonFormat.printer()
              .usingTypeRegistry(ERROR_DETAILS)
              .preservingProtoFieldNames()
              .print(message));
    } catch (InvalidProtocolBufferException unknownDetail) {
      return text(HexFormat.of().formatHex(message.toByteArray()));
    }
  }

  private static JsonElement text(String text) {
    return new JsonPrimitive(text);
  }

  JsonObject json() {
    JsonObject json = new JsonObject();
    json.addProperty("kind", kind.name());
    json.addProperty("encoding", encoding.name());
    json.addProperty("bytes", bytes);
    json.add("value", value);
    return json;
  }

  void write(Output output) {
    output.fields(Map.of("contents", summary()));
    if (kind != Kind.none && encoding != Encoding.encrypted) {
      output.line(
          "  " + Printable.text(value.isJsonPrimitive() ? value.getAsString() : value.toString()));
    }
  }

  private String summary() {
    if (kind == Kind.none) {
      return "none: the answer is rebuilt from the resource, or is not recorded yet";
    }
    return switch (encoding) {
      case json -> "an error, " + code();
      case hex -> "a response of %d bytes, in hex".formatted(bytes);
      case encrypted -> "%d encrypted bytes: only the service has the key".formatted(bytes);
    };
  }

  private String code() {
    if (!value.isJsonObject() || !value.getAsJsonObject().has("code")) {
      return "without a code";
    }
    Code code = Code.forNumber(value.getAsJsonObject().get("code").getAsInt());
    return code == null ? "with an unknown code" : code.name();
  }
}
