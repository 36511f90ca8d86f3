package io.github.grpcidempotency.spring.example;

/** It is unknown whether the card company has executed the request. */
class CardCompanyException extends RuntimeException {
  CardCompanyException(String message) {
    super(message);
  }

  CardCompanyException(String message, Throwable cause) {
    super(message, cause);
  }
}
