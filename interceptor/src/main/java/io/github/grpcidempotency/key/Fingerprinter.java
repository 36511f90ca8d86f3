package io.github.grpcidempotency.key;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import com.google.protobuf.UnsafeByteOperations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Takes a request's {@link Fingerprint}: SHA-256 over its deterministic protobuf bytes. */
public final class Fingerprinter {
  /** The way of hashing that this version of the library writes. */
  public static final int CURRENT_VERSION = 1;

  private Fingerprinter() {}

  /** Returns the request's fingerprint in the current version; unknown fields are part of it. */
  public static Fingerprint fingerprint(MessageLite request) {
    byte[] bytes = deterministicBytes(request);
    return new Fingerprint(
        CURRENT_VERSION, UnsafeByteOperations.unsafeWrap(sha256().digest(bytes)));
  }

  private static byte[] deterministicBytes(MessageLite message) {
    byte[] bytes = new byte[message.getSerializedSize()];
    CodedOutputStream output = CodedOutputStream.newInstance(bytes);
    output.useDeterministicSerialization();
    try {
      message.writeTo(output);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    output.checkNoSpaceLeft();
    return bytes;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError("every Java platform has SHA-256", impossible);
    }
  }
}
