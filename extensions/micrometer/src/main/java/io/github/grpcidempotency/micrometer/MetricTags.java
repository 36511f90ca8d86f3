package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.RefusalReason;
import java.util.Locale;

/**
 * The names of the meters' tags. Prometheus calls them labels and uses the same names. No value
 * comes from a client. The number of values that a service defines, such as sources of keys, is
 * limited.
 */
final class MetricTags {
  /** The procedure's full name, such as {@code shop.v1.Orders/CreateOrder}. */
  static final String PROCEDURE = "procedure";

  /** How the call arrived: {@code call}, {@code work}, {@code recovery} or {@code operations}. */
  static final String ENTRY = "entry";

  /** The procedure's key policy, such as {@code required}. */
  static final String POLICY = "policy";

  /** How effect and record are committed, such as {@code transactional}. */
  static final String EXECUTION = "execution";

  /** The caller's shard; an optional tag. */
  static final String SHARD = "shard";

  /** Where the key is read from: a header, a field, a provider's event. */
  static final String SOURCE = "source";

  /** Whether a call without a key was refused: {@code true} or {@code false}. */
  static final String REFUSED = "refused";

  /**
   * Why a key is malformed, such as {@code too_long}; or why a call was refused, with the spelling
   * of {@link RefusalReason}, which clients get.
   */
  static final String REASON = "reason";

  /** A detail of the reason, such as {@code request}; otherwise {@link #NONE}. */
  static final String DETAIL = "detail";

  /** Why a source returned no key, such as {@code unauthenticated}. */
  static final String FAILURE = "failure";

  /** How a claim ended: {@code won} or {@code replayed}. */
  static final String RESULT = "result";

  /** The kind of the replayed outcome: {@code response} or {@code error}. */
  static final String OUTCOME = "outcome";

  /** How a claim was settled, such as {@code complete}. */
  static final String SETTLEMENT = "settlement";

  /** Why a call was unprotected, such as {@code failed_open}. */
  static final String CAUSE = "cause";

  /** Why a duplicate stopped waiting, such as {@code answered}. */
  static final String END = "end";

  /** The database schema that the library's tables are in. */
  static final String SCHEMA = "schema";

  /** The value of a tag that does not apply. */
  static final String NONE = "none";

  /** The value for all values beyond the limit. */
  static final String OTHER = "other";

  private MetricTags() {}

  /** Returns the value of a tag for an enum constant. */
  static String value(Enum<?> constant) {
    return constant instanceof RefusalReason reason
        ? reason.wireName()
        : constant.name().toLowerCase(Locale.ROOT);
  }
}
