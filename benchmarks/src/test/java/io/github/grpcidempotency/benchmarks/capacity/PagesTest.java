package io.github.grpcidempotency.benchmarks.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PagesTest {
  @ParameterizedTest
  @CsvSource({"344, 23", "345, 22", "1268, 6", "2032, 4", "2036, 3"})
  void rowsShareAPage(double rowBytes, int rows) {
    assertThat(Pages.rowsPerPage(rowBytes)).isEqualTo(rows);
  }

  @ParameterizedTest
  @CsvSource({"357.2, 344", "1366.4, 1352"})
  void theLongestRowIsTheLongestThatStillFits(double bytesPerRow, double longest) {
    long rows = Math.round(Pages.PAGE / bytesPerRow);

    assertThat(Pages.longestRow(bytesPerRow)).isEqualTo(longest);
    assertThat(Pages.rowsPerPage(longest)).isEqualTo(rows);
    assertThat(Pages.rowsPerPage(longest + 8)).isLessThan((int) rows);
  }

  @ParameterizedTest
  @CsvSource({"1788, true", "1789, false"})
  void aLongAnswerLeavesItsRow(int answerBytes, boolean stays) {
    assertThat(Pages.staysInRow(244, answerBytes)).isEqualTo(stays);
  }

  /** 10,240 bytes are five whole chunks and a small one; two such answers share three pages. */
  @ParameterizedTest
  @CsvSource({
    "1996, 1, 2048, 2036",
    "4096, 3, 5461, 4220",
    "7984, 4, 8192, 8144",
    "10240, 6, 12288, 10480"
  })
  void anAnswerIsCutIntoChunks(int answerBytes, int chunks, double pages, double content) {
    assertThat(Pages.chunks(answerBytes)).isEqualTo(chunks);
    assertThat(Pages.chunkBytes(answerBytes)).isCloseTo(pages + chunks * 22.2, within(64.0));
    assertThat(Pages.chunkContent(answerBytes)).isEqualTo(content);
  }
}
