/** What an operator sets in files, and may change while the server runs: keys and retentions. */
@NullMarked
package io.github.grpcidempotency.example.run.settings;

import org.jspecify.annotations.NullMarked;
