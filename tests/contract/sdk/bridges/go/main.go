// Makes calls by the SDK of openapi-generator's generator `go`; ../bridge.py says how.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"

	sdk "github.com/GIT_USER_ID/GIT_REPO_ID"
)

type line struct {
	Operation  string                     `json:"operation"`
	Tag        string                     `json:"tag"`
	Path       string                     `json:"path"`
	PathValues map[string]json.RawMessage `json:"path_values"`
	Query      map[string]json.RawMessage `json:"query"`
	JsonQuery  map[string]json.RawMessage `json:"json_query"`
	Header     map[string]json.RawMessage `json:"header"`
	Body       json.RawMessage            `json:"body"`
	BodySchema string                     `json:"body_schema"`
	BaseURL    string                     `json:"base_url"`
	Caller     caller                     `json:"caller"`
}

type caller struct {
	Token    string            `json:"token"`
	Username string            `json:"username"`
	Password string            `json:"password"`
	Headers  map[string]string `json:"headers"`
}

type answer struct {
	Failed  string            `json:"failed,omitempty"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Schema  string            `json:"schema"`
	Record  any               `json:"record"`
}

func bare(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// found returns the field or method of that name, however the generator spells it.
func found(names int, name func(int) string, wanted string) int {
	for i := 0; i < names; i++ {
		if bare(name(i)) == bare(wanted) {
			return i
		}
	}
	panic("the SDK has no " + wanted)
}

func method(of reflect.Value, name string) reflect.Value {
	kind := of.Type()
	return of.Method(found(kind.NumMethod(), func(i int) string { return kind.Method(i).Name }, name))
}

// typed returns the value as the SDK's type.
func typed(kind reflect.Type, value json.RawMessage) reflect.Value {
	made := reflect.New(kind)
	if err := json.Unmarshal(value, made.Interface()); err != nil {
		panic(fmt.Sprintf("%s is no %s: %v", value, kind, err))
	}
	return made.Elem()
}

func signedIn(l line) (reflect.Value, context.Context) {
	configuration := sdk.NewConfiguration()
	configuration.Servers = sdk.ServerConfigurations{{URL: l.BaseURL}}
	for name, value := range l.Caller.Headers {
		configuration.AddDefaultHeader(name, value)
	}
	ctx := signed(context.Background(), l.Caller)
	client := reflect.ValueOf(sdk.NewAPIClient(configuration)).Elem()
	kind := client.Type()
	at := found(kind.NumField(), func(i int) string { return kind.Field(i).Name }, l.Tag+"API")
	return client.Field(at), ctx
}

func call(l line) answer {
	api, ctx := signedIn(l)
	operation := method(api, l.Operation)
	arguments := []reflect.Value{reflect.ValueOf(ctx)}
	for _, part := range strings.Split(l.Path, "{")[1:] {
		name, _, _ := strings.Cut(part, "}")
		arguments = append(arguments, typed(operation.Type().In(len(arguments)), l.PathValues[name]))
	}
	request := operation.Call(arguments)[0]
	set := func(name string, value json.RawMessage) {
		setter := method(request, name)
		request = setter.Call([]reflect.Value{typed(setter.Type().In(0), value)})[0]
	}
	for _, values := range []map[string]json.RawMessage{l.Query, l.Header} {
		for name, value := range values {
			set(name, value)
		}
	}
	for name, value := range l.JsonQuery {
		text, _ := json.Marshal(string(value))
		set(name, text)
	}
	if !bytes.Equal(l.Body, []byte("null")) {
		name := l.BodySchema
		if name == "AnyObject" {
			name = "RequestBody"
		}
		set(name, l.Body)
	}
	results := method(request, "Execute").Call(nil)
	return read(results)
}

// read returns the results of Execute: an optional record, the response, and an optional error.
func read(results []reflect.Value) answer {
	response, _ := results[len(results)-2].Interface().(*http.Response)
	err, _ := results[len(results)-1].Interface().(error)
	if response == nil {
		panic(err)
	}
	said := answer{Status: response.StatusCode, Headers: map[string]string{}}
	for name, values := range response.Header {
		said.Headers[name] = strings.Join(values, ", ")
	}
	refused, isRefused := err.(*sdk.GenericOpenAPIError)
	switch {
	case isRefused && response.StatusCode < 300:
		panic(err)
	case isRefused:
		said.Record = refused.Model()
	case len(results) == 3:
		said.Record = results[0].Interface()
	}
	if said.Record != nil {
		name := strings.TrimLeft(reflect.TypeOf(said.Record).String(), "*")
		said.Schema = name[strings.LastIndex(name, ".")+1:]
	}
	return said
}

func answered(text []byte) (said answer) {
	defer func() {
		if reason := recover(); reason != nil {
			said = answer{Failed: fmt.Sprint(reason)}
		}
	}()
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		panic(err)
	}
	return call(l)
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if err := out.Encode(answered(text)); err != nil {
			_ = out.Encode(answer{Failed: err.Error()})
		}
	}
}
