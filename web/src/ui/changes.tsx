import { Badge } from './badge.tsx';
import { Empty } from './states.tsx';
import './changes.css';
import type { Change } from '../../../src/console/answers/inspect.ts';

const tones = { added: 'good', removed: 'bad', changed: 'warn' } as const;

export function Changes({ changes, truncated }: { changes: readonly Change[]; truncated?: boolean }) {
  if (changes.length === 0) return <Empty title="No difference." />;
  return (
    <>
      <ul class="changes">
        {changes.map(({ path, kind, before, after }) => (
          <li key={path}>
            <span class="row">
              <Badge tone={tones[kind]}>{kind}</Badge>
              <code>{path}</code>
            </span>
            {before !== undefined && <code class="before">− {spellValue(before)}</code>}
            {after !== undefined && <code class="after">+ {spellValue(after)}</code>}
          </li>
        ))}
      </ul>
      {truncated && <p class="soft small">There are more changes than are shown.</p>}
    </>
  );
}

function spellValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ');
}
