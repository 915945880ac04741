import type { CheckResult, Role } from './check.ts';

// The numbered clauses of the public draft NFH-014 (beckn/protocol-specifications-v2, docs/Catalog_Publishing_and_Discovery.md, of 2026-08-07), with
// their checks. If the draft and the specification differ, the specification wins: CONFORMANCE.md says so, clause by clause.

/** The names of the checks of a clause, or the reason why it cannot be checked. */
type Seen = readonly string[] | string;

const twoStates = 'it is about the order of two states, and a tree is seen at one time';
const noLatest = 'the specification has no `latest`';
const secondNode = 'it takes a second node, which is a network facilitator';
const schemaRule = 'it binds the authors of the schemas, not a node';

/** Keys: number, role and text of the clause; without a role, it applies to several. */
const rows: Record<string, Seen | Partial<Record<Role, Seen>>> = {
  '01 tree: a catalog is discoverable without a call of a write API': [
    ...['manifest-served', 'record-lists-indexes', 'index-served', 'baseline-served'],
  ],
  '02 tree: every catalog file and change file is signed': ['baseline-signed', 'change-signed'],
  '03 tree: entryVersion does not regress': ['versions-never-regress'],
  '04 tree: baseline.version and toVersion do not regress': ['content-never-regresses'],
  '05 tree: retiredAt comes before updates stop, and is never unset': twoStates,
  '06 discovery: the signature of the manifest is verified': ['crawl-manifest-signed'],
  '07 discovery: the digest of the Subscriber record is verified': ['crawl-record-digest'],
  '08 discovery: the signature of each entry is verified': ['crawl-entry-signed'],
  '09 discovery: signature and digest of each file are verified': [
    ...['crawl-file-signed', 'crawl-file-digest', 'crawl-change-signed', 'crawl-change-digest'],
  ],
  '10 discovery: nothing is indexed that fails a verification step': [
    ...['crawl-manifest-signed', 'crawl-record-digest', 'crawl-entry-signed', 'crawl-key-registered'],
    ...['crawl-file-signed', 'crawl-file-digest', 'crawl-change-signed', 'crawl-change-digest'],
    'crawl-attributes-checked',
  ],
  '11 discovery: versions that regress are not applied': ['crawl-entry-rollback', 'crawl-content-rollback'],
  '12 discovery: a file with another catalogId or version than its entry is discarded': [
    ...['crawl-file-of-entry', 'crawl-file-version'],
  ],
  '13 discovery: a catalog with retiredAt is not served': ['crawl-retired', 'crawl-retired-for-ever'],
  '14 discovery: a REGULAR resource inherits from its MASTER resource': secondNode,
  // The command sends a hint before each stage, if the service accepts one.
  '15 discovery: a change signal does not replace verification': [
    ...['crawl-entry-signed', 'crawl-file-signed', 'crawl-manifest-signed'],
  ],
  '16 tree: no catalog is restricted: files are read without credentials': [
    ...['manifest-served', 'record-served', 'index-served', 'baseline-served', 'change-served'],
  ],
  '17 tree: upserts are whole objects that conform to their schemas': [
    'catalog-content',
    'attributes-conform',
  ],
  '18 discovery: manifest and index are read with conditional requests (SHOULD)':
    'what a crawler saves changes nothing that can be found',
  '19: schemas comply with NFH-009': { tree: schemaRule, discovery: schemaRule },
  '20 tree: there is no index per provider':
    'the specification allows several indexes, such as one per provider',
  '21 discovery: a publisher is a member of the network that it is indexed for':
    'it takes a second node, which is not a member of the network',
  '22 tree: files are serialized in a stable form': twoStates,
  '23 tree: each version has its own address, whose content never changes': twoStates,
  // The hosted files and their index have different ones.
  '24 discovery: next_update of a file may differ from that of its index': ['crawl-finds'],
  '25 discovery: a paused catalog is kept': ['crawl-paused', 'crawl-resumed'],
  '26 tree: a retired catalogId is not listed again': twoStates,
  '27 discovery: a catalog that is absent from its index is not deleted':
    'a service that hides the catalog (CON-TBD-35) looks like a service that deleted it',
  '28 discovery: a resource stays while another catalog has it': ['crawl-shared-kept'],
  '29 discovery: a gzipped file is verified by its decompressed content': ['crawl-gzip'],
  '30 tree: dependencies.masters names every MASTER catalog that is extended':
    'neither document says where a file has its resourceDirectives',
  '31 discovery: indexUrl of a MASTER is a hint, and never trusted': secondNode,
  '32 tree: superseded change files stay listed for one next_update cycle': twoStates,
  '33: catalog_index_urls is in meta of the Subscriber record': {
    ...{ tree: ['record-lists-indexes'], discovery: ['crawl-finds'] },
  },
  '34 tree: a key stays in the manifest while a listed file is signed with it': twoStates,
  '35 discovery: a catalog that is absent from its index is not served (SHOULD)':
    'the specification leaves this to the service',
  '36 tree: latest has the digest that the index declares': noLatest,
  '37 discovery: content of latest without the declared digest is not indexed': noLatest,
  '38 tree: on retirement, latest gets retiredAt': noLatest,
  '39 discovery: retiredAt in latest ends the catalog': noLatest,
  '40 discovery: a reader of latest still reads the index again': noLatest,
};

export const draftClauses = Object.entries(rows).map(([key, value]) => {
  const [, number, role, asks = ''] = /^(\d+)(?: (\w+))?: (.*)$/.exec(key) ?? [];
  const seen = (role === undefined ? value : { [role]: value }) as Partial<Record<Role, Seen>>;
  return { id: `CON-TBD-${number}`, asks, seen };
});

export function checksOfClauses(role: Role): string[] {
  return draftClauses.flatMap(({ seen }) => namesIn(seen[role]));
}

/** One result per clause of the role: failed if a check failed, passed if one passed and none failed. */
export function judgeClauses(role: Role, results: readonly CheckResult[]): CheckResult[] {
  const bound = draftClauses.filter(({ seen }) => seen[role] !== undefined);
  return bound.map(({ id, asks, seen: { [role]: seen } }) => {
    const made = results.filter(({ name }) => namesIn(seen).includes(name));
    const verdict =
      (['failed', 'passed'] as const).find((one) => made.some((result) => result.verdict === one)) ??
      'skipped';
    const deciding = made.filter((result) => result.verdict === verdict);
    const checks = deciding.map(({ name }) => name).join(', ');
    const reasons = deciding.map(({ name, actual }) => `${name}: ${actual}`).join('; ');
    const unmade = typeof seen === 'string' ? seen : 'the run ended before';
    return {
      ...{ name: id, clause: `NFH-014 ${id}`, verdict },
      ...(verdict === 'passed'
        ? { expected: `${asks} (${checks})` }
        : { expected: asks, actual: reasons || unmade }),
      milliseconds: made.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
    };
  });
}

function namesIn(seen: Seen | undefined): readonly string[] {
  return seen === undefined || typeof seen === 'string' ? [] : seen;
}
