package io.github.grpcidempotency.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.proto.Experimental;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The public API of a module: public types outside {@code internal}, and their public and protected
 * members. A file in the module lists it, so that every change of it is seen in a review.
 */
public final class PublicApi {
  private static final String ROOT = "io.github.grpcidempotency.";
  private static final Set<String> ENUMS_OWN = Set.of("values", "valueOf");
  private static final Set<String> RECORDS_OWN = Set.of("equals", "hashCode", "toString");

  /** Named by some JDKs only. */
  private static final Pattern SEALED = Pattern.compile("\\b(non-)?sealed ");

  private PublicApi() {}

  /**
   * Compares a module with its list, and checks that no signature leads into {@code internal}.
   *
   * @param type any type of the module
   */
  public static void assertListed(Class<?> type, Path list) throws Exception {
    URI classes = type.getProtectionDomain().getCodeSource().getLocation().toURI();
    List<String> found = of(Path.of(classes));
    Path actual = Files.write(Path.of("target", "api.txt"), found);

    assertThat(found).noneMatch(line -> line.contains("internal."));
    assertThat(found)
        .as("the public API has changed; if the change is intended, copy %s to %s", actual, list)
        .isEqualTo(Files.readAllLines(list));
  }

  /** Returns a line for each type and member of a module's classes. */
  private static List<String> of(Path classes) {
    try (Stream<Path> files = Files.walk(classes)) {
      return files
          .map(file -> classes.relativize(file).toString())
          .filter(name -> name.endsWith(".class") && !name.contains("package-info"))
          .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
          .filter(name -> !name.contains(".internal."))
          .map(PublicApi::load)
          .filter(PublicApi::isVisible)
          .sorted(Comparator.comparing(Class::getName))
          .flatMap(PublicApi::lines)
          .toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, PublicApi.class.getClassLoader());
    } catch (ClassNotFoundException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static boolean isVisible(Class<?> type) {
    Class<?> outer = type.getEnclosingClass();
    return isVisible(type.getModifiers()) && (outer == null || isVisible(outer));
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  /**
   * Returns the type, and then its members, sorted; without the methods that the compiler adds to
   * every enum and record.
   */
  private static Stream<String> lines(Class<?> type) {
    Stream<String> members =
        Stream.of(
                type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
            .flatMap(Arrays::<Member>stream)
            .filter(member -> isVisible(member.getModifiers()) && !member.isSynthetic())
            .filter(member -> !isAddedByTheCompiler(type, member))
            .map(
                member -> "  " + signature(member).replace(type.getName() + ".", "") + mark(member))
            .sorted();
    String declaration = SEALED.matcher(type.toGenericString()).replaceFirst("") + mark(type);
    return Stream.concat(Stream.of(declaration), members)
        .map(line -> line.replace(ROOT, "").replace("java.lang.", "").replace("java.util.", ""));
  }

  /** The methods that the compiler adds to a record are final, unlike those that replace them. */
  private static boolean isAddedByTheCompiler(Class<?> type, Member member) {
    return (type.isEnum() && ENUMS_OWN.contains(member.getName()))
        || (type.isRecord()
            && Modifier.isFinal(member.getModifiers())
            && RECORDS_OWN.contains(member.getName()));
  }

  private static String mark(Object declared) {
    return ((AnnotatedElement) declared).isAnnotationPresent(Experimental.class)
        ? " // experimental"
        : "";
  }

  private static String signature(Member member) {
    if (member instanceof Method method) {
      return method.toGenericString();
    }
    return member instanceof Constructor<?> constructor
        ? constructor.toGenericString()
        : ((Field) member).toGenericString();
  }
}
