package io.github.grpcidempotency.compatibility;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Handle;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** What the library's classes name of others, looked up on a class path without loading it. */
final class Linkage implements AutoCloseable {
  private static final String LIBRARY = "io/github/grpcidempotency/";

  /** Optional dependencies: a service that encrypts, or uses jOOQ or HikariCP, brings them. */
  private static final List<String> OPTIONAL =
      List.of("com/google/crypto/tink/", "com/zaxxer/hikari/", "org/jooq/");

  private final URLClassLoader loader;
  private final Map<String, Optional<ClassNode>> classes = new HashMap<>();
  private final Set<Reference> references = new HashSet<>();
  private final SortedSet<String> missing = new TreeSet<>();

  private Linkage(URLClassLoader loader) {
    this.loader = loader;
  }

  /** Looks up everything; the library is on the class path as well. */
  static Linkage on(List<Path> classPath) throws IOException {
    List<URL> urls = new ArrayList<>();
    for (Path entry : classPath) {
      urls.add(entry.toUri().toURL());
    }
    Linkage linkage =
        new Linkage(
            new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader()));
    for (Path entry : classPath) {
      linkage.check(entry);
    }
    return linkage;
  }

  /** Returns how many different references there are. */
  int checked() {
    return references.size();
  }

  /** Returns those that lead nowhere, each with a class that has it. */
  SortedSet<String> missing() {
    return missing;
  }

  @Override
  public void close() throws IOException {
    loader.close();
  }

  private void check(Path entry) throws IOException {
    if (Files.isDirectory(entry)) {
      checkBelow(entry);
    } else if (entry.toString().contains("grpc-idempotency-")) {
      try (FileSystem jar = FileSystems.newFileSystem(entry)) {
        checkBelow(jar.getPath("/"));
      }
    }
  }

  private void checkBelow(Path root) throws IOException {
    Path library = root.resolve(LIBRARY);
    if (!Files.isDirectory(library)) {
      return;
    }
    List<Path> files;
    try (Stream<Path> found = Files.walk(library)) {
      files = found.filter(file -> file.toString().endsWith(".class")).toList();
    }
    for (Path file : files) {
      check(parse(Files.readAllBytes(file), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES));
    }
  }

  private void check(ClassNode user) {
    Stream.concat(Stream.of(user.superName), user.interfaces.stream())
        .forEach(type -> check(user, Reference.to(type)));
    for (MethodNode method : user.methods) {
      for (AbstractInsnNode instruction : method.instructions) {
        if (instruction instanceof MethodInsnNode call) {
          check(user, new Reference(call.owner, call.name + call.desc));
        } else if (instruction instanceof FieldInsnNode field) {
          check(user, new Reference(field.owner, field.name + field.desc));
        } else if (instruction instanceof TypeInsnNode type) {
          check(user, Reference.to(type.desc));
        } else if (instruction instanceof InvokeDynamicInsnNode lambda) {
          Stream.of(lambda.bsmArgs)
              .filter(Handle.class::isInstance)
              .map(Handle.class::cast)
              .forEach(
                  handle ->
                      check(
                          user,
                          new Reference(handle.getOwner(), handle.getName() + handle.getDesc())));
        }
      }
    }
  }

  private void check(ClassNode user, Reference reference) {
    boolean another =
        !reference.owner.startsWith(LIBRARY)
            && OPTIONAL.stream().noneMatch(reference.owner::startsWith)
            && !reference.owner.startsWith("java/")
            && !reference.owner.startsWith("[");
    if (another && references.add(reference) && !isThere(reference.owner, reference.member)) {
      missing.add("%s.%s, named by %s".formatted(reference.owner, reference.member, user.name));
    }
  }

  private boolean isThere(String owner, String member) {
    return find(owner)
        .filter(
            found ->
                member.isEmpty()
                    || found.methods.stream()
                        .anyMatch(method -> member.equals(method.name + method.desc))
                    || found.fields.stream()
                        .anyMatch(field -> member.equals(field.name + field.desc))
                    || Optional.ofNullable(found.superName)
                        .filter(above -> isThere(above, member))
                        .isPresent()
                    || found.interfaces.stream().anyMatch(above -> isThere(above, member)))
        .isPresent();
  }

  private Optional<ClassNode> find(String name) {
    Optional<ClassNode> known = classes.get(name);
    if (known == null) {
      known = read(name);
      classes.put(name, known);
    }
    return known;
  }

  private Optional<ClassNode> read(String name) {
    try (InputStream bytes = loader.getResourceAsStream(name + ".class")) {
      return bytes == null
          ? Optional.empty()
          : Optional.of(parse(bytes.readAllBytes(), ClassReader.SKIP_CODE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ClassNode parse(byte[] bytes, int options) {
    ClassNode parsed = new ClassNode();
    new ClassReader(bytes).accept(parsed, options);
    return parsed;
  }

  /** A method or a field as a compiler names it, or its class alone. */
  private record Reference(String owner, String member) {
    static Reference to(String type) {
      return new Reference(type, "");
    }
  }
}
