package io.github.grpcidempotency.spring.boot;

import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/** A service with a method that cannot join a claim's transaction. */
class Strict {
  @Transactional(isolation = Isolation.SERIALIZABLE)
  public void serializable() {}
}
