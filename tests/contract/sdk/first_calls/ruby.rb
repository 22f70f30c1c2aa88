require 'openapi_client'

OpenapiClient.configure do |config|
  config.server_index = nil
  config.scheme = 'http'
  config.host = '127.0.0.1:8080'
  config.base_path = ''
  config.access_token = ENV['KEY']
end
order = OpenapiClient::InvoiceCreation.new(
  external_order_id: 'order-2001', attempt_no: 1, amount: '1.5', payment_method_id: 'tusd-local'
)
invoice = OpenapiClient::InvoicesApi.new.create_invoice('order-2001:1', order)
puts "#{invoice.status} #{invoice.amount} #{invoice.deposit_address}"
