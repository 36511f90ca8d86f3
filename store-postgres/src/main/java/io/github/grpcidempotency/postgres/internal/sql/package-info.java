/** The statements of the store: their texts, their parameters, their rows and their failures. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.sql;

import org.jspecify.annotations.NullMarked;
