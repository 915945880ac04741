import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Compiles a program that uses the client package in TypeScript's strictest mode. Checking the declarations of all packages takes 5 s more. */
export async function compileStrictly(
  directory: string,
  file: string,
  { skipLibCheck }: { skipLibCheck: boolean },
): Promise<void> {
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true, skipLibCheck },
    ...{ noUncheckedIndexedAccess: true, types: ['node'], typeRoots: [resolve('node_modules/@types')] },
  };
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  await promisify(execFile)(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', directory]);
}
