/** Finds, lists, frees and forgets the records of calls, for operators. */
@NullMarked
package io.github.grpcidempotency.admin;

import org.jspecify.annotations.NullMarked;
