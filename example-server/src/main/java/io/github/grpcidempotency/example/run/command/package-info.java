/** The commands that start a server and manage its keyset, with all their options. */
@NullMarked
package io.github.grpcidempotency.example.run.command;

import org.jspecify.annotations.NullMarked;
