/**
 * Makes the dashboard and the alerts that are committed in this module, and tests them. With {@code
 * -Dmonitoring.write}, {@code MonitoringFilesTest} writes them.
 */
@NullMarked
package io.github.grpcidempotency.micrometer.monitoring;

import org.jspecify.annotations.NullMarked;
