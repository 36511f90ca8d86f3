package io.github.grpcidempotency.example.demo;

/** Shows one guarantee of the library. */
interface Scene {
  String title();

  /** Returns what the scene shows, for the summary. */
  String guarantee();

  void play(Stage stage, Story story) throws Exception;
}
