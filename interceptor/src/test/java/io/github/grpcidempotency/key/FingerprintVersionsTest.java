package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import org.junit.jupiter.api.Test;

class FingerprintVersionsTest {
  private static final Fingerprinter WHOLE = Fingerprinter.wholeRequest();
  private static final Fingerprinter SINCE_2 = WHOLE.ignoringSince(2, "labels");
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a").putLabels("sent", "first").build();
  private static final CreateThingRequest RETRY =
      REQUEST.toBuilder().putLabels("sent", "again").build();
  private static final CreateThingRequest OTHER = REQUEST.toBuilder().setName("b").build();

  @Test
  void aFieldThatChangesBetweenRetriesIsLeftOut() {
    Fingerprint recorded = SINCE_2.fingerprint(REQUEST);

    assertThat(recorded.version()).isEqualTo(2);
    assertThat(SINCE_2.matches(RETRY, recorded)).isTrue();
    assertThat(SINCE_2.matches(OTHER, recorded)).isFalse();
  }

  @Test
  void anOlderRecordIsComparedUnderItsOwnRules() {
    Fingerprint recorded = WHOLE.fingerprint(REQUEST);

    assertThat(SINCE_2.matches(REQUEST, recorded)).isTrue();
    assertThat(SINCE_2.matches(RETRY, recorded)).isFalse();
  }

  @Test
  void anOlderServerCannotCompareANewerRecord() {
    assertThat(WHOLE.knows(SINCE_2.fingerprint(REQUEST))).isFalse();
  }

  @Test
  void unknownFieldsStayPartOfTheHash() throws Exception {
    byte[] unknown = {(byte) 0xf8, 0x07, 1};
    CreateThingRequest newer =
        CreateThingRequest.parseFrom(REQUEST.toByteString().concat(ByteString.copyFrom(unknown)));

    assertThat(SINCE_2.matches(newer, SINCE_2.fingerprint(REQUEST))).isFalse();
  }

  @Test
  void aVersionFitsItsColumn() {
    assertThatIllegalArgumentException().isThrownBy(() -> WHOLE.ignoringSince(0, "name"));
    assertThatIllegalArgumentException().isThrownBy(() -> WHOLE.ignoringSince(32_768, "name"));
  }
}
