import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register as registerVerifyCommand } from '../../src/cli/verify.ts';
import { actions } from '../../src/protocol/actions.ts';
import { publicKeyOf } from '../../src/protocol/keys.ts';
import { dataFile } from '../support/catalogs/data-dir.ts';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { crawl } from '../support/hosted/crawl.ts';
import { forge } from '../support/hosted/forged-node.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, type ProviderOptions, startProvider } from '../support/network/provider.ts';
import { served } from '../support/network/publish.ts';
import { runCommand } from '../support/processes/command.ts';

// JSONTestSuite: texts that are JSON (y_), texts that are not (n_), and texts that RFC 8259 lets a parser accept or refuse (i_). Each is the value of
// an open member: once of a resource in a signed publish, and once of a resource in a signed file that is crawled.

const folder = dataFile('vectors/json-test-suite');

/** JSON that we refuse, because two readers could understand it differently (RFC 8259 section 4), or because PostgreSQL cannot store it. */
const refusedJson: Record<string, string> = {
  y_object_duplicated_key: 'member "a" given twice',
  y_object_duplicated_key_and_value: 'member "a" given twice',
  y_object_escaped_null_in_key: 'U+0000 is not allowed',
  y_string_null_escape: 'U+0000 is not allowed',
};

/** Cases that the RFC leaves open: the number that we read, or the reason why we refuse the text. */
const decided: Record<string, [number] | string> = {
  i_number_double_huge_neg_exp: [0],
  i_number_huge_exp: 'a number beyond the range of a double',
  i_number_neg_int_huge_exp: 'a number beyond the range of a double',
  i_number_pos_double_huge_exp: 'a number beyond the range of a double',
  i_number_real_neg_overflow: 'a number beyond the range of a double',
  i_number_real_pos_overflow: 'a number beyond the range of a double',
  i_number_real_underflow: [0],
  i_number_too_big_neg_int: [-1.2312312312312312e29],
  i_number_too_big_pos_int: [1e20],
  i_number_very_big_negative_int: [-2.374623746732769e47],
  i_object_key_lone_2nd_surrogate: 'half of a surrogate pair',
  i_string_1st_surrogate_but_2nd_missing: 'half of a surrogate pair',
  i_string_1st_valid_surrogate_2nd_invalid: 'half of a surrogate pair',
  'i_string_UTF-16LE_with_BOM': 'not UTF-8',
  'i_string_UTF-8_invalid_sequence': 'not UTF-8',
  'i_string_UTF8_surrogate_U+D800': 'not UTF-8',
  i_string_incomplete_surrogate_and_escape_valid: 'half of a surrogate pair',
  i_string_incomplete_surrogate_pair: 'half of a surrogate pair',
  i_string_incomplete_surrogates_escape_valid: 'half of a surrogate pair',
  i_string_invalid_lonely_surrogate: 'half of a surrogate pair',
  i_string_invalid_surrogate: 'half of a surrogate pair',
  'i_string_invalid_utf-8': 'not UTF-8',
  'i_string_inverted_surrogates_U+1D11E': 'half of a surrogate pair',
  i_string_iso_latin_1: 'not UTF-8',
  i_string_lone_second_surrogate: 'half of a surrogate pair',
  i_string_lone_utf8_continuation_byte: 'not UTF-8',
  i_string_not_in_unicode_range: 'not UTF-8',
  i_string_overlong_sequence_2_bytes: 'not UTF-8',
  i_string_overlong_sequence_6_bytes: 'not UTF-8',
  i_string_overlong_sequence_6_bytes_null: 'not UTF-8',
  'i_string_truncated-utf-8': 'not UTF-8',
  i_string_utf16BE_no_BOM: 'not UTF-8',
  i_string_utf16LE_no_BOM: 'not UTF-8',
  i_structure_500_nested_arrays: 'nested deeper than 64 levels',
  // A byte order mark in the middle of a body.
  'i_structure_UTF-8_BOM_empty_object': 'a JSON value expected',
};

describe.skipIf(!existsSync(folder))('the texts of JSONTestSuite (needs the JSON test suite)', () => {
  let network: TestNetwork;
  let texts: Texts;

  beforeAll(async () => {
    texts = readTexts();
    network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
  });
  afterAll(() => network?.close());

  it('are 95 of JSON, 188 of something else, and 35 that we decided on', () => {
    const count = (kind: string) => [...texts.keys()].filter((name) => name.startsWith(kind)).length;
    expect([count('y_'), count('n_'), texts.size]).toEqual([95, 188, 318]);
    expect([...texts.keys()].filter((name) => name.startsWith('i_')).sort()).toEqual(
      Object.keys(decided).sort(),
    );
  });

  describe.each([
    { where: 'in a signed publish', code: 'SCH_INVALID_JSON', judge: publishAll },
    { where: 'in a signed file', code: 'not-json', judge: hostAll },
  ])('$where', ({ code, judge }) => {
    let verdicts: Verdicts;
    const judged = (kind: string) =>
      Object.fromEntries([...verdicts].filter(([name]) => name.startsWith(kind)));
    const expected = (kind: string, verdictOn: (name: string, text: Buffer) => unknown) =>
      Object.fromEntries(
        [...texts]
          .filter(([name]) => name.startsWith(kind))
          .map(([name, text]) => [name, verdictOn(name, text)]),
      );

    beforeAll(async () => {
      verdicts = await judge(network, texts);
    });

    it('are accepted and kept if they are JSON, except for two with duplicate members and two with U+0000', () => {
      const verdictOn = (name: string, text: Buffer) => {
        const why = refusedJson[name];
        return why === undefined ? { value: meaningOf(text) } : { code, why };
      };
      expect(judged('y_')).toEqual(expected('y_', verdictOn));
    });

    it(`are refused with ${code} if they are not JSON`, () => {
      expect(judged('n_')).toEqual(expected('n_', () => ({ code, why: expect.any(String) })));
    });

    it('have one answer each if a parser may accept or refuse them', () => {
      const verdictOn = (name: string) => {
        const answer = decided[name];
        return typeof answer === 'string' ? { code, why: answer } : { value: answer };
      };
      expect(judged('i_')).toEqual(expected('i_', verdictOn));
    });
  });
});

