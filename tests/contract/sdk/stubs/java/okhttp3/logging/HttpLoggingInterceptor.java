package okhttp3.logging;

import java.io.IOException;
import okhttp3.Interceptor;
import okhttp3.Response;

/** What Debian has not: it logs nothing. */
public final class HttpLoggingInterceptor implements Interceptor {
    public enum Level {
        BODY
    }

    public HttpLoggingInterceptor setLevel(Level level) {
        return this;
    }

    @Override
    public Response intercept(Chain chain) throws IOException {
        return chain.proceed(chain.request());
    }
}
