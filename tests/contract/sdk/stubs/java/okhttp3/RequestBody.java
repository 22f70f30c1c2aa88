package okhttp3;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import okio.BufferedSink;
import okio.Okio;
import okio.Source;

/** Debian's okhttp 3 with the order of arguments that okhttp 4 has as well. */
public abstract class RequestBody {
    public abstract MediaType contentType();

    public abstract void writeTo(BufferedSink sink) throws IOException;

    public long contentLength() throws IOException {
        return -1;
    }

    public static RequestBody create(MediaType type, byte[] content) {
        return create(content, type);
    }

    public static RequestBody create(String content, MediaType type) {
        return create(content.getBytes(StandardCharsets.UTF_8), type);
    }

    public static RequestBody create(byte[] content, MediaType type) {
        return new RequestBody() {
            @Override
            public MediaType contentType() {
                return type;
            }

            @Override
            public long contentLength() {
                return content.length;
            }

            @Override
            public void writeTo(BufferedSink sink) throws IOException {
                sink.write(content);
            }
        };
    }

    public static RequestBody create(File file, MediaType type) {
        return new RequestBody() {
            @Override
            public MediaType contentType() {
                return type;
            }

            @Override
            public long contentLength() {
                return file.length();
            }

            @Override
            public void writeTo(BufferedSink sink) throws IOException {
                try (Source source = Okio.source(file)) {
                    sink.writeAll(source);
                }
            }
        };
    }
}
