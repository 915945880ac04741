import type { CheckResult, Role } from './check.ts';

// The numbered clauses of the public draft NFH-014 (beckn/protocol-specifications-v2, docs/Catalog_Publishing_and_Discovery.md, of 2026-08-07), and which of our
// checks see each. Where the draft and the specification differ, the specification wins: CONFORMANCE.md says so, clause by clause.

interface DraftClause {
  id: string;
  asks: string;
  /** For each role that the clause binds: the names of the checks that see it, or the reason why none can. */
  seen: Partial<Record<Role, readonly string[] | string>>;
}

const ofTree = (number: string, asks: string, tree: readonly string[] | string): DraftClause => ({
  ...{ id: `CON-TBD-${number}`, asks, seen: { tree } },
});
const ofDiscovery = (number: string, asks: string, discovery: readonly string[] | string): DraftClause => ({
  ...{ id: `CON-TBD-${number}`, asks, seen: { discovery } },
});

const twoStates = 'it is about the order of two states, and a tree is seen at one time';
const noLatest = 'the specification has no `latest`';
const secondNode = 'it takes a second node, which is a network facilitator';
const schemaRule = 'it binds the authors of the schemas, not a node';

export const draftClauses: readonly DraftClause[] = [
  ofTree('01', 'a catalog is discoverable without a call of a write API', [
    ...['manifest-served', 'record-lists-indexes', 'index-served', 'baseline-served'],
  ]),
  ofTree('02', 'every catalog file and change file is signed', ['baseline-signed', 'change-signed']),
  ofTree('03', 'entryVersion does not regress', ['versions-never-regress']),
  ofTree('04', 'baseline.version and toVersion do not regress', ['content-never-regresses']),
  ofTree('05', 'retiredAt comes before updates stop, and is never unset', twoStates),
  ofDiscovery('06', 'the signature of the manifest is verified', ['crawl-manifest-signed']),
  ofDiscovery('07', 'the digest of the Subscriber record is verified', ['crawl-record-digest']),
  ofDiscovery('08', 'the signature of each entry is verified', ['crawl-entry-signed']),
  ofDiscovery('09', 'signature and digest of each file are verified', [
    ...['crawl-file-signed', 'crawl-file-digest', 'crawl-change-signed', 'crawl-change-digest'],
  ]),
  ofDiscovery('10', 'nothing is indexed that fails a verification step', [
    ...['crawl-manifest-signed', 'crawl-record-digest', 'crawl-entry-signed', 'crawl-key-registered'],
    ...['crawl-file-signed', 'crawl-file-digest', 'crawl-change-signed', 'crawl-change-digest'],
    'crawl-attributes-checked',
  ]),
  ofDiscovery('11', 'versions that regress are not applied', [
    ...['crawl-entry-rollback', 'crawl-content-rollback'],
  ]),
  ofDiscovery('12', 'a file with another catalogId or version than its entry is discarded', [
    ...['crawl-file-of-entry', 'crawl-file-version'],
  ]),
  ofDiscovery('13', 'a catalog with retiredAt is not served', ['crawl-retired', 'crawl-retired-for-ever']),
  ofDiscovery('14', 'a REGULAR resource inherits from its MASTER resource', secondNode),
  // The command sends a hint before each stage, where the service accepts one.
  ofDiscovery('15', 'a change signal does not replace verification', [
    ...['crawl-entry-signed', 'crawl-file-signed', 'crawl-manifest-signed'],
  ]),
  ofTree('16', 'no catalog is restricted: files are read without credentials', [
    ...['manifest-served', 'record-served', 'index-served', 'baseline-served', 'change-served'],
  ]),
  ofTree('17', 'upserts are whole objects that conform to their schemas', [
    ...['catalog-content', 'attributes-conform'],
  ]),
  ofDiscovery(
    '18',
    'manifest and index are read with conditional requests (SHOULD)',
    'what a crawler saves changes nothing that can be found',
  ),
  {
    id: 'CON-TBD-19',
    asks: 'schemas comply with NFH-009',
    seen: { tree: schemaRule, discovery: schemaRule },
  },
  ofTree(
    '20',
    'there is no index per provider',
    'the specification allows several indexes, such as one per provider',
  ),
  ofDiscovery(
    '21',
    'a publisher is a member of the network that it is indexed for',
    'it takes a second node, which is no member of the network',
  ),
  ofTree('22', 'files are serialized in a stable form', twoStates),
  ofTree('23', 'each version has its own address, whose content never changes', twoStates),
  // The hosted files and their index have different ones.
  ofDiscovery('24', 'next_update of a file may differ from that of its index', ['crawl-finds']),
  ofDiscovery('25', 'a paused catalog is kept', ['crawl-paused', 'crawl-resumed']),
  ofTree('26', 'a retired catalogId is not listed again', twoStates),
  ofDiscovery(
    '27',
    'a catalog that is absent from its index is not deleted',
    'a service that hides the catalog (CON-TBD-35) looks like a service that deleted it',
  ),
  ofDiscovery('28', 'a resource stays while another catalog has it', ['crawl-shared-kept']),
  ofDiscovery('29', 'a gzipped file is verified by its decompressed content', ['crawl-gzip']),
  ofTree(
    '30',
    'dependencies.masters names every MASTER catalog that is extended',
    'neither document says where a file has its resourceDirectives',
  ),
  ofDiscovery('31', 'indexUrl of a MASTER is a hint, and never trusted', secondNode),
  ofTree('32', 'superseded change files stay listed for one next_update cycle', twoStates),
  {
    id: 'CON-TBD-33',
    asks: 'catalog_index_urls is in meta of the Subscriber record',
    seen: { tree: ['record-lists-indexes'], discovery: ['crawl-finds'] },
  },
  ofTree('34', 'a key stays in the manifest while a listed file is signed with it', twoStates),
  ofDiscovery(
    '35',
    'a catalog that is absent from its index is not served (SHOULD)',
    'the specification leaves this to the service',
  ),
  ofTree('36', 'latest has the digest that the index declares', noLatest),
  ofDiscovery('37', 'content of latest without the declared digest is not indexed', noLatest),
  ofTree('38', 'on retirement, latest gets retiredAt', noLatest),
  ofDiscovery('39', 'retiredAt in latest ends the catalog', noLatest),
  ofDiscovery('40', 'who reads latest still reads the index again', noLatest),
];

export function checksOfClauses(role: Role): string[] {
  return draftClauses.flatMap(({ seen }) => namesIn(seen[role]));
}

/** One result per clause that binds the role: failed where a check failed, and passed where one passed and none failed. */
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

function namesIn(seen: DraftClause['seen'][Role]): readonly string[] {
  return seen === undefined || typeof seen === 'string' ? [] : seen;
}
