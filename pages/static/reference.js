// Starts Swagger UI on the service's own document. Nothing is kept in the browser: a key entered
// under "Authorize" lives in this tab's memory and goes to this server only.
"use strict";

(() => {
  const place = document.getElementById("reference");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  paint();
  dark.addEventListener("change", paint);

  SwaggerUIBundle({
    url: place.dataset.document,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false,
    queryConfigEnabled: false,
    tryItOutEnabled: true,
    validatorUrl: null,
    onComplete: () => {
      place.dataset.ready = "";
    },
  });
})();
