import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.JSON;

/**
 * Makes calls by the SDK of openapi-generator's generator `java` with okhttp-gson; ../bridge.py
 * says how.
 */
public final class Bridge {
    private static final String SDK = "org.openapitools.client.";
    private static final Gson PLAIN = new GsonBuilder().serializeNulls().create();

    public static void main(String[] words) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String text = in.readLine(); text != null; text = in.readLine()) {
            JsonObject said;
            try {
                said = call(JsonParser.parseString(text).getAsJsonObject());
            } catch (Exception | LinkageError error) {
                said = new JsonObject();
                said.addProperty("failed", error + " at " + List.of(error.getStackTrace()).get(0));
            }
            System.out.println(PLAIN.toJson(said));
        }
        System.exit(0); // okhttp's threads wait for more calls
    }

    private static JsonObject call(JsonObject line) throws Exception {
        Class<?> kind = Class.forName(SDK + "api." + camel(text(line, "tag")) + "Api");
        Object api = kind.getConstructor(ApiClient.class).newInstance(client(line));
        String wanted = bare(text(line, "operation")) + "withhttpinfo";
        Method method =
                Stream.of(kind.getMethods())
                        .filter(one -> bare(one.getName()).equals(wanted))
                        .findFirst()
                        .orElseThrow();
        Map<String, JsonElement> given = given(line);
        Parameter[] parameters = method.getParameters();
        Object[] values = new Object[parameters.length];
        for (int i = 0; i < values.length; i++) {
            JsonElement value = given.remove(bare(parameters[i].getName()));
            values[i] = JSON.getGson().fromJson(value, parameters[i].getParameterizedType());
        }
        if (!given.isEmpty()) {
            throw new IllegalArgumentException(method + " has no place for " + given);
        }
        try {
            var answer = (ApiResponse<?>) method.invoke(api, values);
            return answer(answer.getStatusCode(), answer.getHeaders(), answer.getData());
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof ApiException refused && refused.getCode() >= 300) {
                return answer(refused.getCode(), refused.getResponseHeaders(), read(line, refused));
            }
            throw thrown.getCause() instanceof Exception cause ? cause : thrown;
        }
    }

    private static ApiClient client(JsonObject line) throws Exception {
        JsonObject caller = line.getAsJsonObject("caller");
        ApiClient client = new ApiClient().setBasePath(text(line, "base_url"));
        if (caller.has("token")) {
            // only there in the SDK of a document with bearer tokens
            ApiClient.class
                    .getMethod("setBearerToken", String.class)
                    .invoke(client, text(caller, "token"));
        }
        if (caller.has("username")) {
            client.setUsername(text(caller, "username"));
            client.setPassword(text(caller, "password"));
        }
        if (caller.has("headers")) {
            caller.getAsJsonObject("headers")
                    .entrySet()
                    .forEach(e -> client.addDefaultHeader(e.getKey(), e.getValue().getAsString()));
        }
        return client;
    }

    /** The arguments by the bare names of parameters. */
    private static Map<String, JsonElement> given(JsonObject line) {
        Map<String, JsonElement> given = new HashMap<>();
        for (String part : List.of("path_values", "query", "header")) {
            line.getAsJsonObject(part)
                    .entrySet()
                    .forEach(e -> given.put(bare(e.getKey()), e.getValue()));
        }
        line.getAsJsonObject("json_query")
                .entrySet()
                .forEach(e -> given.put(bare(e.getKey()), PLAIN.toJsonTree(e.getValue().toString())));
        if (!line.get("body").isJsonNull()) {
            String schema = text(line, "body_schema");
            given.put(bare(schema.equals("AnyObject") ? "requestBody" : schema), line.get("body"));
        }
        return given;
    }

    /** The record of a refusal, which the SDK gives as text. */
    private static Object read(JsonObject line, ApiException refused) throws Exception {
        String body = refused.getResponseBody();
        if (body == null || body.isEmpty()) {
            return null;
        }
        JsonElement schema = line.get("answer_schema");
        boolean isExpected = refused.getCode() == line.get("status").getAsInt();
        Class<?> kind =
                schema.isJsonNull() || !isExpected
                        ? JsonElement.class
                        : Class.forName(SDK + "model." + schema.getAsString());
        return JSON.deserialize(body, kind);
    }

    private static JsonObject answer(int status, Map<String, List<String>> headers, Object record) {
        JsonObject said = new JsonObject();
        said.addProperty("status", status);
        JsonObject names = new JsonObject();
        headers.forEach((name, values) -> names.addProperty(name, String.join(", ", values)));
        said.add("headers", names);
        said.addProperty("schema", record == null ? null : record.getClass().getSimpleName());
        said.add("record", JsonParser.parseString(JSON.serialize(record)));
        return said;
    }

    private static String text(JsonObject of, String name) {
        return of.get(name).getAsString();
    }

    private static String bare(String name) {
        return name.toLowerCase().replaceAll("[^a-z0-9]", "");
    }

    private static String camel(String name) {
        StringBuilder made = new StringBuilder();
        for (String word : name.split("_")) {
            made.append(word.substring(0, 1).toUpperCase()).append(word.substring(1));
        }
        return made.toString();
    }
}
