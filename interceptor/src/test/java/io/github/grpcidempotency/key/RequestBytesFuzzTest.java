package io.github.grpcidempotency.key;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.ExtensionRegistry;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.EveryKind;
import io.github.grpcidempotency.testing.v1.MarkedRequest;
import io.github.grpcidempotency.testing.v1.OlderSyntax;
import java.util.List;

/** Requests as they may arrive: with unknown fields, or with a field twice. */
class RequestBytesFuzzTest {
  private static final ExtensionRegistry EXTENSIONS = ExtensionRegistry.newInstance();
  private static final List<Message> TYPES =
      List.of(
          CreateThingRequest.getDefaultInstance(),
          EveryKind.getDefaultInstance(),
          MarkedRequest.getDefaultInstance(),
          OlderSyntax.getDefaultInstance());

  static {
    EXTENSIONS.add(OlderSyntax.own);
  }

  @FuzzTest
  void everyRequestThatCanBeParsedHasAFingerprint(byte[] input) {
    for (Message type : TYPES) {
      Message request;
      try {
        request = type.newBuilderForType().mergeFrom(input, EXTENSIONS).buildPartial();
      } catch (InvalidProtocolBufferException noRequest) {
        continue;
      }
      RequestProperties.check(request);
    }
  }
}
