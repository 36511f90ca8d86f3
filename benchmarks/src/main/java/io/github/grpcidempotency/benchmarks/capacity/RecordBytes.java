package io.github.grpcidempotency.benchmarks.capacity;

/**
 * What a record takes on disk.
 *
 * @param otherBytes what its row takes beside the answer
 * @param indexBytes its entries in the indexes that every table has, and in that of its resource
 */
record RecordBytes(double otherBytes, double indexBytes) {

  /**
   * Fits them to the size of a small answer's record; the rest follows from the layout of pages.
   */
  static RecordBytes fit(int answerBytes, double heapBytes, double indexBytes) {
    return new RecordBytes(Pages.longestRow(heapBytes) - answerBytes, indexBytes);
  }

  /** Returns the bytes in the table, and in its TOAST. */
  double heap(int answerBytes) {
    return Pages.PAGE / rowsPerPage(answerBytes)
        + (staysInRow(answerBytes) ? 0 : Pages.chunkBytes(answerBytes));
  }

  double withIndexes(int answerBytes) {
    return heap(answerBytes) + indexBytes;
  }

  int rowsPerPage(int answerBytes) {
    return Pages.rowsPerPage(
        otherBytes + (staysInRow(answerBytes) ? answerBytes : Pages.TOAST_POINTER));
  }

  boolean staysInRow(int answerBytes) {
    return Pages.staysInRow(otherBytes, answerBytes);
  }
}
