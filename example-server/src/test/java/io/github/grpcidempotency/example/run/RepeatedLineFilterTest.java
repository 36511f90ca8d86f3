package io.github.grpcidempotency.example.run;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.spi.FilterReply;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RepeatedLineFilterTest {
  private final RepeatedLineFilter filter = new RepeatedLineFilter();
  private final Logger logger = new LoggerContext().getLogger("shop");

  @Test
  void threeLinesOfAMessagePassWhateverTheirParametersAre() {
    assertThat(IntStream.range(0, 10).filter(n -> passes(Level.ERROR, "failed: {}", n))).hasSize(3);
  }

  @Test
  void otherMessagesAndLowerLevelsPass() {
    List<Boolean> warnings =
        IntStream.range(0, 10).mapToObj(n -> passes(Level.WARN, "message " + n, n)).toList();
    List<Boolean> news =
        IntStream.range(0, 10).mapToObj(n -> passes(Level.INFO, "started {}", n)).toList();

    assertThat(warnings).containsOnly(true);
    assertThat(news).containsOnly(true);
  }

  private boolean passes(Level level, String format, Object parameter) {
    return filter.decide(null, logger, level, format, new Object[] {parameter}, null)
        == FilterReply.NEUTRAL;
  }
}
