import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, extname, join, posix } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { addressOf } from './pages.ts';

// The documents link to each other and to files by their paths in the repository, as GitHub shows them. On the site a document is a page, and a file that
// is none is copied beside the pages, so that nothing leads elsewhere.

const repository = join(import.meta.dirname, '..');

/** Shown or taken as they are; others are copied as `.txt`, which every browser shows. */
const plainFiles = ['.json', '.csv', '.py'];

export class RepositoryLinks {
  readonly #files = new Map<string, string>();

  /** Resolves the links of each document while it is rendered. Throws where one leads nowhere. */
  use(markdown: MarkdownRenderer): void {
    markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
      const folder = posix.dirname(env.relativePath);
      for (const token of tokens.flatMap(({ children }) => children ?? [])) {
        const href = token.attrGet('href');
        if (token.type !== 'link_open' || !href || /^([a-z]+:|#|\/)/.test(href)) continue;
        const [path = '', fragment = ''] = href.split(/(?=#)/);
        const target = this.#resolve(posix.join(folder, decodeURI(path)), env.relativePath);
        token.attrSet('href', `${posix.relative(folder, target)}${fragment}`);
        // Otherwise VitePress takes it for a page.
        if (!target.endsWith('.md')) token.attrSet('target', '_self');
      }
    });
  }

  /** Copies the files that were linked to. */
  async copyFiles(outDir: string): Promise<void> {
    for (const [file, copy] of this.#files) {
      await mkdir(join(outDir, dirname(copy)), { recursive: true });
      await copyFile(join(repository, file), join(outDir, copy));
    }
  }

  #resolve(path: string, page: string): string {
    const place = join(repository, path);
    const file = existsSync(place) && statSync(place).isDirectory() ? posix.join(path, 'README.md') : path;
    if (!existsSync(join(repository, file))) throw new Error(`${page} links to ${path}, which is not there`);
    if (file.endsWith('.md')) return addressOf(file);
    const copy = plainFiles.includes(extname(file)) ? file : `${file}.txt`;
    this.#files.set(file, copy);
    return copy;
  }
}
