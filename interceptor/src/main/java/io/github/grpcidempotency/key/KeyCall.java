package io.github.grpcidempotency.key;

import com.google.protobuf.Message;
import java.util.List;
import java.util.Optional;

/** What a key source may look at. */
public interface KeyCall {
  /** Returns the full name of the method called. */
  String procedure();

  /** Returns who calls, if authentication said so. */
  Optional<Caller> caller();

  /** Returns all values of an ASCII header, in order. */
  List<String> metadata(String name);

  /**
   * Returns the request.
   *
   * @throws IllegalStateException if the source did not say that it reads the request
   */
  Message request();
}
