import type { ChildProcess } from 'node:child_process';

/** A test that runs out of time never gets to its own end: what it started must not outlive the process that runs the tests. */
export function endWithUs(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}
