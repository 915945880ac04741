import { describe, expect, it } from 'vitest';
import { coffee, extending, retail } from '../../tests/support/catalogs/masters.ts';
import { catalog, plain } from '../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../logger.ts';
import type { PublishMessage } from '../protocol/publish-messages.ts';
import { TooMuchHere } from '../rules/inherited-bytes.ts';
import { createAttributeChecker } from '../rules/typed-attributes.ts';
import { findCatalog } from '../storage/catalog/catalogs.ts';
import { findOpenSubmission, insertSubmission, lockLane } from '../storage/catalog/submissions.ts';
import type { Database } from '../storage/database.ts';
import { applySubmission, type Turn } from './apply-submission.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const publisher = 'p.example/subscribers.beckn.one';
const checker = createAttributeChecker({ schemas: [] });

async function apply(message: PublishMessage, turn: Partial<Turn> = {}): Promise<boolean> {
  const context = JSON.stringify({ bppId: 'p.example', bppUri: 'https://p.example', messageId: 'm' });
  const submission = {
    ...{ publisher, recordSubscriberId: 'p.example', networkMemberships: [], messageId: 'm', context },
    ...{ acceptedAt: new Date(), body: Buffer.from(JSON.stringify({ message })), digest: 'unused' },
    ...{ requestSignature: 'unused', callbackUrl: 'https://p.example/catalog/on_publish' },
  };
  await database.transaction(async (tx) => {
    await lockLane(tx, publisher);
    await insertSubmission(tx, submission, { rows: 10, bytes: 1_000_000 });
  });
  return applyOpen(message, turn);
}

/** Applies the first accepted publish that is not done. */
async function applyOpen(message: PublishMessage, turn: Partial<Turn> = {}): Promise<boolean> {
  const open = await findOpenSubmission(database, publisher);
  if (open === undefined) throw new Error('everything is done');
  const tools = { config: readConfig({}), schemas: { checker: () => checker }, logger: silentLogger() };
  return applySubmission({ ...tools, database, now: () => new Date() }, open, message, {
    ...{ signal: new AbortController().signal, attempts: 1, endsAt: Number.POSITIVE_INFINITY },
    ...turn,
  });
}

async function results(): Promise<unknown[]> {
  const { rows } = await database.query<{ result: string }>(
    'select result from catalog.submission_result order by submission_id desc, position limit 2',
  );
  return rows.map(({ result }) => JSON.parse(result));
}

describe('a publish that inherits more than the main thread assembles', () => {
  it('leaves the catalog to a thread, with what came before it applied', async () => {
    const master = catalog('master', { resources: [coffee('t', { text: 'x'.repeat(1_000) })] });
    const asMaster = { catalogId: 'master', catalogType: 'MASTER' as const, visibleTo: [retail] };
    await apply({ catalogs: [master], publishDirectives: [asMaster] });
    const directive = {
      ...{ catalogId: 'heavy', catalogType: 'REGULAR' as const, visibleTo: [retail] },
      resourceDirectives: ['a', 'b', 'c'].map((id) => extending(id, 't')),
    };
    const heavy = catalog('heavy', { resources: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
    const message = {
      catalogs: [catalog('light', { resources: [plain('r')] }), heavy],
      publishDirectives: [directive],
    };
    await expect(apply(message, { maxInherited: 3_000 })).rejects.toThrow(TooMuchHere);
    expect(await findCatalog(database, 'light')).toMatchObject({ version: 1 });
    expect(await findCatalog(database, 'heavy')).toBeUndefined();
    expect(await applyOpen(message, { maxInherited: 4_000 })).toBe(true);
    expect(await findCatalog(database, 'light')).toMatchObject({ version: 1 });
    expect(await findCatalog(database, 'heavy')).toMatchObject({ resourceCount: 3 });
  });
});

describe('a publish that took too much', () => {
  it.each(['memory', 'time'] as const)(
    'NET_INTERNAL_ERROR: of %s is rejected as far as it is open, with a sentence that says so',
    async (tooMuch) => {
      const ids = [`first-${tooMuch}`, `second-${tooMuch}`];
      const message = { catalogs: ids.map((id) => catalog(id, { resources: [plain('r')] })) };
      expect(await apply(message, { endsAt: 0 })).toBe(false);
      expect(await applyOpen(message, { tooMuch })).toBe(true);
      const sentence = `The catalog could not be processed: it takes too much ${tooMuch}. Publish fewer resources at a time.`;
      expect(await results()).toMatchObject([
        { catalogId: ids[0], status: 'ACCEPTED' },
        {
          catalogId: ids[1],
          status: 'REJECTED',
          errors: [{ code: 'NET_INTERNAL_ERROR', message: sentence }],
        },
      ]);
      expect(await findCatalog(database, ids[1] ?? '')).toBeUndefined();
      expect(await findOpenSubmission(database, publisher)).toBeUndefined();
    },
  );
});
