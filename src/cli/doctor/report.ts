import type { Complaint, Finding } from '../../discovery/inspect/findings.ts';
import { paintWord } from '../colour.ts';
import { counted, oneLine } from '../command.ts';

// What the doctor tells: a line for each link of the chain, then what keeps a catalog from appearing first of all, and how to mend it.

export interface Diagnosis {
  node: string;
  /** Ids of the catalogs that appear. */
  appearing: string[];
  /** What is broken; what does not appear although nothing is broken; what is amiss and yet works. */
  faults: (Finding & Complaint)[];
  hidden: (Finding & Complaint)[];
  warnings: (Finding & Complaint)[];
}

export function createDiagnosis(node: string): Diagnosis {
  return { node, appearing: [], faults: [], hidden: [], warnings: [] };
}

export function noteFinding(diagnosis: Diagnosis, finding: Finding): void {
  const { kind, document, catalogId } = finding;
  if (kind === 'holds') {
    if (document === 'catalog' && catalogId !== undefined) diagnosis.appearing.push(catalogId);
  } else {
    const list = { fault: diagnosis.faults, hidden: diagnosis.hidden, warning: diagnosis.warnings }[kind];
    list.push(finding);
  }
}

/** What is to be mended first: what is hidden on purpose, only where nothing appears. */
export function firstTrouble({ faults, hidden, appearing }: Diagnosis): (Finding & Complaint) | undefined {
  return faults[0] ?? (appearing.length === 0 ? hidden[0] : undefined);
}

const marks = { holds: '✓', fault: '✗', hidden: '–', warning: '!' } as const;

export function renderLine(finding: Finding): string {
  const { kind, document, catalogId, url } = finding;
  const text = finding.kind === 'holds' ? finding.detail : `${finding.message} (${finding.code})`;
  const place = [catalogId, url].filter((part) => part !== undefined && !text.includes(part)).join(' ');
  return oneLine(
    `${paintWord(marks[kind])} ${document.padEnd(9)} ${[place, text].filter((part) => part !== '').join(': ')}`,
  );
}

export function renderDiagnosis(diagnosis: Diagnosis): string {
  const { node, appearing, faults, hidden, warnings } = diagnosis;
  const trouble = firstTrouble(diagnosis);
  const total = new Set([...appearing, ...faults.flatMap(({ catalogId = [] }) => catalogId)]).size;
  const some = appearing.length < total ? `${appearing.length} of ` : '';
  const counts = `${some}${counted(total, 'catalog')} of ${node} can be found`;
  const others = [
    ...(hidden.length > 0 ? [`${counted(hidden.length, 'catalog')} hidden on purpose`] : []),
    ...(warnings.length > 0 ? [counted(warnings.length, 'warning')] : []),
  ].join(', ');
  const summary = `${counts}${others === '' ? '' : ` (${others})`}.`;
  if (!trouble) {
    const [first] = warnings;
    return [
      ...(first ? [`\nWhat is amiss: ${first.message}`, `  What to do: ${first.hint}`] : []),
      `${first ? '' : '\n'}${summary}`,
      'Where one still does not appear, the crawl log of that discovery service says why.',
    ].join('\n');
  }
  const { code, document, catalogId, message, hint } = trouble;
  const first =
    code === 'digest-mismatch' && catalogId ? `Restore the file, or publish ${catalogId} again. ` : '';
  const isAbsent = document === 'manifest' && ['unreachable', 'manifest-missing'].includes(code);
  return [
    `\nWhat is wrong: ${message}`,
    `  What to do: ${first}${hint}${isAbsent ? ' A node that publishes through a catalog service needs no files.' : ''}`,
    `${summary}${faults.length > 1 ? ` ${counted(faults.length, 'fault')}; this is the first.` : ''}`,
  ].join('\n');
}
