package io.github.grpcidempotency.spring;

import org.springframework.transaction.annotation.Isolation;
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

  @Transactional(isolation = Isolation.READ_COMMITTED)
  public void readCommitted(Runnable work) {
    work.run();
  }

  @Transactional(isolation = Isolation.SERIALIZABLE)
  public void serializable(Runnable work) {
    work.run();
  }

  @Transactional(propagation = Propagation.REQUIRES_NEW, isolation = Isolation.SERIALIZABLE)
  public void serializableOfItsOwn(Runnable work) {
    work.run();
  }

  @Transactional(timeout = 100)
  public void patient(Runnable work) {
    work.run();
  }

  /** Its time is over as it begins. */
  @Transactional(timeout = 0)
  public void overdue(Runnable work) {
    work.run();
  }

  @Transactional(propagation = Propagation.SUPPORTS, timeout = 100)
  public void supports(Runnable work) {
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
