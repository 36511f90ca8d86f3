/** Tests of the dashboard and the alerts that are committed in this module. */
@NullMarked
package io.github.grpcidempotency.micrometer.monitoring;

import org.jspecify.annotations.NullMarked;
