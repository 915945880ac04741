import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import keys from '../../vectors/keys.json' with { type: 'json' };
import requests from '../../vectors/requests.json' with { type: 'json' };
import { until } from '../support/time.ts';
import { findGuides, isTaken, readSteps } from './blocks.ts';
import { openClone, type Workplace } from './workplace.ts';

// Every command of the documents, as written there, in a new clone, with npm and npx as they are installed (npm run test:docs). Go and Java download
// their dependencies with their own tools. README.md starts with a clone in which nothing is installed or built; the other documents use the packages
// and the build of a prepared clone.

/** Guides that continue another one run after it, in the same clone and terminal. */
const sequences = [['docs/run-a-catalog-service.md', 'docs/run-a-discovery-service.md']];
const continued = new Set(sequences.flatMap(([, ...later]) => later));
const terminals = findGuides()
  .filter((guide) => !continued.has(guide))
  .map((guide) => sequences.find(([first]) => first === guide) ?? [guide]);

let installed: Promise<Workplace> | undefined;
afterAll(async () => (await installed)?.close());

/** An installed and built clone, shared by all guides that do not start with these steps. */
function findInstalled(): Promise<Workplace> {
  installed ??= openClone().then(async (clone) => {
    await clone.shell('node scripts/set-up.mjs');
    return clone;
  });
  return installed;
}

describe.each(terminals)('%s', (guide, ...later) => {
  let workplace: Workplace;
  beforeAll(async () => {
    workplace = await openClone(guide === 'README.md' ? undefined : await findInstalled());
  });
  afterAll(() => workplace?.close());

  const steps = [guide, ...later].flatMap((document) =>
    readSteps(document).map((step) => ({ ...step, place: `line ${step.line} of ${document}` })),
  );
  for (const [index, step] of steps.entries()) {
    // A network that is still running is not started again.
    const isRunning = steps
      .slice(0, index)
      .some(({ kind, text }) => kind === 'background' && text === step.text);
    if (!isTaken(step.kind) || isRunning) continue;
    it(`holds at ${step.place}: ${step.text.split('\n')[0]}`, { retry: 0 }, async (context) => {
      const missing = await workplace.findMissing(step);
      if (missing !== undefined) context.skip(`needs ${missing}`);
      const fault = async () => findDifference(await workplace.take(step), step.prints.map(workplace.here));
      if (step.isRepeated) await expect.poll(fault, { timeout: 50_000, interval: 500 }).toBeUndefined();
      else expect(await fault()).toBeUndefined();
    });
  }

  if (later.includes('docs/run-a-discovery-service.md'))
    it('ends with a discovery service that finds the catalog of the catalog service made before', async () => {
      const search = workplace.here(
        'npx signpost discover Voltpath Indiranagar --to http://127.0.0.1:4013 --json',
      );
      await until(
        async () => (await workplace.shell(search)).includes('"voltpath-indiranagar"'),
        'the catalog',
      );
    });

  if (guide !== 'docs/publishing.md') return;

  it.for([
    { tool: 'go', program: 'sign-go/sign' },
    { tool: 'javac', program: 'java -cp sign-java:sign-java/bcprov-jdk18on-1.80.jar Sign' },
  ])(
    'has a program that makes the signatures of our vectors: $program (needs $tool)',
    async ({ tool, program }, context) => {
      if (await workplace.findMissing({ needs: [tool] })) context.skip(`needs ${tool}`);
      const usual = requests.sign.filter(({ created, expires }) => expires - created === 300);
      expect(usual.length).toBeGreaterThan(2);
      for (const { key, body, created, authorization } of usual) {
        const { subscriberId, recordId, seed } = keys.keys.find(({ name }) => name === key) ?? {};
        await workplace.shell(`echo ${seed} > vector.seed`);
        const signing = `${program} ${subscriberId} '${recordId}' vector.seed ${created}`;
        expect(await workplace.shell(signing, body)).toBe(authorization);
      }
    },
  );
});

/** The first line that is missing in the output, in order; undefined if all are there. */
function findDifference(printed: string, lines: readonly string[]): string | undefined {
  const inOneLine = (text: string) => text.trim().replace(/\s+/g, ' ');
  let rest = inOneLine(printed);
  for (const part of lines.flatMap((line) => line.split('…')).map(inOneLine)) {
    const at = rest.indexOf(part);
    if (at === -1) return `${part}\n\nnot in\n\n${printed}`;
    rest = rest.slice(at + part.length);
  }
  return undefined;
}
