/** What the command lines of both programs share. */
@NullMarked
package io.github.grpcidempotency.example.run.command;

import org.jspecify.annotations.NullMarked;
