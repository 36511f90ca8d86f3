/** A web page for operators, served by the JDK's HTTP server. */
@NullMarked
package io.github.grpcidempotency.admin.console;

import org.jspecify.annotations.NullMarked;
