import { useState } from 'preact/hooks';
import type {
  ChainLink,
  Difference,
  InspectedCatalog,
  Inspection,
  Issue,
} from '../../../../src/console/answers/inspect.ts';
import { pathWith } from '../../api/client.ts';
import { useGet } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { Badge, toneOf } from '../../ui/badge.tsx';
import { Changes } from '../../ui/changes.tsx';
import { crawlNow } from '../../ui/crawl-now.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Empty, Show } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { Chain } from './chain.tsx';
import { chainOf, explainVerdict, titleVerdict } from './verdict.ts';

const verdicts: Record<Inspection['verdict'], { tone: string; icon: IconName }> = {
  discoverable: { tone: 'good', icon: 'check' },
  warnings: { tone: 'warn', icon: 'warning' },
  not: { tone: 'bad', icon: 'cross' },
};

export function Report({ q, answer, reload }: { q: string; answer: Inspection; reload(): void }) {
  const [picked, setPicked] = useState<string>();
  const worst = answer.catalogs.find(({ verdict }) => verdict === 'not') ?? answer.catalogs[0];
  const catalogId = picked ?? answer.catalogId ?? worst?.catalogId;
  const catalog = answer.catalogs.find((one) => one.catalogId === catalogId);
  const crawled =
    answer.catalogs.some(({ source }) => source === 'crawl') ||
    answer.chain.some(({ link }) => link === 'manifest');
  return (
    <>
      <VerdictPanel answer={answer} canCrawl={crawled} reload={reload} />
      <section class="panel stack" aria-labelledby="chain-title">
        <h2 id="chain-title">
          The chain{catalogId !== undefined && <span class="soft"> of {catalogId}</span>}
        </h2>
        <Chain links={chainOf(answer.chain, catalogId)} />
      </section>
      {answer.catalogs.length > 0 && (
        <section class="panel stack" aria-labelledby="catalogs-title">
          <h2 id="catalogs-title">Catalogs</h2>
          <CatalogTable
            catalogs={answer.catalogs}
            chain={answer.chain}
            chosen={catalogId}
            choose={setPicked}
          />
          {answer.node && catalog && <DifferencePanel node={answer.node} catalog={catalog} />}
        </section>
      )}
      <section class="panel stack" aria-labelledby="issues-title">
        <h2 id="issues-title">Issues</h2>
        <IssueTable q={q} issues={answer.issues} />
      </section>
      {answer.copies.length > 0 && (
        <section class="panel stack" aria-labelledby="copies-title">
          <h2 id="copies-title">Discovery services that have it</h2>
          <Table
            caption="copies"
            columns={copyColumns}
            rows={answer.copies}
            keyOf={({ discovery }) => discovery}
          />
        </section>
      )}
    </>
  );
}

type VerdictProps = { answer: Inspection; canCrawl: boolean; reload(): void };

function VerdictPanel({ answer, canCrawl, reload }: VerdictProps) {
  const { verdict, node } = answer;
  const { tone, icon } = verdicts[verdict];
  const reason = explainVerdict(answer.chain, answer.because, { naming: true });
  const crawl = async () => {
    if (node && (await crawlNow(node))) reload();
  };
  return (
    <section class={`verdict-panel ${tone}`} aria-labelledby="verdict-title" role="status">
      <span class="verdict-icon">
        <Icon name={icon} />
      </span>
      <div class="verdict-text">
        <h2 id="verdict-title">{titleVerdict(answer)}</h2>
        {reason && <p class="wrap">{reason}</p>}
        {answer.nextStep && (
          <p>
            <strong>Next step:</strong> {answer.nextStep}
          </p>
        )}
        <p class="soft small">{spellSubject(answer)}</p>
      </div>
      {node && canCrawl && session.value?.can.crawl && (
        <button type="button" onClick={() => void crawl()}>
          <Icon name="refresh" /> Crawl now
        </button>
      )}
    </section>
  );
}

function spellSubject({ kind, node, catalogId, resourceId }: Inspection): string {
  if (kind === 'node') return `Node ${node ?? ''}`;
  const owner = node === undefined ? '' : ` of ${node}`;
  return kind === 'resource' ? `Resource ${resourceId ?? ''}${owner}` : `Catalog ${catalogId ?? ''}${owner}`;
}

