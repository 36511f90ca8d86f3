package io.github.grpcidempotency.internal.event;

import java.util.Optional;
import java.util.UUID;
import org.slf4j.event.Level;

/**
 * The log line of an event.
 *
 * <ul>
 *   <li>Debug: ordinary events, such as claims, replays and waits.
 *   <li>Info: events that may be of interest later, such as takeovers, late recordings and mistakes
 *       of clients.
 *   <li>Warning: the guarantee is lost, or a client is affected.
 *   <li>Error: an operator has to act.
 * </ul>
 *
 * @param reason the reason, from a small set of names
 * @param cause a further detail
 * @param source the key source, unless it is the source of the call's key
 */
record DecisionLine(
    Level level,
    String decision,
    String words,
    Optional<UUID> operationId,
    Optional<String> reason,
    Optional<String> cause,
    Optional<String> source) {
  static DecisionLine of(Level level, String decision, String words) {
    return new DecisionLine(
        level,
        decision,
        words,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  DecisionLine about(UUID operation) {
    return about(Optional.of(operation));
  }

  DecisionLine about(Optional<UUID> operation) {
    return new DecisionLine(level, decision, words, operation, reason, cause, source);
  }

  DecisionLine because(Object name) {
    Optional<String> because = Optional.of(name.toString());
    return new DecisionLine(level, decision, words, operationId, because, cause, source);
  }

  DecisionLine causedBy(Optional<String> word) {
    return new DecisionLine(level, decision, words, operationId, reason, word, source);
  }

  DecisionLine from(String place) {
    Optional<String> from = Optional.of(place);
    return new DecisionLine(level, decision, words, operationId, reason, cause, from);
  }
}
