// The roles of a process as `signpost serve` starts them, by the settings in the environment. Says "started". From "measure" to "measured" it watches
// its memory, and then reports the resident set at the start, in the middle, at the end and at most. With WORKERS it is the supervisor, and its
// workers run this file, too.
import cluster from 'node:cluster';
import { readConfig } from '../../dist/config.js';
import { createLogger } from '../../dist/logger.js';
import { startProcess } from '../../dist/main.js';
import { startWorkers } from '../../dist/workers/supervisor.js';

const sampleMs = 10;
if (cluster.isWorker) await import('../../dist/cli/main.js');
else await serve();

async function serve() {
  const config = readConfig(process.env);
  const start = config.WORKERS > 1 ? startWorkers : startProcess;
  const running = await start(config, {
    logger: createLogger({ level: config.LOG_LEVEL, format: 'pretty' }),
  });
  answerParent();
  process.once('disconnect', async () => {
    await running.close();
    process.exit();
  });
  process.send('started');
}

function answerParent() {
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
      const [start, middle, end] = [0, samples.length >> 1, samples.length - 1].map(
        (index) => samples[index],
      );
      process.send({ start, middle, end, peak: samples.reduce((most, bytes) => Math.max(most, bytes)) });
    }
  });
}
