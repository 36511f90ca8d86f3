package io.github.grpcidempotency.torture;

import java.util.List;

/**
 * How a server comes to its database.
 *
 * @param url of its pool
 * @param proxied whether what it sends passes a proxy that can break it
 * @param options of its JVM
 */
record Road(String url, boolean proxied, List<String> options) {}
