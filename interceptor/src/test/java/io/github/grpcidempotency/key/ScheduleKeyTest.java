package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleKeyTest {
  @Test
  void everySchedulerGivesARunTheSameKey() {
    assertThat(ScheduleKey.of("close-month", Instant.parse("2026-12-01T00:00:00Z")))
        .isEqualTo("sched:close-month:2026-12-01T00:00:00Z");
  }

  @Test
  void anInstantHasOneSpelling() {
    assertThat(KeyFormat.schedule().canonicalize("sched:a:2026-12-01T00:00:00.000Z"))
        .contains("sched:a:2026-12-01T00:00:00Z");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "sched:a",
        "sched::2026-12-01T00:00:00Z",
        "sched:a:yesterday",
        "sched:a b:2026-12-01T00:00:00Z",
        "job:a:2026-12-01T00:00:00Z"
      })
  void aTextThatIsNotAScheduleKeyIsRefused(String raw) {
    assertThat(KeyFormat.schedule().canonicalize(raw)).isEmpty();
  }

  @Test
  void aScheduleWithAColonInItsIdIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> ScheduleKey.of("a:b", Instant.EPOCH));
  }
}
