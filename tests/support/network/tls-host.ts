import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

// An https host named localhost with a self-signed certificate: its clients must trust it by Node's environment.

export interface TlsHost {
  /** With its port; also serves as a namespace. */
  host: string;
  /** The requested paths. */
  asked: string[];
  /** Sets the next answers. */
  answer(next: TlsAnswer): void;
  stop(): Promise<void>;
}

/** The files of a directory, a function that makes them by path, or a status. */
export type TlsAnswer = { root: string } | { make(path: string): Promise<Buffer> } | { status: number };

export async function startTlsHost(): Promise<TlsHost> {
  const asked: string[] = [];
  let answering: TlsAnswer = { status: 404 };
  const server = createServer({ key, cert: certificate }, (request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    const answer = async (): Promise<[status: number, body?: Buffer]> => {
      if ('status' in answering) return [answering.status];
      return [200, await ('root' in answering ? readFile(join(answering.root, path)) : answering.make(path))];
    };
    answer().then(
      ([status, body]) => response.writeHead(status).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    asked,
    answer(next) {
      answering = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A public key pair, which protects nothing. */
export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSKt3g/zf6O4PKgxb
r+il1g2vE+dea2AYJCpl/+/nA2WhRANCAAQsRxT5pi7Oa2ZQNW733zijZ4pXn4rm
4vp4vG+S4LurEIR+yfNBRmNPHCxyUcXb/KTFvo1u8EXmNxAVw86gy6fk
-----END PRIVATE KEY-----`;

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIURVrgqDTrVb9CvIplskhlyVVRGSUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjAzMDEyN1oYDzIxMjYxMDIz
MDMwMTI3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQsRxT5pi7Oa2ZQNW733zijZ4pXn4rm4vp4vG+S4LurEIR+yfNBRmNP
HCxyUcXb/KTFvo1u8EXmNxAVw86gy6fko2kwZzAdBgNVHQ4EFgQUQq5IbjB9BD2m
1vVZiDl1Nn+OsEYwHwYDVR0jBBgwFoAUQq5IbjB9BD2m1vVZiDl1Nn+OsEYwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SQAwRgIhAP5ih6q8Mqljf6MsbMXCaUQFqALspeMPN04EYGHhjw+HAiEAiq88KS3Q
iCKR4BVhcVp3IQxfNJ9KaYi1BRBLCJUkiuI=
-----END CERTIFICATE-----`;
