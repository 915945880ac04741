// Starts Swagger UI on /docs. If the console can sign for the demo network, "Try it out" uses it.
const page = document.getElementById('docs');
const { document: documentUrl, role, signed, try: tryUrl } = page.dataset;
const isSigned = signed !== undefined;
/** The last request that the console signed and sent, as a command. */
let signedCurl;

followColourScheme();
nameControls();
globalThis.SwaggerUIBundle({
  domNode: page,
  url: documentUrl,
  deepLinking: true,
  plugins: [{ wrapComponents: { DeepLink: renderWithoutLink } }],
  // The only theme with enough contrast for JSON in light and dark.
  syntaxHighlight: { theme: 'tomorrow-night' },
  defaultModelsExpandDepth: 0,
  defaultModelRendering: 'example',
  // Without a key, a signed operation would always be refused.
  supportedSubmitMethods: isSigned && tryUrl === undefined ? [] : ['get', 'post', 'delete'],
  // Uses no external validator.
  validatorUrl: 'none',
  requestInterceptor(request) {
    if (request.loadSpec) return request;
    return tryUrl === undefined || !isSigned ? markAsOurs(request) : signAndForward(request);
  },
  responseInterceptor(response) {
    if (isSigned && !response.loadSpec) signedCurl = readCurl(response.text);
    return response;
  },
});

/** Swagger UI's dark colours apply below html.dark-mode. */
function followColourScheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

/** Screen readers cannot distinguish a link from the button around it; the button opens the operation and sets the same address. */
function renderWithoutLink(_Link, { React }) {
  return ({ text }) => React.createElement('span', null, text);
}

/** Swagger UI leaves some controls without a name, and scrollable examples out of the tab order. */
function nameControls() {
  const names = { '#servers': 'Server', '.examples-select-element': 'Example', '.body-param__text': 'Body' };
  const nameAll = () => {
    for (const [selector, name] of Object.entries(names))
      for (const control of page.querySelectorAll(selector)) control.setAttribute('aria-label', name);
    for (const parameter of page.querySelectorAll('tr[data-param-name]'))
      for (const control of parameter.querySelectorAll('select, input, textarea'))
        control.setAttribute('aria-label', parameter.dataset.paramName);
    for (const example of page.querySelectorAll('pre.microlight')) example.tabIndex = 0;
    for (const command of page.querySelectorAll('.curl-command pre'))
      if (signedCurl && command.textContent.includes(`/${tryUrl}`)) command.textContent = signedCurl;
  };
  new MutationObserver(nameAll).observe(page, { childList: true, subtree: true });
}

/** Swagger UI would show the request to the console, not the signed one. */
function readCurl(text) {
  try {
    return JSON.parse(text).sent?.curl;
  } catch {
    return undefined;
  }
}

/** The console accepts changes from a page only with this header. */
function markAsOurs(request) {
  request.headers = { ...request.headers, 'x-signpost': 'console' };
  return request;
}

/** Lets the console fill in ids and time, sign the request and send it; its answer shows the request and the service's answer. */
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
