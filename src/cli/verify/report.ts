import { fileURLToPath } from 'node:url';
import type { Complaint, Finding } from '../../discovery/inspect/findings.ts';
import { paintWord } from '../colour.ts';
import { counted, oneLine } from '../command.ts';

// What a verification tells: a line for each document, then the first broken link and what to do about it.

export interface VerifyReport {
  node: string;
  /** How many hold, by their kind. */
  holding: Record<string, number>;
  faults: (Finding & Complaint)[];
  warnings: (Finding & Complaint)[];
}

export function createReport(node: string): VerifyReport {
  return { node, holding: {}, faults: [], warnings: [] };
}

export function addFinding({ holding, faults, warnings }: VerifyReport, finding: Finding): void {
  if (finding.kind === 'holds') holding[finding.document] = (holding[finding.document] ?? 0) + 1;
  else (finding.kind === 'fault' ? faults : warnings).push(finding);
}

export function renderFinding(finding: Finding): string {
  const { kind, document, catalogId, url } = finding;
  const mark = { holds: 'ok', fault: 'FAULT', warning: 'warn', hidden: 'warn' }[kind];
  const name = [catalogId, url === undefined ? undefined : placeOf(url)].filter((part) => part !== undefined);
  const text = finding.kind === 'holds' ? finding.detail : finding.message;
  return oneLine(
    `${paintWord(mark)}${' '.repeat(6 - mark.length)}${document.padEnd(9)} ${name.join('  ')}  ${text}`,
  );
}

/** What stands at the end: whether the chain holds, or where it breaks first. */
export function renderVerdict({ node, holding, faults, warnings }: VerifyReport): string {
  const { catalog = 0, ...documents } = holding;
  const count = Object.values(documents).reduce((sum, one) => sum + one, 0);
  const what = `${counted(count, 'document')}, ${counted(catalog, 'catalog')} of ${node}`;
  const doubts = warnings.length > 0 ? ` ${counted(warnings.length, 'warning')}: ${warnings[0]?.hint}` : '';
  const [first] = faults;
  if (!first) return `Everything holds: ${what}.${doubts}`;
  const subject = [first.document, first.catalogId, first.url].filter((part) => part !== undefined).join(' ');
  return [
    `First broken link: ${subject}`,
    `  ${first.message} (${first.code})`,
    `  What to do: ${first.hint}`,
    `${counted(faults.length, 'fault')}. What holds: ${what}.`,
  ]
    .map(oneLine)
    .join('\n');
}

function placeOf(url: string): string {
  if (url.startsWith('file:')) return fileURLToPath(url);
  return URL.canParse(url) ? url : JSON.stringify(url);
}
