package io.github.grpcidempotency.resource;

import java.util.regex.Pattern;

/**
 * The type of resource that a procedure creates or deletes. The store's foreign key column is named
 * after it: {@code project} is stored in {@code project_id}.
 *
 * @param name the name in lower case snake case, at most 60 characters
 */
public record ResourceType(String name) {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,59}");

  /**
   * Checks the name.
   *
   * @throws IllegalArgumentException if the name is not lower case snake case
   */
  public ResourceType {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "a resource type must be in lower case snake case and have at most 60 characters, not \""
              + name
              + "\"");
    }
  }

  /**
   * Returns the type with that name.
   *
   * @throws IllegalArgumentException if the name is not lower case snake case
   */
  public static ResourceType of(String name) {
    return new ResourceType(name);
  }

  /** Returns the name of the column that refers to a resource of this type. */
  public String column() {
    return name + "_id";
  }
}
