package io.github.grpcidempotency.benchmarks.peers;

import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.benchmarks.v1.Project;

/** Recorded answers. */
final class Answers {
  private Answers() {}

  static Project parse(byte[] bytes) {
    try {
      return Project.parseFrom(bytes);
    } catch (InvalidProtocolBufferException garbled) {
      throw new IllegalStateException(garbled);
    }
  }
}
