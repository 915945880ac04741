import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataFile } from '../../tests/support/catalogs/data-dir.ts';
import { runCommand } from '../../tests/support/processes/command.ts';
import { register as registerSchemaCommand } from './schema.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signpost-schema-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function run(
  args: string[],
  { env = {}, stdin = '' }: { env?: Record<string, string>; stdin?: string } = {},
) {
  return runCommand(registerSchemaCommand, ['schema', ...args], { DATA_DIR: directory, ...env }, stdin);
}

const charger = {
  '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
  '@type': 'EnergyResourceEVCharger',
  id: 'c1',
  type: 'EV_CHARGER',
  attributes: { connectorType: 'Type2' },
};

function catalog(id: string, resources: unknown[]) {
  return { id, descriptor: { name: 'C' }, provider: { id: 'p', descriptor: { name: 'P' } }, resources };
}

describe('signpost schema list', () => {
  it('lists the bundled types with their address', async () => {
    const { out, exitCode } = await run(['list']);
    expect(exitCode).toBe(0);
    expect(out).toMatch(
      /^EnergyResourceEVCharger +https:\/\/schema\.nfh\.global\/EnergyResourceEVCharger\/v1\.1\/schema\.json +bundled$/m,
    );
    expect(out).toMatch(
      /^EnergyResource +https:\/\/schema\.nfh\.global\/EnergyResource\/v1\.1\/schema\.json +bundled$/m,
    );
  });

  it("lists the operator's own, and names those that cannot be used", async () => {
    mkdirSync(join(directory, 'Coffee/v1'), { recursive: true });
    mkdirSync(join(directory, 'Tea/v1'), { recursive: true });
    writeFileSync(join(directory, 'Coffee/v1/schema.json'), '{"required":["origin"]}');
    writeFileSync(join(directory, 'Tea/v1/schema.json'), '{"$ref":"https://nowhere.example/x"}');
    const { out, notes } = await run(['list', '--json'], { env: { SCHEMA_DIR: directory } });
    const { types, problems } = JSON.parse(out);
    expect(types).toContainEqual({
      type: 'Coffee',
      address: 'https://schema.nfh.global/Coffee/v1/schema.json',
      from: 'SCHEMA_DIR',
    });
    expect(problems).toMatchObject([{ type: 'Tea' }]);
    expect(notes).toContain('Tea');
  });
});

