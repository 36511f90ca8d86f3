package io.github.grpcidempotency.benchmarks.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {
  @ParameterizedTest
  @CsvSource({
    "1024, 1024",
    "1KiB, 1024",
    "1kB, 1000",
    "1KB, 1000",
    "1.5 MB, 1500000",
    "4TB, 4000000000000"
  })
  void bytesAreReadAsPeopleWriteThem(String text, double bytes) {
    assertThat(Quantity.bytes(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @CsvSource({"30s, 30", "15m, 900", "12h, 43200", "7d, 604800", "0.5h, 1800"})
  void timesAreReadAsPeopleWriteThem(String text, long seconds) {
    assertThat(Quantity.time(text)).hasSeconds(seconds);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "much", "1 lot", "-1", "1e3"})
  void whatIsNoQuantityIsRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> Quantity.bytes(text));
    assertThatIllegalArgumentException().isThrownBy(() -> Quantity.time(text));
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          0,             0 B
          999,           1 kB
          1234,          1.2 kB
          186000000000,  190 GB
          3.3e14,        330 TB
          """)
  void bytesAreWrittenWithTwoDigitsThatCount(double bytes, String text) {
    assertThat(Quantity.ofBytes(bytes)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0.0123, 0.012",
    "0.119, 0.12",
    "1.96, 2",
    "9.97, 10",
    "15055, '15,000'",
    "99.6, 100"
  })
  void numbersAreWrittenWithTwoDigitsThatCount(double number, String text) {
    assertThat(Quantity.of(number)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"3, 3 s", "119, 120 s", "120, 2 min", "3600, 1 h", "172800, 2 days", "1e9, 32 years"})
  void timesAreWrittenInAUnitThatLeavesFewDigits(double seconds, String text) {
    assertThat(Quantity.ofSeconds(seconds)).isEqualTo(text);
  }
}
