package io.github.grpcidempotency.benchmarks.capacity;

import java.util.function.IntToDoubleFunction;

/**
 * What one stage of a record's life writes to the log: a fixed part, a part for each byte of an
 * answer that stays in its row, and a part for each byte of its chunks outside. An image of a page
 * leaves out what is empty.
 */
record StageBytes(RecordBytes record, double fixed, double perByte, double perByteOutside) {
  static final int SMALL = 100;
  static final int MIDDLE = 1_024;
  static final int LARGE = 10_240;

  /** Fits the three to three sizes, which were measured. */
  static StageBytes fit(RecordBytes record, IntToDoubleFunction measured) {
    double perByte =
        (measured.applyAsDouble(MIDDLE) - measured.applyAsDouble(SMALL)) / (MIDDLE - SMALL);
    double fixed = measured.applyAsDouble(SMALL) - perByte * SMALL;
    double outside =
        measured.applyAsDouble(LARGE) - fixed - Math.max(0, perByte) * Pages.TOAST_POINTER;
    return new StageBytes(record, fixed, perByte, outside / Pages.chunkContent(LARGE));
  }

  double of(int answerBytes) {
    return record.staysInRow(answerBytes)
        ? fixed + perByte * answerBytes
        : fixed
            + Math.max(0, perByte) * Pages.TOAST_POINTER
            + perByteOutside * Pages.chunkContent(answerBytes);
  }
}
