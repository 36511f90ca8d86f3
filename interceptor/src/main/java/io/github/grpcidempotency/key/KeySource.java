package io.github.grpcidempotency.key;

import com.google.protobuf.Descriptors.Descriptor;
import java.util.List;
import java.util.Optional;

/**
 * Where a procedure's key comes from. Sources are composed: {@code
 * firstOf(metadata("idempotency-key").as(KeyFormat.uuid()), requestId())}.
 *
 * <p>Implementations are immutable and thread-safe. A source that {@linkplain #readsRequest() reads
 * the request} is asked on the thread on which the handler would run, before the key is claimed and
 * outside any transaction: it may block as a handler may, to look up whose webhook this is for
 * instance. One that does not is asked when the call starts, and must not block. In either case it
 * is asked on every retry.
 */
public interface KeySource {
  /**
   * Looks for the key of a call.
   *
   * @return empty if the call carries none
   * @throws MalformedKeyException if it carries one that cannot be used
   * @throws UnauthenticatedKeyException if it carries one, and no proof that the key is its
   *     sender's to use
   * @throws io.github.grpcidempotency.store.StoreException if what has to be looked up for it
   *     cannot be reached: the call is refused with {@code UNAVAILABLE}, whatever the procedure
   *     says of outages
   */
  Optional<FoundKey> find(KeyCall call);

  /**
   * Returns where the keys come from, as errors name it to clients: a header, a field, a provider's
   * event.
   */
  default String name() {
    return "idempotency key";
  }

  /**
   * Returns whether {@link #find} reads the request; if not, calls without a key stay untouched.
   */
  default boolean readsRequest() {
    return true;
  }

  /** Returns what is wrong with this source for requests of a type; empty if nothing is. */
  default List<String> problems(Descriptor request) {
    return List.of();
  }

  /** Returns this source with its keys checked, and spelt, by a format. */
  default KeySource as(KeyFormat format) {
    return KeySources.formatted(this, format);
  }

  /**
   * Returns this source with a prefix before its keys, which keeps several sources' keys apart; by
   * custom it ends in a colon, which client keys cannot contain.
   */
  default KeySource prefixed(String prefix) {
    return KeySources.prefixed(this, prefix);
  }

  /** Returns the value of a header; two values, or an empty one, are malformed. */
  static KeySource metadata(String name) {
    return KeySources.metadata(name);
  }

  /**
   * Returns the value of a string field of the request, empty meaning none.
   *
   * @param path field names, joined by dots
   */
  static KeySource requestField(String path) {
    return KeySources.requestField(path);
  }

  /** Returns the field {@code request_id}, a random UUID (AIP-155). */
  static KeySource requestId() {
    return requestField("request_id").as(KeyFormat.uuid4());
  }

  /**
   * Returns the id that the caller assigned to the new resource, for services that are the only
   * ones to mint ids and push them down: the id is the key. That the resource had existed already,
   * the answer says through {@code idempotency-replayed}.
   *
   * @param path the field that holds the id, a UUID
   */
  static KeySource assignedId(String path) {
    return requestField(path).as(KeyFormat.uuid()).prefixed("id:");
  }

  /**
   * Returns a SHA-256 over chosen fields, the user and the procedure, for callers that cannot send
   * a key: the same content is the same operation until the record expires.
   *
   * @param paths the fields, at least one
   */
  static KeySource content(String... paths) {
    return KeySources.content(List.of(paths));
  }

  /** Returns the first key that any of several sources finds, in order. */
  static KeySource firstOf(KeySource... sources) {
    return KeySources.firstOf(List.of(sources));
  }
}
