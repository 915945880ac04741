import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { attempt } from '../attempt.ts';
import { hasCode } from '../error-code.ts';

// Process ids are used again, after a reboot or in a restarted container at once. These two tell whether a process is still the same.

/** A text that names this process and no later one with the same id; undefined when there is no such process. */
export function identifyProcess(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  if (process.platform === 'linux') {
    const stat = readProc(`/proc/${pid}/stat`);
    // The second field, the name in brackets, may itself hold spaces and brackets; the state and the start time come after it.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    const [state, startedAt] = [fields[0], fields[19]];
    const ended = state === undefined || state === 'Z' || state === 'X';
    return ended ? undefined : `${pid}@${startedAt}@${readProc('/proc/sys/kernel/random/boot_id')?.trim()}`;
  }
  return `${pid}@${askPs(pid, 'lstart=')}`;
}

/** Where process ids mean the same as to this process: the machine since its start, and the container. Nothing is known about a process from elsewhere. */
export function placeOfProcess(): string {
  if (process.platform !== 'linux') return hostname();
  return `${readProc('/proc/sys/kernel/random/boot_id')?.trim()}/${attempt(() => readlinkSync('/proc/self/ns/pid'))}`;
}

export function commandOf(pid: number): string | undefined {
  if (process.platform === 'linux') return readProc(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim();
  return askPs(pid, 'command=');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

function readProc(path: string): string | undefined {
  return attempt(() => readFileSync(path, 'utf8'));
}

function askPs(pid: number, column: string): string | undefined {
  const { status, stdout } = spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