/** By file name without suffix. */
type Texts = Map<string, Buffer>;
type Verdicts = Map<string, { value: unknown } | { code: string; why: string }>;

function readTexts(): Texts {
  return new Map(
    readdirSync(folder).map((file) => [file.replace(/\.json$/, ''), readFileSync(join(folder, file))]),
  );
}

async function publishAll(network: TestNetwork, texts: Texts): Promise<Verdicts> {
  const publisher = await network.actor('json-publisher');
  const verdicts: Verdicts = new Map();
  const acknowledged = new Map<string, string>();
  for (const [name, text] of texts) {
    const { messageId, body, status } = await publishText(publisher, name, text);
    const { error } = body.message;
    if (status === 200) acknowledged.set(name, messageId);
    else verdicts.set(name, { code: error.code, why: withoutPlace(error.message) });
  }
  for (const [name, messageId] of acknowledged) {
    const { body } = await publisher.waitFor('catalog/on_publish', messageId);
    expect(body.message.results).toMatchObject([{ catalogId: name, status: 'ACCEPTED' }]);
    verdicts.set(name, { value: openMemberOf(await served(network.database, name)) });
  }
  return verdicts;
}

function publishText(publisher: Actor, name: string, text: Buffer) {
  const { body, messageId } = publisher.sign(actions.publish, { catalogs: [catalogWith(name, placeholder)] });
  return publisher.send(actions.publish, undefined, { raw: filledIn(body, text), context: { messageId } });
}

/** `signpost verify` reads every file with the crawler's code, but only once. The crawler then reads only the valid ones, because it would retry the others. */
async function hostAll(network: TestNetwork, texts: Texts): Promise<Verdicts> {
  const verdicts: Verdicts = new Map();
  const verified = await host(network, 'json-host', texts, { register: false });
  const { url, tree } = verified;
  const { out } = await runCommand(
    registerVerifyCommand,
    ['verify', url, '--key', `${tree.key.recordId}=${publicKeyOf(tree.key.privateKey)}`, '--json'],
    { DATA_DIR: network.config.DATA_DIR, ALLOW_PRIVATE_ADDRESSES: 'true' },
  );
  await verified.stop();
  for (const { document, catalogId, code, message } of JSON.parse(out).faults)
    if (document === 'baseline')
      verdicts.set(catalogId, { code, why: withoutPlace(message.replace(/^.* cannot be read: /, '')) });
  const holding = new Map([...texts].filter(([name]) => !verdicts.has(name)));
  const crawled = await host(network, 'crawled-json-host', holding);
  await crawl(network.database);
  await crawled.stop();
  for (const name of holding.keys())
    verdicts.set(name, { value: openMemberOf(await held(network.database, name)) });
  return verdicts;
}

/** The signature of a file covers the value of its text. A text that we refuse has no value, and is refused before the signature is checked. */
async function host(
  network: TestNetwork,
  name: string,
  texts: Texts,
  options: ProviderOptions = {},
): Promise<Provider> {
  const provider = await startProvider(network, name, options);
  const textOf = ({ catalogId }: Body) => texts.get(catalogId) as Buffer;
  const baseline = (document: Body) => {
    const isRefused = typeof decided[document.catalogId] === 'string';
    document.catalog.resources[0].value = isRefused ? null : meaningOf(textOf(document));
  };
  const write = (kind: string, document: Body) => {
    if (kind !== 'baseline') return Buffer.from(JSON.stringify(document));
    const { resources } = catalogWith(document.catalogId, placeholder);
    const written = { ...document, catalog: { ...document.catalog, resources } };
    return filledIn(Buffer.from(JSON.stringify(written)), textOf(document));
  };
  provider.spoil(forge(provider, { baseline }, { hand: { write } }));
  await provider.publish({ message: { catalogs: [...texts.keys()].map((id) => catalogWith(id, null)) } });
  return provider;
}

const placeholder = 'the text comes here';

function catalogWith(id: string, value: unknown) {
  const resource = { id: 'r', value };
  return catalog(id, { resources: [resource] });
}

function filledIn(body: Buffer, text: Buffer): Buffer {
  const quoted = JSON.stringify(placeholder);
  const at = body.indexOf(quoted);
  return Buffer.concat([body.subarray(0, at), text, body.subarray(at + quoted.length)]);
}

/** The value as we write it: -0 becomes 0. Null if the text is not JSON. */
function meaningOf(text: Buffer): unknown {
  try {
    return JSON.parse(JSON.stringify(JSON.parse(text.toString('utf8'))));
  } catch {
    return null;
  }
}

function openMemberOf(copy: Body | undefined): unknown {
  return copy?.resources[0].value;
}

function withoutPlace(message: string): string {
  return message.replace(/, at (line|byte) .*$/, '');
}
