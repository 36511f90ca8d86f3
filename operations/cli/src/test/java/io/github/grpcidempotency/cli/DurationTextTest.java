package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DurationTextTest {
  @ParameterizedTest
  @CsvSource({"90s,PT90S", "15m,PT15M", "1h30m,PT90M", "2d,P2D", "0s,PT0S"})
  void operatorsWriteThemShort(String text, Duration meant) {
    assertThat(new DurationText().convert(text)).isEqualTo(meant);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "m5", "-5m", "PT5M", "5 m", "1h2d"})
  void otherTextsAreRefused(String text) {
    assertThatThrownBy(() -> new DurationText().convert(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("1h30m");
  }

  @ParameterizedTest
  @CsvSource({
    "PT0.4S,0s",
    "PT59S,59s",
    "PT12M40S,12m40s",
    "PT12M,12m",
    "PT3H20M30S,3h20m",
    "PT3H0M30S,3h",
    "P2DT4H5M,2d4h",
    "PT-5M-5S,5m5s"
  })
  void theTwoLargestUnitsAreTold(Duration duration, String text) {
    assertThat(DurationText.text(duration)).isEqualTo(text);
  }
}
