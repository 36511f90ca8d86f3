package io.github.grpcidempotency.spring;

import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** A service of the host: what it is given runs as the method's annotation says. */
class Propagations {
  @Transactional
  public void required(Runnable work) {
    work.run();
  }

  @Transactional(readOnly = true)
  public void readOnly(Runnable work) {
    work.run();
  }

  @Transactional(propagation = Propagation.NESTED)
  public void nested(Runnable work) {
    work.run();
  }

  @Transactional(propagation = Propagation.REQUIRES_NEW)
  public void requiresNew(Runnable work) {
    work.run();
  }

  @Transactional(propagation = Propagation.NOT_SUPPORTED)
  public void notSupported(Runnable work) {
    work.run();
  }
}
