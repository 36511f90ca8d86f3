package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.RefusalReason;
import java.util.Locale;

/**
 * The names of the meters' tags. Prometheus calls them labels and spells them alike. No value comes
 * from a client; those that a service makes up itself, such as tenants, are limited in number.
 */
public final class MetricTags {
  /** The procedure's full name, such as {@code shop.v1.Orders/CreateOrder}. */
  public static final String PROCEDURE = "procedure";

  /** How the call came in: {@code call}, {@code work}, {@code recovery} or {@code operations}. */
  public static final String ENTRY = "entry";

  /** The procedure's key policy, such as {@code required}. */
  public static final String POLICY = "policy";

  /**
   * What kind of key its calls carry: {@code header}, {@code derived}, {@code handler_internal}.
   */
  public static final String CASE = "case";

  /** How effect and record belong together, such as {@code transactional}. */
  public static final String EXECUTION = "execution";

  /** The caller's tenant, only if asked for. */
  public static final String TENANT = "tenant";

  /** The caller's shard, only if asked for. */
  public static final String SHARD = "shard";

  /** Where a key was found or looked for: a header, a field, a provider's event. */
  public static final String SOURCE = "source";

  /** Whether a call without a key was refused: {@code true} or {@code false}. */
  public static final String REFUSED = "refused";

  /**
   * What is wrong with a key, such as {@code too_long}; or why a call was refused, as {@link
   * RefusalReason} spells it and clients see it.
   */
  public static final String REASON = "reason";

  /** A word that says more than the reason, such as {@code request}; else {@link #NONE}. */
  public static final String DETAIL = "detail";

  /** Why a source could not give a key, such as {@code unauthenticated}. */
  public static final String FAILURE = "failure";

  /** How a claim ended: {@code won} or {@code replayed}. */
  public static final String RESULT = "result";

  /** What was replayed: {@code response} or {@code error}. */
  public static final String OUTCOME = "outcome";

  /** What became of a claim, such as {@code complete}. */
  public static final String SETTLEMENT = "settlement";

  /** Why a call was unprotected, such as {@code failed_open}. */
  public static final String CAUSE = "cause";

  /** Why a duplicate waits no longer, such as {@code answered}. */
  public static final String END = "end";

  /** The database schema that the library's tables are in. */
  public static final String SCHEMA = "schema";

  /** The value of a tag that does not apply. */
  public static final String NONE = "none";

  /** The value that stands for all that come after the most that a tag may have. */
  public static final String OTHER = "other";

  private MetricTags() {}

  /** Returns the spelling of a reason, cause and the like as a tag's value. */
  static String value(Enum<?> constant) {
    return constant instanceof RefusalReason
        ? constant.name()
        : constant.name().toLowerCase(Locale.ROOT);
  }
}
