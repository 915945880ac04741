import { useState } from 'preact/hooks';
import type { Inspection, Issue, Verdict } from '../../../../src/console/answers/inspect.ts';
import { pathWith } from '../../api/client.ts';
import { session } from '../../api/session.ts';
import { crawlNow } from '../../ui/crawl-now.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Ago, spellCount } from '../../ui/time.tsx';
import { CatalogTable, CopyTable } from './catalogs.tsx';
import { Chain } from './chain.tsx';
import { DifferencePanel } from './difference.tsx';
import { chainOf, explainVerdict, titleVerdict } from './verdict.ts';

const verdicts: Record<Verdict, { tone: string; icon: IconName }> = {
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
          <CopyTable copies={answer.copies} />
        </section>
      )}
    </>
  );
}

type VerdictProps = { answer: Inspection; canCrawl: boolean; reload(): void };

function VerdictPanel({ answer, canCrawl, reload }: VerdictProps) {
  const { tone, icon } = verdicts[answer.verdict];
  const { node } = answer;
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
