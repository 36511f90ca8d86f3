/** What operators do with the records of calls. */
@NullMarked
package io.github.grpcidempotency.admin;

import org.jspecify.annotations.NullMarked;
