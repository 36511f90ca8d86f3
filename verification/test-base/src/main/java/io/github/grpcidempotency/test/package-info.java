/**
 * Checks for the tests of all modules: the log, a module's public API, and the snippets of pages.
 */
@NullMarked
package io.github.grpcidempotency.test;

import org.jspecify.annotations.NullMarked;
