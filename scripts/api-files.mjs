// Writes docs/api: the OpenAPI documents of the services, a Bruno collection of every signed request, and an Arazzo description of the flows, all
// generated from the tables that the services use, as built in dist/. With --check, writes nothing: exit code 1 if a file differs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operation as crawlHints } from '../dist/discovery/crawl-hints.js';
import { buildOpenApi } from '../dist/http/openapi.js';
import { actions } from '../dist/protocol/actions.js';
import { catalog } from '../dist/protocol/example-catalog.js';
import { actionExamples } from '../dist/protocol/example-messages.js';
import { triggerOperation } from '../dist/publisher/trigger.js';
import { buildCollection } from './api-files/bruno.mjs';
import { buildFlows } from './api-files/flows.mjs';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'docs', 'api');

const pick = (...names) => names.map((name) => actions[name]);
const documents = {
  catalog: buildOpenApi({
    role: 'catalog',
    actions: pick('subscribe', 'listSubscriptions', 'unsubscribe', 'publish', 'pull', 'search'),
  }),
  discovery: buildOpenApi({
    role: 'discovery',
    actions: pick('discover', 'push', 'onPull', 'crawlLog'),
    plain: [{ method: 'POST', path: '/crawl-hints', operation: crawlHints }],
  }),
  publisher: buildOpenApi({ role: 'publisher', actions: pick('onPublish') }),
  consumer: buildOpenApi({ role: 'consumer', actions: pick('onDiscover') }),
  trigger: buildOpenApi({
    role: 'trigger',
    actions: [],
    plain: [{ method: 'POST', path: '/catalog/publish', operation: triggerOperation }],
  }),
};

const files = {
  ...Object.fromEntries(
    Object.entries(documents).map(([role, document]) => [`${role}.openapi.json`, render(document)]),
  ),
  'flows.arazzo.json': render(buildFlows(actionExamples, catalog)),
  ...buildCollection(actions, actionExamples),
};

if (process.argv.includes('--check')) check();
else write();

function check() {
  const known = listFiles().filter((name) => name !== 'README.md');
  const differing = [...new Set([...known, ...Object.keys(files)])].filter(
    (name) => !known.includes(name) || readFileSync(join(folder, name), 'utf8') !== files[name],
  );
  for (const name of differing) console.error(`docs/api/${name} differs: run node scripts/api-files.mjs`);
  process.exitCode = differing.length > 0 ? 1 : 0;
}

function write() {
  for (const name of listFiles()) if (name !== 'README.md') rmSync(join(folder, name));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function listFiles() {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}

function render(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
