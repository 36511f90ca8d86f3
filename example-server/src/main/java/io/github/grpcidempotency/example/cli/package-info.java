/** What the command lines of both programs share. */
@NullMarked
package io.github.grpcidempotency.example.cli;

import org.jspecify.annotations.NullMarked;
