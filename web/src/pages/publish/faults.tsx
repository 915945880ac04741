import type { CheckAnswer, Fault } from '../../../../src/console/answers/publish.ts';
import { Badge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { spellCount } from '../../ui/time.tsx';

type GoTo = (place: { line: number; column?: number }) => void;

type FaultsProps = { isBlank: boolean; loading: boolean; checked?: CheckAnswer; goTo: GoTo };

export function Faults({ isBlank, loading, checked, goTo }: FaultsProps) {
  return (
    <div id="faults" class="stack" role="status">
      {isBlank && <p class="soft">Nothing to check yet.</p>}
      {!isBlank && !checked && loading && <p class="soft">Checking …</p>}
      {checked && <Summary checked={checked} />}
      {checked && (
        <ul class="faults">
          {[...checked.faults, ...checked.warnings].map((fault, place) => (
            <FaultItem
              key={`${fault.path} ${fault.line} ${fault.message}`}
              fault={fault}
              isFault={place < checked.faults.length}
              goTo={goTo}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

function Summary({ checked: { faults, warnings, catalogs } }: { checked: CheckAnswer }) {
  return (
    <>
      <p class="row">
        {faults.length > 0 ? (
          <Badge tone="bad">{counted(faults.length, 'fault')}</Badge>
        ) : (
          <Badge tone="good">No faults</Badge>
        )}
        {warnings.length > 0 && <Badge tone="warn">{counted(warnings.length, 'warning')}</Badge>}
      </p>
      {catalogs.map(({ catalogId, resources, offers }) => (
        <p key={catalogId}>
          <strong>{catalogId}</strong>{' '}
          <span class="soft">
            {counted(resources, 'resource')}, {counted(offers, 'offer')}
          </span>
        </p>
      ))}
    </>
  );
}

function FaultItem({ fault, isFault, goTo }: { fault: Fault; isFault: boolean; goTo: GoTo }) {
  const { message, path, line, column, hint, code } = fault;
  return (
    <li class={isFault ? 'faulty' : 'doubtful'}>
      <p>
        <Icon name={isFault ? 'cross' : 'warning'} /> {message}
      </p>
      {path && <code>{path}</code>}
      {hint && <p class="soft">{hint}</p>}
      <p class="small soft">
        {line !== undefined && (
          <button type="button" class="link" onClick={() => goTo({ line, column })}>
            Line {line}
          </button>
        )}{' '}
        <code>{code}</code>
      </p>
    </li>
  );
}

function counted(count: number, name: string): string {
  return `${spellCount(count)} ${name}${count === 1 ? '' : 's'}`;
}
