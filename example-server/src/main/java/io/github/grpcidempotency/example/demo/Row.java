package io.github.grpcidempotency.example.demo;

/** The number of rows that were found in the database. */
record Row(int expected, int actual, String what) {
  boolean isExpected() {
    return actual == expected;
  }

  @Override
  public String toString() {
    return actual + " " + what;
  }
}
