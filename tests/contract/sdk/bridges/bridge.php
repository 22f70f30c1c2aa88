<?php
// Makes calls by the SDK of openapi-generator's generator `php`; ../bridge.py says how.
// The first argument is the directory of the SDK.

declare(strict_types=1);

use GuzzleHttp\Client;
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\ObjectSerializer;

putenv('SPECD_PHP_SDK=' . $argv[1]);
require __DIR__ . '/autoload.php';

$default = Configuration::getDefaultConfiguration();
$default->setBooleanFormatForQueryString(Configuration::BOOLEAN_FORMAT_STRING);

function bare(string $name): string
{
    return preg_replace('/[^a-z0-9]/', '', strtolower($name));
}

function camel(string $name): string
{
    return str_replace('_', '', ucwords($name, '_'));
}

function model(string $schema): string
{
    return '\\OpenAPI\\Client\\Model\\' . $schema;
}

function answer(int $status, ?array $headers, mixed $record): array
{
    $schema = is_object($record) ? (new ReflectionClass($record))->getShortName() : null;
    return [
        'status' => $status,
        'headers' => (object) array_map(fn ($v) => implode(', ', (array) $v), $headers ?? []),
        'schema' => $schema,
        'record' => ObjectSerializer::sanitizeForSerialization($record),
    ];
}

function call(object $line): array
{
    $caller = $line->caller;
    $configuration = new Configuration();
    $configuration->setHost($line->base_url);
    isset($caller->token) && $configuration->setAccessToken($caller->token);
    isset($caller->username) && $configuration->setUsername($caller->username);
    isset($caller->password) && $configuration->setPassword($caller->password);
    $client = new Client(['headers' => (array) ($caller->headers ?? [])]);
    $class = '\\OpenAPI\\Client\\Api\\' . camel($line->tag) . 'Api';
    $api = new $class($client, $configuration);
    $method = lcfirst(camel($line->operation)) . 'WithHttpInfo';
    $given = [];
    foreach (['path_values', 'query', 'header'] as $part) {
        foreach ($line->$part as $name => $value) {
            $given[bare($name)] = $value;
        }
    }
    foreach ($line->json_query as $name => $value) {
        $given[bare($name)] = json_encode($value);
    }
    if ($line->body !== null) {
        $any = $line->body_schema === 'AnyObject';
        $given[bare($any ? 'request_body' : $line->body_schema)] = $any
            ? (array) $line->body
            : ObjectSerializer::deserialize($line->body, model($line->body_schema), []);
    }
    $named = [];
    foreach ((new ReflectionMethod($api, $method))->getParameters() as $parameter) {
        $name = bare($parameter->getName());
        if (array_key_exists($name, $given)) {
            $named[$parameter->getName()] = $given[$name];
            unset($given[$name]);
        }
    }
    if ($given !== []) {
        throw new LogicException("$method has no place for " . implode(', ', array_keys($given)));
    }
    try {
        [$record, $status, $headers] = $api->$method(...$named);
        return answer($status, $headers, $record);
    } catch (ApiException $e) {
        if ($e->getCode() === 0) {
            throw $e;
        }
        return answer($e->getCode(), $e->getResponseHeaders(), $e->getResponseObject());
    }
}

while (($text = fgets(STDIN)) !== false) {
    try {
        $said = call(json_decode($text, false, 512, JSON_THROW_ON_ERROR));
    } catch (Throwable $e) {
        $at = "{$e->getFile()}:{$e->getLine()}";
        $said = ['failed' => get_class($e) . ": {$e->getMessage()} at $at"];
    }
    fwrite(STDOUT, json_encode($said, JSON_UNESCAPED_SLASHES) . "\n");
}
