package org.openapitools.jackson.nullable;

/** What models mention of jackson-databind-nullable, which Debian lacks; with Gson nothing is one. */
public interface JsonNullable<T> {
    boolean isPresent();

    T get();
}
