package io.github.grpcidempotency.example.demo;

/** One chapter of the demo. */
interface Step {
  String title();

  void play(Stage stage, Story story);
}
