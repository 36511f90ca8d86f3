package io.github.grpcidempotency.spring.example;

/** The card company has perhaps acted, and perhaps not. */
class CardCompanyException extends RuntimeException {
  CardCompanyException(String message) {
    super(message);
  }

  CardCompanyException(String message, Throwable cause) {
    super(message, cause);
  }
}
