package io.github.grpcidempotency.key;

import com.google.protobuf.Descriptors.Descriptor;
import io.github.grpcidempotency.proto.Experimental;
import java.util.List;
import java.util.Optional;

/**
 * Finds the keys of a procedure's calls. Sources can be combined: {@code
 * firstOf(metadata("idempotency-key").as(KeyFormat.uuid()), requestId())}.
 *
 * <p>Implementations are immutable and thread-safe. A source that {@linkplain #readsRequest() reads
 * the request} is called on the thread on which the handler would run, before the key is claimed
 * and outside any transaction. It may block as a handler may, for example to look up a webhook. A
 * source that does not read the request is called when the call starts, and must not block. Both
 * are called again for every retry.
 */
public interface KeySource {
  /**
   * Looks for the key of a call.
   *
   * @return the key; empty if the call has none
   * @throws KeyException if the key is malformed, or if the caller cannot prove that it is theirs
   * @throws io.github.grpcidempotency.store.StoreException if the source cannot read the data that
   *     it needs; the call is refused with {@code UNAVAILABLE}, even if its procedure fails open
   */
  Optional<FoundKey> find(KeyCall call);

  /**
   * Returns the place of the keys for error messages to clients: a header, a field, a provider's
   * event.
   */
  default String name() {
    return "idempotency key";
  }

  /**
   * Returns the sources that this source combines, in order; for any other source, only the source
   * itself. Errors and events name the one source that has a key.
   */
  default List<KeySource> alternatives() {
    return List.of(this);
  }

  /**
   * Returns whether {@link #find} reads the request. If not, calls without a key pass through
   * unchanged.
   */
  default boolean readsRequest() {
    return true;
  }

  /**
   * Returns the key that results from one value in a header or a field, for a client that requests
   * the outcome of its call by that value; empty if keys are not made from one value.
   *
   * @throws KeyException if the value is malformed
   */
  default Optional<String> keyOf(String value) {
    return Optional.empty();
  }

  /** Returns the problems of this source for a type of request; empty if there are none. */
  default List<String> problems(Descriptor request) {
    return List.of();
  }

  /**
   * Returns this source with a format, which checks its keys and converts them to their canonical
   * form.
   */
  default KeySource as(KeyFormat format) {
    return KeySources.formatted(this, format);
  }

  /**
   * Returns this source with a prefix in front of its keys, which keeps the keys of several sources
   * apart. By convention it ends with a colon, which client keys cannot contain. Prefix and key
   * together have at most 512 characters.
   */
  default KeySource prefixed(String prefix) {
    return KeySources.prefixed(this, prefix);
  }

  /**
   * Returns the source that reads a header. More than one value, or an empty value, is malformed.
   */
  static KeySource metadata(String name) {
    return new KeySources.Metadata(name);
  }

  /**
   * Returns the source that reads a string field of the request. An empty field means that there is
   * no key.
   *
   * @param path field names, joined by dots
   */
  static KeySource requestField(String path) {
    return new KeySources.RequestField(path);
  }

  /** Returns the source that reads the field {@code request_id}, a random UUID (AIP-155). */
  static KeySource requestId() {
    return requestField("request_id").as(KeyFormat.uuid4());
  }

  /**
   * Returns the source that uses the id of the new resource as the key, for callers that assign ids
   * themselves. The trailer {@code idempotency-replayed} shows whether the resource existed
   * already.
   *
   * @param path the field that holds the id, a UUID
   */
  static KeySource assignedId(String path) {
    return requestField(path).as(KeyFormat.uuid()).prefixed("id:");
  }

  /**
   * Returns the source that computes a key as a SHA-256 over some fields, the user and the
   * procedure, for callers that cannot send a key. Calls with the same content are the same
   * operation until the record expires. A call that sets none of the fields has no key.
   *
   * @param paths the fields, at least one
   */
  @Experimental
  static KeySource content(String... paths) {
    return new KeySources.Content(List.of(paths));
  }

  /** Returns the source that calls several sources in order and returns the first key found. */
  static KeySource firstOf(KeySource... sources) {
    return new KeySources.FirstOf(List.of(sources));
  }
}
