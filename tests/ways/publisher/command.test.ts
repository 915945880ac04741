import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerStateCommands } from '../../../src/cli/catalog-state.ts';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import { readIndexes } from '../../../src/publisher/indexes.ts';
import { openPublisher } from '../../../src/publisher/publisher.ts';
import { openSchemaStore } from '../../../src/schemas/schema-store.ts';
import {
  fetchFile,
  publisherSettings,
  smallCatalog,
  startPublisher,
  type TestPublisher,
} from '../../support/hosted/publisher.ts';
import { type CommandRun, runCommand } from '../../support/processes/command.ts';
import { publish, type Settings, useDirectory } from '../../support/processes/publish-command.ts';

// The commands of a provider: publish, retire, pause, resume.

const { directory, write } = useDirectory();

const change = (args: string[], settings: Settings, confirms?: boolean): Promise<CommandRun> =>
  runCommand(registerStateCommands, args, settings, '', confirms);

/** The entries of the default index, read from the tree. */
async function entries(settings: Settings) {
  const schemas = await openSchemaStore({ logger: silentLogger() });
  const { tree } = await openPublisher(readConfig(settings), { schemas, logger: silentLogger() });
  return (await readIndexes(tree)).get('catalogs')?.entries ?? new Map();
}

describe('publish, where no publisher runs', () => {
  let settings: Settings;
  beforeAll(async () => {
    settings = await publisherSettings(join(directory, 'data'));
  });

  it('writes the files itself, and warns that nobody can find them', async () => {
    const file = write('coffee.json', smallCatalog('coffee'));
    const run = await publish([file], settings);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.out).toMatch(/^coffee +ACCEPTED +version 1$/m);
    expect(run.notes).toContain(`Published by this command, into ${settings.DATA_DIR}/publisher/public.`);
    expect(run.notes).toContain('Warning: The registry does not answer');
    expect((await readdir(join(settings.DATA_DIR ?? '', 'publisher/public'))).sort()).toEqual([
      '.well-known',
      'catalogs',
      'index',
      expect.stringMatching(/^subscriber\.[0-9a-f]{12}\.json$/),
      'subscriber.json',
    ]);
  });

  it('takes a request, a catalog, an array of catalogs, and standard input', async () => {
    const request = {
      context: { action: 'catalog/publish' },
      message: {
        catalogs: [smallCatalog('a')],
        publishDirectives: [{ catalogId: 'a', catalogType: 'MASTER' }],
      },
    };
    const files = [
      write('request.json', request),
      write('bare.json', smallCatalog('b')),
      write('array.json', [smallCatalog('c'), smallCatalog('d')]),
      '-',
    ];
    const run = await publish(
      [...files, '--json', '--network', 'example.org/retail'],
      settings,
      JSON.stringify(smallCatalog('e')),
    );
    expect(run.exitCode).toBe(0);
    const { results } = JSON.parse(run.out);
    expect(results.map(({ catalogId }: { catalogId: string }) => catalogId)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
    const published = await entries(settings);
    expect(published.get('a')).toMatchObject({ catalogType: 'MASTER' });
    expect(published.get('a')).not.toHaveProperty('networkIds');
    for (const id of ['b', 'c', 'd', 'e'])
      expect(published.get(id)).toMatchObject({ catalogType: 'REGULAR', networkIds: ['example.org/retail'] });
  });

  it('takes a catalog as the whole of it, unless told to merge', async () => {
    await publish([write('tea.json', smallCatalog('tea', ['green', 'black']))], settings);
    const white = write('tea.json', smallCatalog('tea', ['white']));
    await publish([white, '--mode', 'merge'], settings);
    const merged = await publish([white, '--mode', 'merge', '--force-baseline', '--json'], settings);
    expect(JSON.parse(merged.out).results).toEqual([{ catalogId: 'tea', status: 'ACCEPTED', version: 2 }]);
    const whole = await publish([white], settings);
    expect(whole.out).toMatch(/^tea +ACCEPTED +version 3$/m);
  });

  it('fails when a catalog is rejected, and says what is wrong where', async () => {
    const { provider: _, ...incomplete } = smallCatalog('coffee');
    const bad = await publish([write('bad.json', incomplete)], settings);
    expect(bad.exitCode).toBe(1);
    expect(bad.notes).toContain('SCH_REQUIRED_FIELD_MISSING');
    expect(bad.notes).toContain('$.message.catalogs[0]');
    const wrongType = await publish(
      [write('coffee.json', smallCatalog('coffee')), '--type', 'MASTER'],
      settings,
    );
    expect(wrongType.exitCode).toBe(1);
    expect(wrongType.out).toMatch(/^coffee +REJECTED$/m);
    expect(wrongType.out).toContain('BIZ_GENERIC_ERROR, $.message.publishDirectives[0].catalogType');
  });

  it.each([
    ['no JSON', '{', 'is not accepted as JSON'],
    ['nothing to publish', { name: 'x' }, 'has neither a publish request'],
  ])('says so when a file holds %s', async (_what, content, told) => {
    const run = await publish([write('wrong.json', content)], settings);
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining(told) });
  });

  it('tells what was published when a later file cannot be', async () => {
    const run = await publish([write('first.json', smallCatalog('first')), 'nowhere.json'], settings);
    expect(run).toMatchObject({ exitCode: 1, out: expect.stringMatching(/^first +ACCEPTED +version 1$/m) });
    expect(run.notes).toContain('There is no file nowhere.json');
  });

  it.each([
    [['--to', 'http://127.0.0.1:1', '--force-baseline'], '--force-baseline has no effect with --to'],
    [['--key-id', 'key-2'], '--key-id has no effect without --to'],
  ])('refuses an option that would do nothing: %j', async (args, told) => {
    const run = await publish([write('a.json', smallCatalog('a')), ...args], settings);
    expect(run).toMatchObject({ exitCode: 1, out: '', notes: expect.stringContaining(told) });
  });

  it('wants one of --to and --self', async () => {
    const run = await publish(
      [write('a.json', smallCatalog('a')), '--self', '--to', 'http://127.0.0.1:1'],
      settings,
    );
    expect(run).toMatchObject({ exitCode: 1, notes: expect.stringContaining('either --to or --self') });
  });

  it('tells what has changed from what was so already, and of many catalogs only how many there are of each', async () => {
    const file = write('cups.json', [smallCatalog('cup-0', ['small']), smallCatalog('cup-1', ['small'])]);
    expect((await publish([file], settings)).out).toContain('2 catalogs: 2 changed.');
    write('cups.json', [smallCatalog('cup-0', ['large']), smallCatalog('cup-1', ['small'])]);
    const few = await publish([file], settings);
    expect(few.out).toMatch(/^cup-0 +ACCEPTED +version 2$/m);
    expect(few.out).toMatch(/^cup-1 +ACCEPTED +version 1, unchanged$/m);
    expect(few.out).toContain('2 catalogs: 1 changed, 1 unchanged.');
    const { provider } = smallCatalog('any');
    const many = [
      ...Array.from({ length: 30 }, (_, n) => smallCatalog(`cup-${n}`, ['large'])),
      { id: 'empty', descriptor: { name: 'Empty' }, provider, resources: [], offers: [] },
    ];
    const summed = await publish([write('cups.json', many)], settings);
    expect(summed.exitCode).toBe(1);
    expect(summed.out).toMatch(/^empty +REJECTED$/m);
    expect(summed.out).toContain('31 catalogs: 29 changed, 1 unchanged, 1 rejected.');
    expect(summed.out.trimEnd().split('\n')).toHaveLength(4);
  });

  it('pauses and resumes, and says so', async () => {
    const paused = await change(['pause', 'coffee'], settings);
    expect(paused).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^coffee +PAUSED$/m) });
    expect((await entries(settings)).get('coffee')).toMatchObject({ isActive: false });
    expect((await change(['pause', 'coffee'], settings)).out).toMatch(/^coffee +PAUSED +unchanged$/m);
    const resumed = await change(['resume', 'coffee'], settings);
    expect(resumed).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^coffee +RESUMED$/m) });
    expect((await entries(settings)).get('coffee')).toMatchObject({ isActive: true });
  });

  it('asks before it retires, and where there is nobody to ask it wants to be told --yes', async () => {
    const nobody = await change(['retire', 'coffee'], settings);
    expect(nobody).toMatchObject({ exitCode: 1, out: '', notes: expect.stringContaining('add --yes') });
    const no = await change(['retire', 'coffee', 'tea'], settings, false);
    expect(no).toMatchObject({ exitCode: 1, out: '' });
    expect(no.notes).toContain('Retire 2 catalogs (coffee, tea)? This is permanent');
    expect(no.notes).toContain('Nothing was retired.');
    expect((await entries(settings)).get('coffee')).not.toHaveProperty('retiredAt');
    const yes = await change(['retire', 'tea'], settings, true);
    expect(yes).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^tea +RETIRED$/m) });
  });

  it('retires for ever', async () => {
    const retired = await change(['retire', 'coffee', 'tea', '--yes'], settings);
    expect(retired.out).toMatch(/^coffee +RETIRED$/m);
    expect(retired.out).toMatch(/^tea +RETIRED +unchanged$/m);
    const again = await publish([write('coffee.json', smallCatalog('coffee'))], settings);
    expect(again).toMatchObject({ exitCode: 1, out: expect.stringContaining('never comes back') });
    const unknown = await change(['retire', 'cofee', '--yes', '--json'], settings);
    expect(unknown.exitCode).toBe(1);
    expect(JSON.parse(unknown.out)).toMatchObject({ status: 'FAILED', results: [{ status: 'REJECTED' }] });
  });
});

