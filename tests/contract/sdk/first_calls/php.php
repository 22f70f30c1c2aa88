<?php

require 'vendor/autoload.php';

use OpenAPI\Client\Api\InvoicesApi;
use OpenAPI\Client\Configuration;
use OpenAPI\Client\Model\InvoiceCreation;

$configuration = (new Configuration())
    ->setHost('http://127.0.0.1:8080')
    ->setAccessToken(getenv('KEY'));
$invoices = new InvoicesApi(config: $configuration);
$order = new InvoiceCreation([
    'external_order_id' => 'order-2001',
    'attempt_no' => 1,
    'amount' => '1.5',
    'payment_method_id' => 'tusd-local',
]);
$invoice = $invoices->createInvoice('order-2001:1', $order);
echo "{$invoice->getStatus()} {$invoice->getAmount()} {$invoice->getDepositAddress()}\n";
