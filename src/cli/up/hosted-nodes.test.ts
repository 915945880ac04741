import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../tests/support/free-port.ts';
import { until } from '../../../tests/support/time.ts';
import { readConfig } from '../../config.ts';
import { publishHostedCatalogs, serveSecondPublisher } from './hosted-nodes.ts';

const [port, otherPort] = ['4007', '4917'];

describe('the second self-hosted node of the demo', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'signpost-hosted-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const start = (DEMO_PORT: string) =>
    publishHostedCatalogs(
      readConfig({ DATA_DIR: dataDir, DEMO_PORT, ROLES: 'publisher', ALLOW_PRIVATE_ADDRESSES: 'true' }),
    );

  /** The baseline of each catalog as listed in its index, and whether the file has the declared digest. */
  async function readBaselines(): Promise<
    Record<string, { origin: string; file: string; verifies: boolean }>
  > {
    const root = join(dataDir, 'demo-publisher', 'public');
    const index = JSON.parse(await readFile(join(root, 'index', 'catalogs.index.json'), 'utf8')) as {
      catalogs: { catalogId: string; baseline: { url: string; digest: string } }[];
    };
    const read = index.catalogs.map(async ({ catalogId, baseline: { url, digest } }) => {
      const { origin, pathname } = new URL(url);
      const file = join(root, pathname);
      const sha256 = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      return [catalogId, { origin, file, verifies: digest.endsWith(sha256) }] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  }

  const stateAt = (at: string) => {
    const origin = `http://127.0.0.1:${at}`;
    return {
      'minchu-north': { origin, verifies: true },
      'minchu-east': { origin, verifies: false },
    };
  };

  it('has one catalog that verifies and one whose file was changed, at every start', async () => {
    await start(port);
    const first = await readBaselines();
    expect(first).toMatchObject(stateAt(port));
    await start(port);
    expect(await readBaselines()).toEqual(first);
  });

  it('reports a status that moves, in small change files', async () => {
    const DEMO_PORT = String(await freePort());
    await start(DEMO_PORT);
    const served = await serveSecondPublisher(
      readConfig({ DATA_DIR: dataDir, DEMO_PORT, ROLES: 'publisher', ALLOW_PRIVATE_ADDRESSES: 'true' }),
      10,
    );
    const change = await until(async () => {
      const index = await fetch(`http://127.0.0.1:${DEMO_PORT}/index/catalogs.index.json`);
      const { catalogs } = (await index.json()) as { catalogs: { changes: { url: string }[] }[] };
      return catalogs.flatMap(({ changes }) => changes)[0]?.url;
    });
    expect(await (await fetch(change)).json()).toMatchObject({
      resources: {
        upserts: [{ resourceAttributes: { attributes: { availability: { status: 'CHARGING' } } } }],
      },
    });
    await served.close();
  });

  it('has the same where a start was killed between publishing and changing the file', async () => {
    await start(port);
    const { file = '' } = (await readBaselines())['minchu-east'] ?? {};
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll('"value":600}', '"value":60}').replaceAll('600 kW', '60 kW'));
    expect(await readBaselines()).toMatchObject({ 'minchu-east': { verifies: true } });
    await start(port);
    expect(await readBaselines()).toMatchObject(stateAt(port));
  });

  it('moves with DEMO_PORT', async () => {
    await start(port);
    await start(otherPort);
    expect(await readBaselines()).toMatchObject(stateAt(otherPort));
  });
});
