import type { ChildProcess } from 'node:child_process';

/** Ends a child with this process: a test that times out never reaches its own clean-up. */
export function endWithUs(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}
