import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('metrics', () => {
  it('give the same family to everyone who asks for its name', async () => {
    const metrics = createMetrics({ process: false });
    metrics.counter('things_total', 'Things seen', ['role']).inc({ role: 'catalog' });
    metrics.counter('things_total', 'Things seen', ['role']).inc({ role: 'registry' }, 2);
    const text = await metrics.registry.metrics();
    expect(text).toContain('things_total{role="catalog"} 1');
    expect(text).toContain('things_total{role="registry"} 2');
  });

  it('count durations in seconds from a millisecond upwards', async () => {
    const metrics = createMetrics({ process: false });
    metrics.histogram('wait_seconds', 'Waiting').observe(0.002);
    metrics.gauge('waiting', 'Waiting now').set(3);
    const text = await metrics.registry.metrics();
    expect(text).toContain('wait_seconds_bucket{le="0.001"} 0');
    expect(text).toContain('wait_seconds_bucket{le="0.0025"} 1');
    expect(text).toContain('waiting 3');
  });

  it('tell about the process itself unless asked not to', async () => {
    const metrics = createMetrics();
    expect(await metrics.registry.metrics()).toContain('process_resident_memory_bytes');
    metrics.registry.clear();
  });
});
