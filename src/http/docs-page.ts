import { membersView, sampleOf } from './docs-schema.ts';
import { docsStyle } from './docs-style.ts';
import { Html, html } from './html.ts';
import type { JsonSchema, OpenApiDocument, Operation, Response } from './openapi.ts';

/** The OpenAPI document as one page that needs nothing else: no script, no font, no host but ours. */
export function docsPage(document: OpenApiDocument, roles: readonly string[], current: string): string {
  const operations = listOperations(document);
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ''))];
  const { info, components } = document;
  const signed = operations.some(({ operation }) => operation.security?.length);
  return `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}</title>
<style>${new Html(docsStyle)}</style>
</head>
<body>
<nav>
  <a class="brand" href="#top">${info.title}</a>
  ${roles.length > 1 && html`<p class="roles">${roles.map((role) => roleLink(role, current))}</p>`}
  ${signed && html`<a href="#signing">Signing a request</a>`}
  ${tags.map(
    (tag) =>
      html`<h2>${tag}</h2>${operations
        .filter(({ operation }) => operation.tags[0] === tag)
        .map(
          ({ anchor, method, path }) => html`<a href="#${anchor}">${badge(method)}<span>${path}</span></a>`,
        )}`,
  )}
  <p class="foot"><a href="openapi.json?role=${current}">openapi.json</a></p>
</nav>
<main id="top">
  <header>
    <h1>${info.title}</h1>
    <p>${inline(info.description)}</p>
  </header>
  ${signed && signingView(components.securitySchemes.Signature?.description)}
  ${operations.map((described) => operationView(described, document))}
</main>
</body>
</html>
`.text
  }`;
}

interface DescribedOperation {
  anchor: string;
  method: string;
  path: string;
  operation: Operation;
}

function listOperations({ paths }: OpenApiDocument): DescribedOperation[] {
  const listed = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      anchor: `${method}${path.replace(/[^A-Za-z0-9]+/g, '-')}`,
      method,
      path,
      operation,
    })),
  );
  return listed.sort((a, b) => Number(isCallback(a)) - Number(isCallback(b)));
}

function isCallback({ operation }: DescribedOperation): boolean {
  return operation.tags[0] === 'Callbacks';
}

function roleLink(role: string, current: string): Html {
  return role === current
    ? html`<b>${role}</b> `
    : html`<a href="?role=${encodeURIComponent(role)}">${role}</a> `;
}

function signingView(description: unknown): Html {
  return html`<section id="signing">
    <h2>Signing a request</h2>
    <div class="columns">
      <div>
        <p>Every request carries an <code>Authorization</code> header on one line. It holds an Ed25519 signature over three lines,
        joined by line feeds, the last without one. The public key stands in the identity registry under the
        <code>subscriber_id</code> and <code>record_id</code> of the <code>keyId</code>.</p>
        <p>A GET or DELETE signs the digest of zero bytes. A callback signs a fourth line, <code>request-signature:</code>, with the
        signature of the request that it answers. The answer carries such a signature of ours in the header
        <code>Signature</code>.</p>
      </div>
      <div>
        <h4>Signed text</h4>
        <pre>(created): 1752000000
(expires): 1752000300
digest: BLAKE-512=<i>base64 of BLAKE2b-512 over the body</i></pre>
        <h4>Header</h4>
        <pre class="wrap">${String(description).split(/(?<=signature="<base64_signature>")/)[0] ?? ''}</pre>
      </div>
    </div>
  </section>`;
}

function operationView(
  { anchor, method, path, operation }: DescribedOperation,
  document: OpenApiDocument,
): Html {
  const body = operation.requestBody?.content['application/json'].schema;
  const parameters = operation.parameters ?? [];
  const [success] = Object.entries(operation.responses);
  return html`<section id="${anchor}">
    <h2>${badge(method)}<code>${path}</code></h2>
    <p class="summary">${operation.summary}</p>
    ${operation.description !== undefined && html`<p>${operation.description}</p>`}
    <div class="columns">
      <div>
        ${parameters.length > 0 && html`<h3>Parameters</h3>${membersView(parameterObject(parameters), document)}`}
        ${body !== undefined && html`<h3>Body</h3>${membersView(body, document)}`}
        <h3>Answers</h3>
        <ul class="answers">${Object.entries(operation.responses).map(([status, response]) => answerView(status, response, document))}</ul>
        ${Object.keys(operation.callbacks ?? {}).map((name) => html`<p class="follows">Followed by the callback <code>${name}</code>.</p>`)}
      </div>
      <div>
        ${body !== undefined && html`<h4>Request</h4>${exampleView(withAction(sampleOf(body, document), path.slice(1)))}`}
        ${success !== undefined && sampleAnswer(success[1], document)}
      </div>
    </div>
  </section>`;
}

function parameterObject(parameters: NonNullable<Operation['parameters']>): JsonSchema {
  return {
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description }) => [name, { description, ...schema }]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

function answerView(status: string, given: Operation['responses'][string], document: OpenApiDocument): Html {
  const response = resolveResponse(given, document);
  const schema = response.content?.['application/json'].schema;
  const line = html`<span class="status s${status[0] ?? ''}">${status}</span> ${inline(response.description)}`;
  if (schema === undefined || !status.startsWith('2')) return html`<li>${line}</li>`;
  return html`<li><details><summary>${line}</summary>${membersView(schema, document)}</details></li>`;
}

function sampleAnswer(given: Operation['responses'][string], document: OpenApiDocument): Html | undefined {
  const { content, 'x-action': action = '' } = resolveResponse(given, document);
  const schema = content?.['application/json'].schema;
  return schema && html`<h4>Answer</h4>${exampleView(withAction(sampleOf(schema, document), action))}`;
}

function resolveResponse(given: Operation['responses'][string], document: OpenApiDocument): Response {
  if (!('$ref' in given)) return given;
  return (
    document.components.responses[given.$ref.replace('#/components/responses/', '')] ?? { description: '' }
  );
}

/** An example names the action of its own endpoint. */
function withAction(sample: unknown, action: string): unknown {
  if (typeof sample !== 'object' || sample === null || !('context' in sample)) return sample;
  const { context, ...rest } = sample;
  return { context: { ...(context as object), action }, ...rest };
}

/** Indented JSON with its names and texts in colour. */
function exampleView(sample: unknown): Html {
  const parts = JSON.stringify(sample, null, 2).split(/("(?:[^"\\]|\\.)*"(?:: )?)/);
  const coloured = parts.map((part) => {
    if (!part.startsWith('"')) return html`${part}`;
    return part.endsWith(': ') ? html`<b>${part.slice(0, -2)}</b>: ` : html`<i>${part}</i>`;
  });
  return html`<pre>${coloured}</pre>`;
}

function badge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

/** Words between backticks, and codes, are set as code. */
function inline(text: string): Html {
  const parts = text.split(/(`[^`]+`|\b[A-Z]{3}_[A-Z_]+\b)/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part.replaceAll('`', '')}</code>` : part))}`;
}
