import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChangeReference } from '../../protocol/signed-files.ts';
import { announcedVersion, planReading, type ReadableEntry, type ReadingPlan } from './reading-plan.ts';

const digest = `sha256:${'0f'.repeat(32)}`;
const cutoverFraction = 0.5;

function change(fromVersion: number, size: number | undefined = 10, toVersion = fromVersion + 1) {
  const url = `https://node.example/changes/${fromVersion}-${toVersion}.json`;
  return { version: toVersion, fromVersion, toVersion, url, size, digest } satisfies ChangeReference;
}

function entry(baselineVersion: number, changes: ChangeReference[], size = 1000): ReadableEntry {
  const url = `https://node.example/v${baselineVersion}.json`;
  return { entryVersion: 9, baseline: { version: baselineVersion, url, size, digest }, changes };
}

const at = (version: number, entryVersion = 8) => ({ version, entryVersion });

/** The fetched files in short form: `baseline 3, 3→4`. */
function files(plan: ReadingPlan): string {
  const reading = plan.kind === 'gap' ? plan.readable : plan;
  if (reading.kind !== 'changes' && reading.kind !== 'baseline') return reading.kind;
  const baseline = reading.kind === 'baseline' ? [`baseline ${reading.baseline.version}`] : [];
  return [
    ...baseline,
    ...reading.changes.map(({ fromVersion, toVersion }) => `${fromVersion}→${toVersion}`),
  ].join(', ');
}

describe('what a reader fetches', () => {
  const three = entry(3, [change(3), change(4), change(5)]);

  it('is the baseline and the changes after it when it holds nothing', () => {
    expect(files(planReading(three, undefined, { cutoverFraction }))).toBe('baseline 3, 3→4, 4→5, 5→6');
  });

  it('is the changes after its cursor when it is slightly behind', () => {
    expect(files(planReading(three, at(4), { cutoverFraction }))).toBe('4→5, 5→6');
  });

  it('is nothing when it holds the announced version, also under a new entry', () => {
    expect(planReading(three, at(6, 9), { cutoverFraction })).toEqual({ kind: 'nothing' });
    expect(planReading(three, at(6, 8), { cutoverFraction })).toEqual({ kind: 'nothing' });
  });

  it('is nothing for an entry that names no files', () => {
    const retired = { entryVersion: 9, changes: [] };
    expect(planReading(retired, at(6), { cutoverFraction })).toEqual({ kind: 'nothing' });
  });

  it('is the whole from the baseline when what it holds cannot be trusted any more', () => {
    const resigned = entry(6, []);
    const plan = planReading(resigned, { ...at(6), mustReread: true }, { cutoverFraction });
    expect(files(plan)).toBe('baseline 6');
  });
});

describe('after compaction', () => {
  const compacted = entry(6, [change(3), change(4), change(5), change(6)]);

  it('is the changes across the new baseline for a reader between two of them', () => {
    expect(files(planReading(compacted, at(4), { cutoverFraction }))).toBe('4→5, 5→6, 6→7');
  });

  it('is the new baseline for a reader that the changes do not reach back to', () => {
    expect(files(planReading(compacted, at(2), { cutoverFraction }))).toBe('baseline 6, 6→7');
  });

  it('never is a superseded change for a reader that starts from the baseline', () => {
    expect(files(planReading(compacted, undefined, { cutoverFraction }))).toBe('baseline 6, 6→7');
  });
});

describe('the cutover', () => {
  const large = (sizes: (number | undefined)[], baselineVersion: number) =>
    entry(
      baselineVersion,
      sizes.map((size, index) => ({ ...change(3 + index), size })),
      100,
    );

  it('takes the baseline when the pending changes exceed the fraction of its size', () => {
    expect(files(planReading(large([25, 25, 1], 6), at(3), { cutoverFraction }))).toBe('baseline 6');
  });

  it('takes the changes when they have exactly the fraction', () => {
    expect(files(planReading(large([25, 25], 5), at(3), { cutoverFraction }))).toBe('3→4, 4→5');
  });

  it('takes the changes, however large, when the baseline is no newer than the cursor', () => {
    expect(files(planReading(large([500, 500], 3), at(3), { cutoverFraction }))).toBe('3→4, 4→5');
  });

  it('counts a change without a size with the bytes that were fetched of it', () => {
    const unsized = large([undefined, undefined], 5);
    expect(files(planReading(unsized, at(3), { cutoverFraction }))).toBe('3→4, 4→5');
    const fetchedSizes = new Map([[change(3).url, 51]]);
    expect(files(planReading(unsized, at(3), { cutoverFraction, fetchedSizes }))).toBe('baseline 5');
  });
});

