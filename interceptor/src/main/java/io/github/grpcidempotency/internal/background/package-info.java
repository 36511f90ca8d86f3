/** How the library's own threads work beside the calls: none of them ends by what a task throws. */
@NullMarked
package io.github.grpcidempotency.internal.background;

import org.jspecify.annotations.NullMarked;
