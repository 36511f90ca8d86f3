package io.github.grpcidempotency.example.demo;

/** Shows one feature of the library. */
interface Scene {
  String title();

  void play(Stage stage, Story story) throws Exception;
}
