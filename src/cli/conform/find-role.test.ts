import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createGuardedClient } from '../../http/guarded-client.ts';
import { findRole } from './find-role.ts';

it('findRole names every role that an address answers as, and asks for --role', async () => {
  const agreeable = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => agreeable.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(agreeable.address() as AddressInfo).port}`;
  const client = createGuardedClient({ allowPrivateAddresses: true });
  try {
    await expect(findRole(url, client)).rejects.toThrow(
      `${url} answers as a published tree, a catalog service and a discovery service. Choose one with --role.`,
    );
  } finally {
    await client.close();
    agreeable.close();
  }
});
