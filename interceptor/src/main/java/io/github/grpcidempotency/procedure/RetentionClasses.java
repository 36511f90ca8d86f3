package io.github.grpcidempotency.procedure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The retention classes of a server, by name. If an option in a {@code .proto} names an unknown
 * class, the server does not start. Immutable.
 *
 * <pre>{@code
 * RetentionClasses.presets().with(new RetentionClass("audit", Duration.ofDays(365)))
 * }</pre>
 */
public final class RetentionClasses {
  private static final RetentionClasses PRESETS =
      of(RetentionClass.INTERACTIVE, RetentionClass.WEBHOOK, RetentionClass.FINANCIAL);

  private final SortedMap<String, RetentionClass> byName;

  private RetentionClasses(SortedMap<String, RetentionClass> byName) {
    this.byName = Collections.unmodifiableSortedMap(byName);
  }

  /** Returns the three presets. */
  public static RetentionClasses presets() {
    return PRESETS;
  }

  /**
   * Returns these classes and no others, for a service that gives another duration to the name of a
   * preset.
   *
   * @throws IllegalArgumentException if two classes have the same name
   */
  public static RetentionClasses of(RetentionClass... classes) {
    return named(List.of(classes));
  }

  /**
   * Returns these classes and others.
   *
   * @throws IllegalArgumentException if two classes have the same name
   */
  public RetentionClasses with(RetentionClass... classes) {
    List<RetentionClass> all = new ArrayList<>(byName.values());
    all.addAll(List.of(classes));
    return named(all);
  }

  /** Returns the class of this name, if it is known. */
  public Optional<RetentionClass> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  /** Returns all names, in their order. */
  public SortedSet<String> names() {
    return Collections.unmodifiableSortedSet(new TreeSet<>(byName.keySet()));
  }

  private static RetentionClasses named(List<RetentionClass> classes) {
    SortedMap<String, RetentionClass> byName = new TreeMap<>();
    for (RetentionClass one : classes) {
      if (byName.put(one.name(), one) != null) {
        throw new IllegalArgumentException(
            "two retention classes have the name \"%s\"".formatted(one.name()));
      }
    }
    return new RetentionClasses(byName);
  }
}
