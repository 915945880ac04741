import { expect, it } from 'vitest';
import { seedCatalog } from '../../tests/support/catalogs/seed-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { type Submission, submissionsOf } from '../rules/submission.ts';
import type { Database } from '../storage/database.ts';
import { loadKnown } from './load-known.ts';

let database: Database;

useDatabase((opened) => {
  database = opened;
});

/** A REGULAR catalog with this id whose resource extends that one. */
function regular(id: string, masterResourceId: string): Submission {
  const [submission] = submissionsOf(
    {
      catalogs: [
        {
          id,
          descriptor: { name: id },
          provider: { id: 'p', descriptor: { name: 'P' } },
          resources: [{ id: 'r' }],
        },
      ],
      publishDirectives: [
        {
          catalogId: id,
          catalogType: 'REGULAR',
          resourceDirectives: [{ resourceId: 'r', extends: { masterResourceId } }],
        },
      ],
    },
    'a.example/net',
  );
  if (submission === undefined) throw new Error('no submission');
  return submission;
}

const options = { publisher: 'p', inheritedBytes: 0 };

it('two that name MASTERs crosswise, as their own id and as what they extend, do not wait for each other', async () => {
  for (const id of ['m1', 'm2'])
    await seedCatalog(database, { id, type: 'MASTER', resources: [{ id: `${id}-r` }] });
  await database.query('update catalog.resource set is_template = true');
  await database.transaction(async (first) => {
    const { stored } = await loadKnown(first, regular('m1', 'm2-r'), options);
    expect(stored?.type).toBe('MASTER');
    await database.transaction(async (second) => {
      await second.query("set local lock_timeout = '500ms'");
      const crosswise = await loadKnown(second, regular('m2', 'm1-r'), options);
      expect(crosswise.stored?.type).toBe('MASTER');
    });
  });
});
