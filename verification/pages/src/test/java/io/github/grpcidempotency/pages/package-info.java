/** Runs what pages tell operators to run, and checks the links and the code of all pages. */
@NullMarked
package io.github.grpcidempotency.pages;

import org.jspecify.annotations.NullMarked;
