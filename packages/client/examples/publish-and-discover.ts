import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Catalog,
  type PublishResult,
  type Resource,
  Signpost,
  type SignpostOptions,
} from 'signpost-client';

const { REGISTRY_PORT, CATALOG_PORT, DISCOVERY_PORT } = process.env;
const options: SignpostOptions = {
  id: 'provider.signpost.test',
  keyId: 'key-1',
  privateKey: await readFile('.signpost/keys/provider.signpost.test.key-1.seed', 'utf8'),
  registry: `http://127.0.0.1:${REGISTRY_PORT}/dedi`,
  catalogService: `http://127.0.0.1:${CATALOG_PORT}`,
  discoveryService: `http://127.0.0.1:${DISCOVERY_PORT}`,
};
const signpost = new Signpost(options);
await signpost.listen();
const name = `Lamp ${randomUUID()}`;
const catalog: Catalog = {
  id: `lamps-${name}`,
  descriptor: { name: 'Lamps' },
  provider: { id: 'lamp-shop', descriptor: { name: 'Lamp shop' } },
  resources: [{ id: name, descriptor: { name } }],
};
const [result]: PublishResult[] = await signpost.publish(catalog);
console.log(result?.status);
// The push to the discovery service is on its way.
let found: Resource | undefined;
while (!found) {
  for await (const { resource } of signpost.discover(name)) if (resource.id === name) found = resource;
  await delay(100);
}
console.log(`found ${found.descriptor?.name} of ${name}`);
await signpost.close();
