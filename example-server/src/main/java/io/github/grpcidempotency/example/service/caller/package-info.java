/**
 * The caller: a stand-in for the authentication that a real service has in front of the library.
 */
@NullMarked
package io.github.grpcidempotency.example.service.caller;

import org.jspecify.annotations.NullMarked;
