package io.github.grpcidempotency.event;

/** The origin of the keys of a procedure. */
public enum KeyCase {
  /** The client sends the key in the call's metadata. */
  HEADER,
  /** The key is derived from the request, or found by a key source of the service. */
  DERIVED,
  /** The handler, or the caller of {@code IdempotentWork}, manages keys itself. */
  HANDLER_INTERNAL
}
