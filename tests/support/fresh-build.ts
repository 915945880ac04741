import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/**
 * Worker threads and processes of tests run dist (adr/0005), so dist is built if a source changed. If the build fails, the tests run all the same:
 * those that need dist fail, because no old build is left.
 */
export default function build({ config: { root } }: { config: Pick<TestProject['config'], 'root'> }): void {
  spawnSync(process.execPath, [join(root, 'scripts/set-up.mjs'), '--build-only'], { stdio: 'inherit' });
}
