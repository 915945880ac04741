import { describe, expect, it } from 'vitest';
import { until, watchFor } from '../../tests/support/time.ts';
import { startWatchdog } from './slot.ts';

const often = { everyMs: 20, maxUnanswered: 4 };

describe('a watchdog', () => {
  it('gives up a worker once that has left several pings unanswered', async () => {
    let pings = 0;
    const silences: number[] = [];
    startWatchdog({ ping: () => void pings++, giveUp: (silentMs) => void silences.push(silentMs) }, often);
    await until(() => silences.length > 0);
    await watchFor(10 * often.everyMs);
    expect({ pings, silences }).toEqual({ pings: 4, silences: [80] });
  });

  it('leaves a worker alone that answers late, or whose end was awaited', async () => {
    let pings = 0;
    let isGivenUp = false;
    const watchdog = startWatchdog(
      {
        ping() {
          pings += 1;
          if (pings % 3 === 0) watchdog.answered();
        },
        giveUp() {
          isGivenUp = true;
        },
      },
      often,
    );
    await until(() => pings >= 12);
    watchdog.close();
    const asked = pings;
    await watchFor(10 * often.everyMs);
    expect({ pings, isGivenUp }).toEqual({ pings: asked, isGivenUp: false });
  });
});
