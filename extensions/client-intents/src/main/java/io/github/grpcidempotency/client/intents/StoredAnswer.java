package io.github.grpcidempotency.client.intents;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The answer to an intent, a response or a failure, in the form in which it is stored for the
 * callback.
 *
 * @param outcome what is known about the effect; {@code EXECUTED} for a response
 * @param response the serialized response, if the status is OK
 */
record StoredAnswer(
    Status status, Outcome outcome, Optional<ByteString> response, List<Trailer> trailers) {

  /** One entry of the trailers. */
  record Trailer(String name, ByteString value) {}

  private static final int VERSION = 1;

  /** The names that a key of metadata can have. */
  private static final Pattern NAME = Pattern.compile("[0-9a-z_.-]+");

  static StoredAnswer of(
      Status status, Outcome outcome, Optional<ByteString> response, Metadata trailers) {
    List<Trailer> entries = new ArrayList<>();
    for (String name : trailers.keys()) {
      if (!NAME.matcher(name).matches()) {
        continue; // a pseudo-header, which gRPC keeps of the answer of a proxy
      }
      if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
        trailers
            .getAll(binary(name))
            .forEach(value -> entries.add(new Trailer(name, ByteString.copyFrom(value))));
      } else {
        trailers
            .getAll(ascii(name))
            .forEach(
                value ->
                    entries.add(
                        new Trailer(name, ByteString.copyFrom(value, StandardCharsets.US_ASCII))));
      }
    }
    return new StoredAnswer(status, outcome, response, entries);
  }

  Metadata metadata() {
    Metadata metadata = new Metadata();
    for (Trailer trailer : trailers) {
      if (trailer.name().endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
        metadata.put(binary(trailer.name()), trailer.value().toByteArray());
      } else {
        metadata.put(ascii(trailer.name()), trailer.value().toString(StandardCharsets.US_ASCII));
      }
    }
    return metadata;
  }

  ByteString toBytes() {
    ByteString.Output bytes = ByteString.newOutput();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeInt(status.getCode().value());
      write(out, ByteString.copyFromUtf8(Optional.ofNullable(status.getDescription()).orElse("")));
      out.writeUTF(outcome.name());
      out.writeBoolean(response.isPresent());
      write(out, response.orElse(ByteString.EMPTY));
      out.writeInt(trailers.size());
      for (Trailer trailer : trailers) {
        out.writeUTF(trailer.name());
        write(out, trailer.value());
      }
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    return bytes.toByteString();
  }

  /**
   * Reads a stored answer.
   *
   * @throws IllegalStateException if the bytes are not an answer
   */
  static StoredAnswer parse(ByteString bytes) {
    try (DataInputStream in = new DataInputStream(bytes.newInput())) {
      if (in.readByte() != VERSION) {
        throw new IllegalStateException(
            "the stored answer was written by a newer version of the library");
      }
      Status code = Status.fromCodeValue(in.readInt());
      String description = read(in).toStringUtf8();
      Outcome outcome = Outcome.valueOf(in.readUTF());
      boolean responded = in.readBoolean();
      ByteString response = read(in);
      List<Trailer> trailers = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        trailers.add(new Trailer(in.readUTF(), read(in)));
      }
      return new StoredAnswer(
          description.isEmpty() ? code : code.withDescription(description),
          outcome,
          Optional.of(response).filter(present -> responded),
          trailers);
    } catch (IOException | IllegalArgumentException malformed) {
      throw new IllegalStateException("the stored answer is damaged", malformed);
    }
  }

  private static void write(DataOutputStream out, ByteString bytes) throws IOException {
    out.writeInt(bytes.size());
    bytes.writeTo(out);
  }

  private static ByteString read(DataInputStream in) throws IOException {
    int size = in.readInt();
    if (size < 0) {
      throw new IOException("the size is negative");
    }
    byte[] bytes = in.readNBytes(size);
    if (bytes.length < size) {
      throw new IOException("the data ends too early");
    }
    return ByteString.copyFrom(bytes);
  }

  private static Metadata.Key<byte[]> binary(String name) {
    return Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER);
  }

  private static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
