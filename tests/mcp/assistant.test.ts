import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Body } from '../support/network/actor.ts';
import { type McpProcess, startMcp } from '../support/processes/mcp-process.ts';
import { freePorts, makeDataDir, startUp, type UpProcess } from '../support/processes/up-process.ts';

// An assistant with a fixed plan, on the demo network of `signpost up`: the user's question, the assistant's calls, and a check of the answers by a
// program that shares no code with the server.

const run = promisify(execFile);
const hasPython = await run('python3', ['-c', 'import cryptography']).then(
  () => true,
  () => false,
);

/** The arguments of the search in the worked conversation of docs/agents.md. */
function readQuestion(): Body {
  const blocks = readFileSync('docs/agents.md', 'utf8').matchAll(/```json\n([\s\S]*?)```/g);
  const [text = ''] = Array.from(blocks, ([, block = '']) => block).filter((block) =>
    block.includes('"near"'),
  );
  return JSON.parse(text);
}

describe('an assistant on the demo network', () => {
  let place: Awaited<ReturnType<typeof makeDataDir>>;
  let up: UpProcess;
  let mcp: McpProcess;
  let ports: Record<string, string>;
  let calls = 0;
  let answer: Body;

  beforeAll(async () => {
    [place, ports] = [await makeDataDir(), await freePorts()];
    up = startUp(place.dataDir, { ...ports, OPERATIONS_PORT: '0' });
    await up.saying('Signpost is up');
    mcp = await startMcp({ ...ports, DATA_DIR: place.dataDir });
  });
  afterAll(async () => {
    await mcp?.close();
    up?.signal('SIGINT');
    await up?.ended;
    await place?.remove();
  });

  async function call(tool: string, args: object): Promise<Body> {
    calls += 1;
    const { isError, structured, text } = await mcp.call(tool, args);
    expect(isError, text).toBe(false);
    return structured;
  }

  it('finds the cheapest available charger of at least 50 kW within 2 km, with its proof, in three calls', async () => {
    const { types } = await call('describe_network', { text: 'charger' });
    const { field } = types[0].fields.find(({ unit }: Body) => unit === 'kW');
    const asked = readQuestion();
    expect(asked).toMatchObject({ type: types[0].type, filters: [{ field, operator: '>=', value: 50 }] });
    const { hits } = await call('search_network', asked);
    const [{ id, node, catalogId }] = hits;
    answer = await call('get_resource', { id, node, catalogId, prove: true });
    expect(calls).toBe(3);
    const [price] = answer.resource.prices;
    expect(hits.every(({ prices }: Body) => prices[0].value >= price.value)).toBe(true);
    expect(hits.every(({ distanceMeters }: Body) => distanceMeters <= 2_000)).toBe(true);
    expect(answer).toMatchObject({
      resource: { provider: 'Kaveri Charge', availability: 'available', verified: { files: 'proven' } },
      proof: { status: 'proven', differences: [] },
    });
  });

  it.skipIf(!hasPython)(
    'was told what the provider has signed, says examples/python (needs Python with cryptography)',
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'signpost-proof-'));
      const registry = `http://127.0.0.1:${ports.REGISTRY_PORT}/dedi`;
      const check = async (proof: object) => {
        const file = join(directory, 'proof.json');
        await writeFile(file, JSON.stringify(proof));
        const { stdout } = await run('python3', [
          '-B',
          'examples/python/signpost.py',
          'prove',
          file,
          '--registry',
          registry,
        ]);
        return JSON.parse(stdout);
      };
      const signed = await check(answer);
      expect(signed.resource).toMatchObject({
        id: answer.resource.id,
        descriptor: { name: answer.resource.name },
      });
      const prices = signed.offers.flatMap(({ considerations }: Body) =>
        considerations.map(({ considerationAttributes }: Body) => considerationAttributes.value),
      );
      expect(prices).toContain(answer.resource.prices[0].value);
      expect(signed.resource.resourceAttributes.attributes.ratedPower.value).toBeGreaterThanOrEqual(50);
      for (const wrong of [
        { resourceId: 'kaveri:none' },
        { catalogId: 'none' },
        { node: 'minchu.signpost.test' },
      ])
        await expect(check({ ...answer.proof, ...wrong })).rejects.toMatchObject({ code: 1 });
      await rm(directory, { recursive: true });
    },
  );

  it('is told which catalog of a node is broken', async () => {
    const { reasons } = await call('why_not_found', {
      node: 'minchu.signpost.test',
      catalogId: 'minchu-east',
    });
    expect(reasons[0]).toMatch(/^Broken: «The baseline at .* does not have the digest/);
  });
});
