// The roles of a process as `signpost serve` starts them, by the settings in the environment. Says "started"; from "measure" to "measured" it
// watches its own memory and then tells how large the resident set was: at the beginning, in the middle, at the end and at most.
import { readConfig } from '../../dist/config.js';
import { createLogger } from '../../dist/logger.js';
import { startProcess } from '../../dist/main.js';

const sampleMs = 10;
const running = await startProcess(readConfig(process.env), {
  logger: createLogger({ level: 'warn', format: 'pretty' }),
});

let sampler;
let samples = [];
process.on('message', (message) => {
  const sample = () => samples.push(process.memoryUsage.rss());
  if (message === 'measure') {
    samples = [];
    sample();
    sampler = setInterval(sample, sampleMs);
  }
  if (message === 'measured') {
    clearInterval(sampler);
    sample();
    const [start, middle, end] = [0, samples.length >> 1, samples.length - 1].map((place) => samples[place]);
    process.send({ start, middle, end, peak: samples.reduce((most, bytes) => Math.max(most, bytes)) });
  }
});
process.once('disconnect', async () => {
  await running.close();
  process.exit();
});
process.send('started');