describe('signpost schema check', () => {
  async function check(value: unknown, ...options: string[]) {
    const { out, notes, exitCode } = await run(['check', '-', '--json', ...options], {
      stdin: JSON.stringify(value),
    });
    const { subject, faults, unknownContexts } = JSON.parse(out);
    const paths = faults.map(({ details }: { details: { path: string } }) => details.path);
    return { subject, paths, unknownContexts, exitCode, notes };
  }

  it('says that there is no fault, and exits with 0', async () => {
    const file = join(directory, 'charger.json');
    writeFileSync(file, JSON.stringify(charger));
    expect(await run(['check', file])).toMatchObject({ exitCode: 0, out: 'attributes: no fault\n' });
  });

  it('prints each fault of attributes with its path, and exits with 1', async () => {
    const wrong = { ...charger, id: undefined, attributes: { connectorType: 'Type9', v2xProtocol: 'Other' } };
    const { out, exitCode } = await run(['check', '-'], { stdin: JSON.stringify(wrong) });
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^\$\.attributes\.connectorType {2}SCH_SCHEMA_VALIDATION_FAILED {2}/m);
    expect(out).toMatch(/^\$\.attributes\.v2xProtocol {2}SCH_SCHEMA_VALIDATION_FAILED {2}.*EV_V2G/m);
    expect(out).toMatch(/^\$\.id {2}/m);
  });

  it('checks a catalog', async () => {
    const bad = { ...charger, type: 'EV' };
    expect(await check(catalog('c', [{ id: 'r1', resourceAttributes: bad }]))).toMatchObject({
      subject: 'catalog',
      paths: ['$.resources[0].resourceAttributes.type'],
      exitCode: 1,
    });
  });

  it('checks a publish body, the shape first', async () => {
    const body = {
      context: {},
      message: { catalogs: [catalog('c', [{ id: 'r1', resourceAttributes: { ...charger, id: 7 } }])] },
    };
    expect(await check(body)).toMatchObject({
      subject: 'publish body',
      paths: ['$.message.catalogs[0].resources[0].resourceAttributes.id'],
    });
    const shapeless = { message: { catalogs: [{ ...catalog('c', []), surplus: 1, provider: undefined }] } };
    expect((await check(shapeless)).paths.sort()).toEqual([
      '$.message.catalogs[0].provider',
      '$.message.catalogs[0].surplus',
    ]);
    const lost = {
      message: {
        catalogs: [catalog('c', [])],
        publishDirectives: ['d', 'e'].map((catalogId) => ({ catalogId, catalogType: 'REGULAR' })),
      },
    };
    const places = [0, 1].map((index) => `publishDirectives[${index}].catalogId`);
    expect((await check(lost)).paths).toEqual(places.map((place) => `$.message.${place}`));
    expect((await check(lost.message)).paths).toEqual(places.map((place) => `$.${place}`));
  });

  it('checks what extends a master in its assembled form, or as far as it goes', async () => {
    const master = catalog('m', [{ id: 'm1', resourceAttributes: { ...charger, id: undefined } }]);
    const { type: _, ...untyped } = charger;
    const extending = (attributes: object) => ({
      publishDirectives: [
        { catalogId: 'm', catalogType: 'MASTER' },
        {
          catalogId: 'c',
          catalogType: 'REGULAR',
          resourceDirectives: [
            { resourceId: 'r1', extends: { masterResourceId: 'm1' } },
            { resourceId: 'r2', extends: { masterResourceId: 'elsewhere' } },
          ],
        },
      ],
      catalogs: [
        catalog('c', [
          { id: 'r1', resourceAttributes: attributes },
          { id: 'r2', resourceAttributes: { '@context': charger['@context'], '@type': charger['@type'] } },
        ]),
        master,
      ],
    });
    expect(await check(extending(untyped))).toMatchObject({ subject: 'catalogs', paths: [] });
    expect((await check(extending({ ...untyped, id: undefined }))).paths).toEqual([
      '$.catalogs[0].resources[0].resourceAttributes.id',
    ]);
    expect((await check(extending({ ...charger, type: 'EV_V2G' }))).paths).toEqual([
      '$.catalogs[0].resources[0].resourceAttributes.type',
    ]);
  });

  it('checks several in one array', async () => {
    expect(await check([charger, { ...charger, id: 1 }])).toMatchObject({
      subject: '2 items',
      paths: ['$[1].id'],
    });
  });

  it('lets a template miss members', async () => {
    const { id: _, ...template } = charger;
    expect((await check(template)).paths).toEqual(['$.id']);
    expect((await check(template, '--template')).paths).toEqual([]);
  });

  it('tells which contexts nobody knows', async () => {
    const tea = { '@context': 'https://unknown.example/Tea/v1/context.jsonld', '@type': 'Tea' };
    expect(await check(tea)).toMatchObject({ paths: [], unknownContexts: [tea['@context']], exitCode: 0 });
    const strict = await run(['check', '-'], {
      stdin: JSON.stringify(tea),
      env: { UNKNOWN_CONTEXT: 'reject' },
    });
    expect(strict).toMatchObject({ exitCode: 1, out: expect.stringContaining('SCH_INVALID_JSONLD_CONTEXT') });
  });

  it.each([
    ['{"a":1,"a":2}', 'is not accepted as JSON'],
    ['{"a":1}', 'neither a publish body'],
    ['7', 'neither a publish body'],
  ])('says what is wrong with a file that holds %s', async (stdin, sentence) => {
    expect(await run(['check', '-'], { stdin })).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining(sentence),
    });
  });

  it('says that a file is missing', async () => {
    expect(await run(['check', join(directory, 'none.json')])).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining('There is no file'),
    });
  });

  const london = dataFile('catalogs/ev-chargers-london-60.publish.json');
  it.skipIf(!existsSync(london))(
    'finds no fault in the London chargers (needs the field payloads)',
    async () => {
      expect(await run(['check', london])).toMatchObject({ exitCode: 0, out: 'publish body: no fault\n' });
    },
  );
});
