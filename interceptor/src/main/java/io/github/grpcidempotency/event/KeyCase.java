package io.github.grpcidempotency.event;

/** What kind of key the calls of a procedure carry. */
public enum KeyCase {
  /** The client sends it in the request's metadata. */
  HEADER,
  /** It is derived from the request, or determined by a source of the service's own. */
  DERIVED,
  /** The handler manages keys itself, or the work that has no call. */
  HANDLER_INTERNAL
}
