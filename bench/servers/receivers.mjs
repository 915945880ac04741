// Discovery Services that acknowledge every push, each on a separate port: argv is their number. Reports the ports; answers {count} after that many
// further pushes, and "bodies" with the last push of each catalog.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const acknowledgement = JSON.stringify({ message: { status: 'ACK' } });
const bodies = new Map();
let [received, wanted] = [0, Number.POSITIVE_INFINITY];

const servers = await Promise.all(
  Array.from({ length: Number(process.argv[2]) }, async () => {
    const server = createServer(async (request, response) => {
      const body = await buffer(request);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(acknowledgement);
      const [, catalogId] = /"catalogId":"([^"]*)"/.exec(body.toString('latin1', 0, 1_000)) ?? [];
      bodies.set(catalogId, body);
      received += 1;
      if (received === wanted) process.send('received');
    });
    server.keepAliveTimeout = 60_000;
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }),
);

process.on('message', (message) => {
  if (message === 'bodies') return process.send([...bodies.values()].map((body) => body.toString()));
  [received, wanted] = [0, message.count];
  process.send('counting');
});
process.once('disconnect', () => process.exit());
process.send(servers.map((server) => server.address().port));
