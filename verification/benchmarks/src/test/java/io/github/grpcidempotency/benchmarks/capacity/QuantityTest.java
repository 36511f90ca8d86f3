package io.github.grpcidempotency.benchmarks.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantityTest {
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
  @CsvSource({"3, 3 s", "119, 120 s", "120, 2 min", "3600, 1 h", "172800, 2 days"})
  void timesAreWrittenInAUnitThatLeavesFewDigits(double seconds, String text) {
    assertThat(Quantity.ofSeconds(seconds)).isEqualTo(text);
  }
}
