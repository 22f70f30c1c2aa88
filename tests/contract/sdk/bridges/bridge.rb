# Makes calls by the SDK of openapi-generator's generator `ruby`; ../bridge.py says how.

require 'json'
require 'uri'

require 'openapi_client'

def bare(name)
  name.to_s.downcase.delete('^a-z0-9')
end

def camel(name)
  name.split('_').map(&:capitalize).join
end

def client_of(line)
  caller = line['caller']
  configuration = OpenapiClient::Configuration.new
  address = URI(line['base_url'])
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.base_path = address.path
  configuration.server_index = nil
  configuration.params_encoding = :multi
  configuration.access_token = caller['token']
  configuration.username = caller['username']
  configuration.password = caller['password']
  client = OpenapiClient::ApiClient.new(configuration)
  client.default_headers.merge!(caller.fetch('headers', {}))
  client
end

# A typed object, with the names of members as symbols, as the SDK has them.
def typed(schema, json)
  type = OpenapiClient.const_get(schema)
  type.build_from_hash(JSON.parse(json, symbolize_names: true))
end

def plain(value)
  case value
  when Array then value.map { |item| plain(item) }
  when Hash then value.transform_values { |item| plain(item) }
  else value.respond_to?(:to_hash) ? plain(value.to_hash) : value
  end
end

def answer(status, headers, record)
  {
    status: status,
    headers: headers.transform_values { |value| Array(value).join(', ') },
    schema: record.class.name.split('::').last,
    record: plain(record)
  }
end

def call(line)
  api = OpenapiClient.const_get("#{camel(line['tag'])}Api").new(client_of(line))
  method = api.method("#{line['operation']}_with_http_info")
  texts = line['json_query'].transform_values { |value| JSON.generate(value) }
  given = line['path_values'].merge(line['query'], line['header'], texts)
  if line['body']
    schema = line['body_schema']
    body = JSON.generate(line['body'])
    name = schema == 'AnyObject' ? 'request_body' : schema.gsub(/(?<=[a-z0-9])(?=[A-Z])/, '_')
    given[name] = schema == 'AnyObject' ? line['body'] : typed(schema, body)
  end
  given = given.transform_keys { |name| name.downcase.tr('-', '_') }
  required = method.parameters.filter_map { |kind, name| name if kind == :req }
  positional = required.map do |name|
    key = given.keys.find { |one| bare(one) == bare(name) } or raise "no value for #{name}"
    given.delete(key)
  end
  record, status, headers = method.call(*positional, given.transform_keys(&:to_sym))
  answer(status, headers, record)
rescue OpenapiClient::ApiError => e
  raise unless e.code.to_i.positive?

  body = e.response_body.to_s
  schema = e.code == line['status'] ? line['answer_schema'] : nil
  record = body.empty? ? nil : schema ? typed(schema, body) : JSON.parse(body)
  answer(e.code, e.response_headers, record)
end

$stdout.sync = true
$stdin.each_line do |text|
  line = JSON.parse(text)
  begin
    puts JSON.generate(call(line))
  rescue StandardError => e
    puts JSON.generate(failed: "#{e.class}: #{e.message} at #{e.backtrace.first(8)}")
  end
end