describe('publish, where a publisher runs', () => {
  let publisher: TestPublisher;
  beforeAll(async () => {
    publisher = await startPublisher();
  });
  afterAll(() => publisher.close());

  it('goes through its trigger, and the files are served when the command is done', async () => {
    const { config, settings } = publisher;
    const run = await publish(
      [write('coffee.json', smallCatalog('coffee')), '--index', 'bangalore'],
      settings,
    );
    expect(run).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^coffee +ACCEPTED +version 1$/m) });
    expect(run.notes).toContain(`Published by the publisher at ${config.triggerUrl}.`);
    const { body } = await fetchFile(config, 'index/bangalore.index.json');
    expect(body.catalogs).toMatchObject([{ catalogId: 'coffee' }]);
  });

  it('does not publish as somebody else, whose publisher has the port', async () => {
    const others = { ...publisher.settings, PUBLISHER_ID: 'somebody-else.example' };
    const run = await publish([write('tea.json', smallCatalog('tea'))], others);
    expect(run).toMatchObject({ exitCode: 1, out: '' });
    expect(run.notes).toContain(
      `This is the trigger of ${publisher.config.identities.publisher.id}, not of somebody-else.example`,
    );
  });

  it('says what the trigger refused', async () => {
    const run = await publish([write('bad.json', { message: { catalogs: [] } })], publisher.settings);
    expect(run).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('400 SCH_SCHEMA_VALIDATION_FAILED'),
    });
    expect(run.notes).toContain('$.message.catalogs');
  });
});
