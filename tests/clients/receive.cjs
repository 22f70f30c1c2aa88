// node receive.cjs: a shop's receiver, written like the example in the library's documentation. It
// prints its URL. `PUT /` sets the secret to verify with; `GET /` returns the last message.
const http = require("node:http");
const { Webhook } = require("standardwebhooks");

let webhook;
let last;

function receive(request, body, response) {
  last = { headers: request.headers, body };
  try {
    webhook.verify(body, request.headers);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(`${error.constructor.name}: ${error.message}`);
  }
}

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    if (request.method === "POST") {
      receive(request, body, response);
    } else if (request.method === "PUT") {
      webhook = new Webhook(body);
      response.writeHead(204).end();
    } else {
      response.end(JSON.stringify(last));
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