describe('a rollback', () => {
  it('is an entry version lower than the stored one', () => {
    expect(planReading(entry(3, []), at(3, 10), { cutoverFraction })).toEqual({
      kind: 'rollback',
      of: 'entryVersion',
      stored: 10,
      offered: 9,
    });
  });

  it('is an announced version lower than the stored one, whatever the entry version', () => {
    expect(planReading(entry(3, [change(3)]), at(5), { cutoverFraction })).toEqual({
      kind: 'rollback',
      of: 'version',
      stored: 5,
      offered: 4,
    });
  });
});

describe('a gap', () => {
  it('in the changes is healed by a newer baseline', () => {
    const gapped = entry(5, [change(3), change(5)]);
    expect(files(planReading(gapped, at(3), { cutoverFraction }))).toBe('baseline 5, 5→6');
  });

  it('is told, with what can be read up to it, when no way leads to the announced version', () => {
    const gapped = entry(3, [change(3), change(5)]);
    expect(planReading(gapped, at(3), { cutoverFraction })).toEqual({
      kind: 'gap',
      announced: 6,
      reached: 4,
      readable: { kind: 'changes', changes: [change(3)] },
    });
    expect(files(planReading(gapped, undefined, { cutoverFraction }))).toBe('baseline 3, 3→4');
  });

  it('never leads back behind the cursor', () => {
    const gapped = entry(3, [change(3), change(6)]);
    expect(planReading(gapped, at(5), { cutoverFraction })).toMatchObject({
      reached: 5,
      readable: { kind: 'nothing' },
    });
  });

  it('is where an unreadable change was, and the baseline heals it', () => {
    const sound = entry(5, [change(3), change(4), change(5)]);
    const unreadable = new Set([change(3).url]);
    expect(files(planReading(sound, at(3), { cutoverFraction, unreadable }))).toBe('baseline 5, 5→6');
  });

  it('is where an unreadable baseline was: the changes up to the next bad one are left', () => {
    const sound = entry(4, [change(3), change(4), change(5)]);
    const unreadable = new Set([sound.baseline?.url ?? '', change(4).url]);
    expect(planReading(sound, at(3), { cutoverFraction, unreadable })).toMatchObject({ reached: 4 });
    expect(planReading(sound, undefined, { cutoverFraction, unreadable })).toMatchObject({
      kind: 'gap',
      reached: undefined,
      readable: { kind: 'nothing' },
    });
  });
});

describe('any entry and cursor', () => {
  const changes = fc
    .array(fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 3 }), fc.option(fc.nat(100), { nil: undefined })), {
      maxLength: 12,
    })
    .map((steps) => steps.map(([from, step, size]) => change(from, size, from + step)));
  const cursor = fc.option(fc.record({ entryVersion: fc.nat(10), version: fc.nat(14) }), { nil: undefined });

  it('gives a plan whose files follow one another, from the cursor or the baseline, never to behind the cursor', () => {
    fc.assert(
      fc.property(fc.nat(12), changes, fc.nat(200), cursor, (baselineVersion, listed, size, held) => {
        const offered = entry(baselineVersion, listed, size);
        const plan = planReading(offered, held, { cutoverFraction });
        const reading = plan.kind === 'gap' ? plan.readable : plan;
        if (reading.kind === 'rollback') return;
        let version = reading.kind === 'baseline' ? reading.baseline.version : held?.version;
        for (const { fromVersion, toVersion } of reading.kind === 'nothing' ? [] : reading.changes) {
          expect(fromVersion).toBe(version);
          version = toVersion;
        }
        if (plan.kind !== 'gap') expect(version).toBe(announcedVersion(offered));
        else expect(version ?? -1).toBeLessThan(plan.announced);
        if (held) expect(version).toBeGreaterThanOrEqual(held.version);
      }),
    );
  });
});
