package io.github.grpcidempotency.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Checks for settings of a server that would lose records. Immutable. */
record ServerSettings(Durability durability) {
  private static final String FLUSHING = "*appendfsync*";

  List<String> problemsOf(Map<String, String> info) {
    List<String> problems = new ArrayList<>();
    String eviction = info.getOrDefault("maxmemory_policy", "");
    if (!eviction.equals("noeviction")) {
      problems.add(
          ("maxmemory-policy is %s: if the server runs out of memory, it deletes records, and"
                  + " their calls run again; set it to noeviction")
              .formatted(eviction));
    }
    if (mustAppend() && !appends(info)) {
      problems.add(
          "appendonly is no: a crash of Redis would lose records, and their calls would run"
              + " again; set appendonly to yes, or choose another Durability");
    }
    return problems;
  }

  /** Returns whether the flush settings matter. */
  boolean dependOnFlushing(Map<String, String> info) {
    return mustAppend() && appends(info);
  }

  /** Reads the flush settings of a server. */
  static Map<String, String> flushing(RedisSession session) {
    return session.await(session.commands().configGet(FLUSHING));
  }

  List<String> problemsOfFlushing(Map<String, String> flushing) {
    return switch (durability.persistence()) {
      case EVERY_WRITE -> {
        List<String> problems = new ArrayList<>();
        problems.addAll(unless(flushing, "appendfsync", "always"));
        problems.addAll(unless(flushing, "no-appendfsync-on-rewrite", "no"));
        yield problems;
      }
      case EVERY_SECOND -> unless(flushing, "appendfsync", "everysec", "always");
      case IN_MEMORY, AS_OPERATED -> List.of();
    };
  }

  private static List<String> unless(Map<String, String> found, String name, String... wanted) {
    String value = found.getOrDefault(name, "");
    if (List.of(wanted).contains(value)) {
      return List.of();
    }
    return List.of(
        ("%s is %s: a crash of the machine could lose records, and their calls would run again;"
                + " set it to %s, or choose another Durability")
            .formatted(name, value, wanted[0]));
  }

  private boolean mustAppend() {
    return switch (durability.persistence()) {
      case EVERY_WRITE, EVERY_SECOND -> true;
      case IN_MEMORY, AS_OPERATED -> false;
    };
  }

  private static boolean appends(Map<String, String> info) {
    return info.getOrDefault("aof_enabled", "0").equals("1");
  }
}
