import { readFileSync } from 'node:fs';

/** The resident memory, in bytes, of the processes that a process has started; 0 without /proc. */
export function childrensMemory(id) {
  try {
    const children = readFileSync(`/proc/${id}/task/${id}/children`, 'utf8').trim().split(' ');
    return children.reduce((total, child) => total + residentMemory(child), 0);
  } catch {
    return 0;
  }
}

function residentMemory(id) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
  return Number(kilobytes ?? 0) * 1024;
}
