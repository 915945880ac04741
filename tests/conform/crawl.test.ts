import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crawlChecks } from '../../src/conform/crawl-checks.ts';
import { draftClauses } from '../../src/conform/nfh-014.ts';
import { asker, type ConformScene, crawling, startConformScene } from '../support/conform/conform-scene.ts';
import { crawlFaults } from '../support/conform/crawl-faults.ts';

// `signpost conform` against a discovery service that crawls the files of the command. `npm run test:long` plants each fault alone.

const onlyCrawl = crawlChecks.flatMap(({ name }) => ['--only', name]);

describe('signpost conform of a discovery service that crawls', () => {
  let scene: ConformScene;
  beforeAll(async () => {
    scene = await startConformScene(crawling);
  });
  afterAll(() => scene?.close());

  it('passes ours, and leaves nothing behind that is found', async () => {
    const { exitCode, failed, skipped, actual } = await scene.checkCrawl();
    expect({ exitCode, failed, skipped, actual }).toMatchObject({ exitCode: 0, failed: [], skipped: [] });
    const { discover } = scene.discovering;
    expect(await discover({ intent: { textSearch: 'Conformance check' } })).toMatchObject({ status: 202 });
  });

  it('passes ours against the clauses of NFH-014, each that can be seen from outside', async () => {
    const { exitCode, failed, passed, actual } = await scene.checkCrawl([], ['--clauses', 'nfh-014']);
    const seen = draftClauses.filter(({ seen: { discovery } }) => discovery && typeof discovery !== 'string');
    expect({ exitCode, failed, passed, actual }).toMatchObject({
      ...{ exitCode: 0, failed: [], passed: seen.map(({ id }) => id) },
    });
  });

  it('finds the faults that can be planted together, and no others', async () => {
    const faults = crawlFaults.filter(({ group }) => group === 1);
    const { failed, actual } = await scene.checkCrawl(faults, onlyCrawl);
    expect({ failed, actual }).toMatchObject({ failed: faults.map(({ check }) => check) });
  });

  it.each([
    ['string', []],
    ['object', ['--profile', 'nfh014']],
  ])(
    'hosts indexes whose signature is a %s with the options %j, whatever WIRE_PROFILE this machine has',
    async (form, options) => {
      const indexes: unknown[] = [];
      const watch = (text: string) => text.includes('"catalogs":[') && indexes.push(JSON.parse(text));
      const only = ['--only', 'crawl-finds', ...options];
      const { passed } = await scene.checkCrawl([{ file: watch }], only, { WIRE_PROFILE: 'nfh014' });
      expect(passed).toEqual(['crawl-finds']);
      expect(indexes[0]).toMatchObject({
        signature: form === 'string' ? expect.any(String) : { value: expect.any(String) },
      });
    },
  );

  it('says why crawling is not checked: the identity is in no network, or no crawler comes', async () => {
    const { discoveryUrl } = scene.discovering.network;
    const only = ['--only', 'crawl-finds', '--json'];
    const reasonOf = async (...args: string[]) =>
      JSON.parse((await scene.conform(discoveryUrl, ...args, ...only)).out).checks[0];
    expect(await reasonOf(...asker)).toMatchObject({
      verdict: 'skipped',
      actual: expect.stringContaining('has no address in the registry'),
    });
    const { skipped, actual } = await scene.checkCrawl([], ['--network', 'example.org/other', ...only]);
    expect({ skipped, actual }).toMatchObject({
      skipped: ['crawl-finds'],
      actual: { 'crawl-finds': expect.stringContaining('is not a member of example.org/other') },
    });
  });
});
