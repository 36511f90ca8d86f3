package io.github.grpcidempotency.benchmarks.capacity;

/**
 * How PostgreSQL lays rows out on its pages of 8 KB: a line pointer of 4 bytes each, lengths
 * rounded up to 8. A value that would make a row longer than about 2 KB is cut into chunks of 1,996
 * bytes, which are rows of a table of their own (TOAST). Answers are taken as incompressible.
 */
final class Pages {
  static final double PAGE = 8_192;

  /** What is left of a page beside its header. */
  private static final int ROOM = 8_168;

  private static final int LINE_POINTER = 4;

  /** TOAST_TUPLE_THRESHOLD. */
  private static final int LONGEST_ROW = 2_032;

  private static final int CHUNK = 1_996;

  /** A tuple's header, the id and number of the chunk, and its length. */
  private static final int CHUNK_OVERHEAD = 36;

  /** An entry in the index of chunks, on pages that are filled in order. */
  private static final double CHUNK_INDEX_ENTRY = 20 / 0.9;

  /** What is left of a value in its row. */
  static final int TOAST_POINTER = 18;

  /** So many answers in a row show how their chunks share pages. */
  private static final int SAMPLE = 64;

  private Pages() {}

  /** Returns how many rows of a length go on a page. */
  static int rowsPerPage(double rowBytes) {
    return (int) (ROOM / (aligned(rowBytes) + LINE_POINTER));
  }

  /** Returns the longest row of which so many go on a page. */
  static double longestRow(double bytesPerRow) {
    long rows = Math.round(PAGE / bytesPerRow);
    return Math.floor((ROOM / (double) rows - LINE_POINTER) / 8) * 8;
  }

  /** Returns whether an answer stays in a row whose other columns take so much. */
  static boolean staysInRow(double otherBytes, int answerBytes) {
    return otherBytes + answerBytes <= LONGEST_ROW;
  }

  /** Returns how many chunks an answer is cut into. */
  static int chunks(int answerBytes) {
    return (answerBytes + CHUNK - 1) / CHUNK;
  }

  /** Returns the bytes that an answer takes as chunks, which fill pages in turn. */
  static double chunkBytes(int answerBytes) {
    int pages = 1;
    double free = ROOM;
    for (int answer = 0; answer < SAMPLE; answer++) {
      for (int left = answerBytes; left > 0; left -= CHUNK) {
        double needed = aligned(Math.min(left, CHUNK) + CHUNK_OVERHEAD) + LINE_POINTER;
        if (needed > free) {
          pages++;
          free = ROOM;
        }
        free -= needed;
      }
    }
    return pages * PAGE / SAMPLE + chunks(answerBytes) * CHUNK_INDEX_ENTRY;
  }

  /** Returns the bytes of an answer's chunks alone, without what is left empty on their pages. */
  static double chunkContent(int answerBytes) {
    double content = 0;
    for (int left = answerBytes; left > 0; left -= CHUNK) {
      content += aligned(Math.min(left, CHUNK) + CHUNK_OVERHEAD) + LINE_POINTER;
    }
    return content;
  }

  private static double aligned(double bytes) {
    return Math.ceil(bytes / 8) * 8;
  }
}
