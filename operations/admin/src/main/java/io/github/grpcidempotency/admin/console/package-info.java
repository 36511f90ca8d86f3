/** A web page for operators, served by the JDK's HTTP server or by the host's server. */
@NullMarked
package io.github.grpcidempotency.admin.console;

import org.jspecify.annotations.NullMarked;
