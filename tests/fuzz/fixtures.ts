import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AnyTarget, type Row, runTarget } from './runner.ts';
import type { Scene } from './scene.ts';

// Cases that once found a fault. Every run repeats them.

interface Fixture {
  target: string;
  /** Its effect. */
  found: string;
  case: unknown;
}

const directory = fileURLToPath(new URL('../fixtures/fuzz', import.meta.url));

export async function runFixtures(scene: Scene, targets: readonly AnyTarget[]): Promise<Row[]> {
  const fixtures = readdirSync(directory).map((file) => readFixture(join(directory, file)));
  const unknown = fixtures.filter((fixture) => targets.every(({ name }) => name !== fixture.target));
  if (unknown.length > 0) throw new Error(`no target ${unknown.map(({ target }) => target).join(', ')}`);
  const rows: Row[] = [];
  for (const target of targets) {
    const cases = fixtures.filter((fixture) => fixture.target === target.name).map((fixture) => fixture.case);
    if (cases.length > 0) rows.push(await runTarget(scene, target, cases));
  }
  return rows;
}

function readFixture(file: string): Fixture {
  return JSON.parse(readFileSync(file, 'utf8'));
}
