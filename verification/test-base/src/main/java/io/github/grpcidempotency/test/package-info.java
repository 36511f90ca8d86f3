/**
 * For the tests of all modules: the programs that they start, and checks of the log, of a module's
 * public API, and of the snippets of pages.
 */
@NullMarked
package io.github.grpcidempotency.test;

import org.jspecify.annotations.NullMarked;
