// A program that breaks on request: the suite has to notice.
const kept = [];

const ways = {
  hold: () => undefined,
  exit: () => process.exit(3),
  throw: () => {
    throw new TypeError('not caught');
  },
  grow: () => kept.push(Array.from({ length: 2_000_000 }, (_, index) => ({ index }))),
};

process.on('message', ({ question, way }) => {
  if (question === undefined) return;
  ways[way]();
  process.send({ question, answer: true });
});
process.on('SIGTERM', () => process.exit());
// Runs until it is stopped, or the suite is gone.
process.channel.ref();
process.send('ready');
