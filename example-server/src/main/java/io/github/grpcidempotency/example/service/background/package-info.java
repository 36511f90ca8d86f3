/** What a server does beside serving calls, for as long as it runs. */
@NullMarked
package io.github.grpcidempotency.example.service.background;

import org.jspecify.annotations.NullMarked;
