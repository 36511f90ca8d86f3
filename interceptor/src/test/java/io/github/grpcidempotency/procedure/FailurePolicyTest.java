package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.google.rpc.Code;
import org.junit.jupiter.api.Test;

class FailurePolicyTest {
  @Test
  void theCodesOfEachSetAreReplacedSeparately() {
    FailurePolicy policy =
        FailurePolicy.releaseAll().withTerminal(Code.NOT_FOUND).withUnknown(Code.UNAVAILABLE);

    assertThat(policy.terminal()).containsExactly(Code.NOT_FOUND);
    assertThat(policy.unknown()).containsExactly(Code.UNAVAILABLE);
  }

  @Test
  void aCodeCanBeInOneSetOnly() {
    FailurePolicy terminal = FailurePolicy.releaseAll().withTerminal(Code.NOT_FOUND);

    assertThatIllegalArgumentException().isThrownBy(() -> terminal.withUnknown(Code.NOT_FOUND));
  }

  @Test
  void okIsNotAFailure() {
    FailurePolicy none = FailurePolicy.releaseAll();

    assertThatIllegalArgumentException().isThrownBy(() -> none.withTerminal(Code.OK));
    assertThatIllegalArgumentException().isThrownBy(() -> none.withUnknown(Code.OK));
  }
}
