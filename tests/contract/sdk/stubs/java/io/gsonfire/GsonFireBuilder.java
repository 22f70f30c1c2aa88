package io.gsonfire;

import com.google.gson.GsonBuilder;

/** What Debian has not: the little that an SDK without subclasses uses. */
public final class GsonFireBuilder {
    public <T> GsonFireBuilder registerTypeSelector(Class<T> kind, TypeSelector<T> selector) {
        return this;
    }

    public GsonBuilder createGsonBuilder() {
        return new GsonBuilder();
    }
}
