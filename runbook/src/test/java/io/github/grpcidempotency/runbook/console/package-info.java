/** Uses the console as operators do, in a browser and past it. */
@NullMarked
package io.github.grpcidempotency.runbook.console;

import org.jspecify.annotations.NullMarked;
