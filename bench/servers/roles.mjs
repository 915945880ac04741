// The roles of a process as `signpost serve` starts them, by the settings in the environment. Says "started"; from "measure" to "measured" it
// watches its own memory and then tells by how many bytes the resident set grew at most.
import { readConfig } from '../../dist/config.js';
import { createLogger } from '../../dist/logger.js';
import { startProcess } from '../../dist/main.js';

const sampleMs = 10;
const running = await startProcess(readConfig(process.env), {
  logger: createLogger({ level: 'warn', format: 'pretty' }),
});

let sampler;
let [before, peak] = [0, 0];
process.on('message', (message) => {
  if (message === 'measure') {
    before = peak = process.memoryUsage.rss();
    sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), sampleMs);
  }
  if (message === 'measured') {
    clearInterval(sampler);
    process.send({ addedBytes: peak - before });
  }
});
process.once('disconnect', async () => {
  await running.close();
  process.exit();
});
process.send('started');
