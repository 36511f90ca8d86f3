/** What the wire contract calls things, for servers and clients alike. */
package io.github.grpcidempotency.proto;
