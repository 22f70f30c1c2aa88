<?php
// What Composer would write to vendor/autoload.php, with Debian's Guzzle. The SDK is in SPECD_PHP_SDK
// or next to this file.

require 'GuzzleHttp/autoload.php';

spl_autoload_register(function (string $class): void {
    $name = substr($class, strlen('OpenAPI\\Client\\'));
    $sdk = getenv('SPECD_PHP_SDK') ?: __DIR__ . '/sdk';
    $path = $sdk . '/lib/' . strtr($name, '\\', '/') . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\') && is_file($path)) {
        require $path;
    }
});
