/** What tests of all modules look at: the log, and the list of a module's public API. */
@NullMarked
package io.github.grpcidempotency.test;

import org.jspecify.annotations.NullMarked;
