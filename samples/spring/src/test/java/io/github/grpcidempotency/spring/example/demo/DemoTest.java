package io.github.grpcidempotency.spring.example.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DemoTest {
  @Test
  void theDemoOfTheShopHasNoFailedCheck() throws Exception {
    assertThat(Demo.play()).isTrue();
  }
}
