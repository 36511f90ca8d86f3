package io.github.grpcidempotency.benchmarks.report;

import java.util.LinkedHashMap;
import java.util.Map;

/** The colours of variants, the same in all plots: those of other libraries are the warm ones. */
final class Palette {
  private static final int FIRST_OURS = 1;
  private static final int LAST_OURS = 7;
  private static final int FIRST_PEER = 8;
  private static final int LAST_PEER = 11;
  private static final int OTHER = 12;

  private final Map<String, Kind> kinds;
  private final Map<String, Integer> colors = new LinkedHashMap<>();

  Palette(Map<String, Kind> kinds) {
    this.kinds = kinds;
    int ours = FIRST_OURS;
    int peer = FIRST_PEER;
    boolean isFirst = true;
    for (Map.Entry<String, Kind> each : kinds.entrySet()) {
      int color =
          switch (each.getValue()) {
            case REFERENCE -> isFirst ? 0 : OTHER;
            case LIMIT, REPLAY -> OTHER;
            case OURS -> Math.min(ours++, LAST_OURS);
            case PEER -> Math.min(peer++, LAST_PEER);
          };
      colors.put(each.getKey(), color);
      isFirst = false;
    }
  }

  String color(String variant) {
    return "s" + colors.getOrDefault(variant, OTHER);
  }

  boolean isDashed(String variant) {
    return kinds.get(variant) == Kind.PEER;
  }
}
