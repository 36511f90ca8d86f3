package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.code_intelligence.jazzer.mutation.annotation.NotNull;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.github.grpcidempotency.testing.v1.EveryKind;
import io.github.grpcidempotency.testing.v1.EveryKindBefore;

/** What a fingerprint covers of any request. An input is the request's bytes. */
class RequestFuzzTest {
  private static final Fingerprinter MARKED = Fingerprinter.ofSchema(EveryKind.getDescriptor());
  private static final Fingerprinter MARKED_BEFORE =
      Fingerprinter.ofSchema(EveryKindBefore.getDescriptor());

  @FuzzTest
  void theFingerprintDependsNeitherOnTheOrderOfArrivalNorOnTheKnownFields(
      @NotNull EveryKind request) {
    RequestProperties.check(request);

    Message before =
        RequestProperties.parsed(
            EveryKindBefore.getDefaultInstance(),
            ByteString.copyFrom(DeterministicBytes.of(request)));
    assertThat(Fingerprinter.wholeRequest().fingerprint(before))
        .as("to a server of an older schema")
        .isEqualTo(Fingerprinter.wholeRequest().fingerprint(request));
    assertThat(MARKED_BEFORE.fingerprint(before))
        .as("less what is marked")
        .isEqualTo(MARKED.fingerprint(request));
  }
}
