// Starts Swagger UI on /docs. Where the console can sign for the demo network, "Try it out" goes through it.
const page = document.getElementById('docs');
const { document: documentUrl, role, signed, try: tryUrl } = page.dataset;
const isSigned = signed !== undefined;

globalThis.SwaggerUIBundle({
  domNode: page,
  url: documentUrl,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  defaultModelRendering: 'example',
  // Without a key, a signed operation is only refused.
  supportedSubmitMethods: isSigned && tryUrl === undefined ? [] : ['get', 'post', 'delete'],
  // No validator of somebody else's is asked.
  validatorUrl: 'none',
  requestInterceptor(request) {
    if (request.loadSpec) return request;
    return tryUrl === undefined || !isSigned ? markAsOurs(request) : signAndForward(request);
  },
});

/** The console takes changes from a page only with this header. */
function markAsOurs(request) {
  request.headers = { ...request.headers, 'x-signpost': 'console' };
  return request;
}

/** Has the console fill in ids and time, sign the request and send it; its answer shows what was sent and what came back. */
function signAndForward(request) {
  const { pathname, search } = new URL(request.url, location.href);
  const body = request.body ? { body: JSON.parse(request.body) } : {};
  const { method } = request;
  request.body = JSON.stringify({
    role,
    method: method.toUpperCase(),
    path: `${pathname}${search}`,
    ...body,
  });
  request.url = new URL(tryUrl, location.href).href;
  request.method = 'POST';
  request.headers = { accept: 'application/json', 'content-type': 'application/json' };
  return markAsOurs(request);
}
