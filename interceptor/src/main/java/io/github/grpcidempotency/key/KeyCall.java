package io.github.grpcidempotency.key;

import com.google.protobuf.Message;
import java.util.List;
import java.util.Optional;

/** A call, as seen by a key source. */
public interface KeyCall {
  /** Returns the full name of the called method. */
  String procedure();

  /** Returns the authenticated caller, if there is one. */
  Optional<Caller> caller();

  /** Returns all values of an ASCII header, in order. */
  List<String> metadata(String name);

  /**
   * Returns the request.
   *
   * @throws IllegalStateException if the source does not {@linkplain KeySource#readsRequest() read
   *     the request}
   */
  Message request();
}
