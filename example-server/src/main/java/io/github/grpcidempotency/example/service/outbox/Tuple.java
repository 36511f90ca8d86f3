package io.github.grpcidempotency.example.service.outbox;

/**
 * An authorization tuple: the subject has the relation to the object.
 *
 * @param subject such as {@code user:<uuid>}
 * @param relation such as {@code owner}
 * @param object such as {@code project:<uuid>}
 */
public record Tuple(String subject, String relation, String object) {}
