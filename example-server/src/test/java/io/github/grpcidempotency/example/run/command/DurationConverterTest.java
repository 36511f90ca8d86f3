package io.github.grpcidempotency.example.run.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DurationConverterTest {
  private final DurationConverter converter = new DurationConverter();

  @ParameterizedTest
  @CsvSource({
    "500ms, PT0.5S",
    "30s, PT30S",
    "5m, PT5M",
    "24h, PT24H",
    "2d, PT48H",
    "PT1H30M, PT1H30M"
  })
  void readsWhatPeopleWrite(String written, Duration meant) {
    assertThat(converter.convert(written)).isEqualTo(meant);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "30", "s", "1.5h", "30 s", "-30s", "PT-30S", "99999999999s"})
  void refusesEverythingElse(String written) {
    assertThatThrownBy(() -> converter.convert(written))
        .isInstanceOf(TypeConversionException.class);
  }
}
