/**
 * Background work of the library's modules: threads, repeated tasks, and a log that is limited in
 * rate. It is in this module because servers and clients both depend on it.
 */
@NullMarked
package io.github.grpcidempotency.background;

import org.jspecify.annotations.NullMarked;