function IssueTable({ q, issues }: { q: string; issues: readonly Issue[] }) {
  if (issues.length === 0) return <Empty title="No issues are known." />;
  return (
    <>
      <Table
        caption="issues"
        columns={columns}
        rows={issues}
        keyOf={({ code, catalogId, path, message }) => `${code} ${catalogId} ${path} ${message}`}
      />
      <p>
        <a href={pathWith('/api/inspect/issues.csv', { q })} download="issues.csv">
          <Icon name="link" /> As CSV
        </a>
      </p>
    </>
  );
}

const columns: readonly Column<Issue>[] = [
  { label: 'Code', cell: ({ code }) => <code>{code}</code> },
  {
    label: 'What is wrong',
    cell: ({ message, hint }) => (
      <div>
        <p>{message}</p>
        {hint && <p class="soft">{hint}</p>}
      </div>
    ),
  },
  {
    label: 'Where',
    cell: ({ catalogId, path }) => (
      <div>
        {catalogId && <p>{catalogId}</p>}
        {path && <code>{path}</code>}
      </div>
    ),
  },
  { label: 'Times', kind: 'number', cell: ({ count }) => spellCount(count) },
  { label: 'Last', kind: 'short', cell: ({ lastAt }) => lastAt && <Ago at={lastAt} /> },
];

interface CatalogsProps {
  catalogs: readonly InspectedCatalog[];
  chain: readonly ChainLink[];
  chosen?: string;
  choose(catalogId: string): void;
}

function CatalogTable({ catalogs, chain, chosen, choose }: CatalogsProps) {
  const columns: readonly Column<InspectedCatalog>[] = [
    {
      label: 'Catalog',
      cell: ({ catalogId }) => (
        <button
          type="button"
          class="link"
          aria-pressed={catalogId === chosen}
          onClick={() => choose(catalogId)}
        >
          {catalogId}
        </button>
      ),
    },
    {
      label: 'Verdict',
      cell: ({ catalogId, verdict, because }) => {
        const reason = explainVerdict(chainOf(chain, catalogId), because);
        return (
          <div>
            <Badge tone={toneOf(verdict)}>{verdict === 'not' ? 'not discoverable' : verdict}</Badge>
            {reason && <p class="soft small">{reason}</p>}
          </div>
        );
      },
    },
    { label: 'Indexed', cell: ({ indexedVersion }) => indexedVersion ?? '–' },
    { label: 'Live now', cell: ({ liveVersion }) => liveVersion ?? '–' },
    { label: 'Source', cell: ({ source }) => source },
  ];
  return (
    <Table
      caption="catalogs"
      columns={columns}
      rows={catalogs}
      keyOf={({ catalogId }) => catalogId}
      isChosen={({ catalogId }) => catalogId === chosen}
    />
  );
}

const copyColumns: readonly Column<Inspection['copies'][number]>[] = [
  { label: 'Discovery service', cell: ({ discovery }) => discovery },
  { label: 'Version', cell: ({ version }) => version ?? '–' },
  { label: 'Acknowledged', cell: ({ acknowledgedAt }) => <Ago at={acknowledgedAt} /> },
  { label: 'State', kind: 'short', cell: ({ state }) => <Badge tone={toneOf(state)}>{state}</Badge> },
];

/** The indexed catalog beside its signed files, or beside the document of the catalog service. This fetches the files, so it runs only on demand. */
function DifferencePanel({ node, catalog }: { node: string; catalog: InspectedCatalog }) {
  const { catalogId, source, liveVersion } = catalog;
  const [asked, setAsked] = useState<string>();
  const path = asked === catalogId ? '/api/inspect/difference' : undefined;
  const answer = useGet<Difference>(path, { node, catalogId }, ['crawl', 'catalog']);
  if (source === 'service' && liveVersion === undefined)
    return (
      <p class="soft small">
        {catalogId} is stored by another catalog service, so its document cannot be compared from here.
      </p>
    );
  const live = source === 'service' ? 'what the catalog service stores' : 'what is live now';
  if (path === undefined) {
    return (
      <p>
        <button type="button" onClick={() => setAsked(catalogId)}>
          Compare what is indexed with {live}
        </button>
      </p>
    );
  }
  return (
    <Show of={answer} what="difference">
      {({ indexed, live: version, changes, truncated }) => (
        <div class="stack">
          <h3>
            {catalogId}: indexed {spellVersion(indexed)}, {source === 'service' ? 'stored' : 'live'}{' '}
            {spellVersion(version)}
          </h3>
          <Changes changes={changes} truncated={truncated} />
        </div>
      )}
    </Show>
  );
}

function spellVersion(version: number | null): string {
  return version === null ? '–' : `version ${version}`;
}
