package io.github.grpcidempotency.grpc.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.grpc.Status;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TerminalErrorTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 16})
  void aRecordedErrorKeepsItsCode(int code) {
    assertThat(TerminalError.of(recorded(code)).status().getCode())
        .isEqualTo(Status.fromCodeValue(code).getCode());
  }

  /** Sent as it is, it would be a success without an answer. */
  @ParameterizedTest
  @ValueSource(ints = {0, 17, -1, Integer.MAX_VALUE})
  void aRecordThatIsNotAnErrorCannotBeReadAsAnError(int code) {
    assertThatIllegalStateException().isThrownBy(() -> TerminalError.of(recorded(code)));
  }

  private static ByteString recorded(int code) {
    return RecordedError.newBuilder().setCode(code).setMessage("why").build().toByteString();
  }
}
