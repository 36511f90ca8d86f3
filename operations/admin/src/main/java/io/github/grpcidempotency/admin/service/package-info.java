/** The service {@code idempotency.v1.Admin}, for hosts that add it to a console of their own. */
@NullMarked
package io.github.grpcidempotency.admin.service;

import org.jspecify.annotations.NullMarked;
