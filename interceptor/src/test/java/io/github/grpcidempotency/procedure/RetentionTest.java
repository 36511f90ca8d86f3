package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class RetentionTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private volatile Supplier<Duration> setting = () -> HOUR;
  private final Retention retention = new Retention(() -> setting.get());

  @Test
  void aSettingIsReadEveryTime() {
    assertThat(retention.current()).isEqualTo(HOUR);

    setting = () -> Duration.ofMinutes(1);

    assertThat(retention.current()).isEqualTo(Duration.ofMinutes(1));
  }

  /** Otherwise a slip in a settings file would stop every call, or free every key. */
  @Test
  void theLastValidSettingStaysInForceWhenASettingBecomesInvalid() {
    assertThat(retention.current()).isEqualTo(HOUR);

    for (Supplier<Duration> bad :
        List.<Supplier<Duration>>of(
            () -> Duration.ZERO,
            () -> Duration.ofSeconds(-1),
            () -> Duration.ofNanos(1),
            () -> Duration.ofSeconds(Long.MAX_VALUE),
            RetentionTest::fail,
            () -> {
              throw new NoSuchMethodError("of another version");
            })) {
      setting = bad;
      assertThat(retention.current()).isEqualTo(HOUR);
    }
    setting = () -> HOUR.plus(HOUR);
    assertThat(retention.current()).isEqualTo(HOUR.plus(HOUR));
  }

  @Test
  void aSettingThatWasNeverValidIsReturned() {
    setting = () -> Duration.ZERO;
    assertThat(retention.current()).isZero();

    setting = RetentionTest::fail;
    assertThatIllegalStateException().isThrownBy(retention::current);
  }

  private static Duration fail() {
    throw new IllegalStateException("the settings are gone");
  }
}
