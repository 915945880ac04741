import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { writeApiPages } from '../api-pages.ts';
import { addressOf, apiDocuments, sections } from '../pages.ts';
import { RepositoryLinks } from '../repository-links.ts';

// The documents of the repository as a site, with a search that needs no server. The pages load nothing from elsewhere.

const site = join(import.meta.dirname, '..');
const base = process.env.DOCS_BASE ?? '/';
const links = new RepositoryLinks();
const pages = sections.flatMap((section) => Object.keys(section.pages));

export default defineConfig({
  title: 'Signpost',
  description: 'Signed catalog distribution and discovery for Beckn 2.0 networks',
  base,
  srcDir: '..',
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  srcExclude: ['**/dist/**', '**/.*/**'],
  rewrites: Object.fromEntries(
    pages.filter((page) => addressOf(page) !== page).map((page) => [page, addressOf(page)]),
  ),
  head: [['link', { rel: 'icon', href: `${base}favicon.svg`, type: 'image/svg+xml' }]],
  markdown: { config: (markdown) => links.use(markdown) },
  vite: {
    plugins: [
      {
        name: 'vue-of-the-site',
        enforce: 'pre',
        // The documents lie outside of site/, where no package is found that they import once they are pages.
        resolveId(id, _importer, { ssr }) {
          if (!/^vue(\/|$)/.test(id)) return null;
          return ssr
            ? { id, external: true }
            : this.resolve(id, join(site, 'package.json'), { skipSelf: true });
        },
      },
    ],
  },
  themeConfig: {
    sidebar: [...sections.map(sidebarSection)],
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: 'Before', next: 'Next' },
  },
  async buildEnd({ outDir }) {
    await links.copyFiles(outDir);
    await writeApiPages(outDir);
    await copyFile(join(site, '../web/public/favicon.svg'), join(outDir, 'favicon.svg'));
  },
});

function sidebarSection({ title, pages, isCollapsed }: (typeof sections)[number]): DefaultTheme.SidebarItem {
  const items = Object.entries(pages).map(([page, text]): DefaultTheme.SidebarItem => {
    const link = `/${addressOf(page)}`;
    return page === 'docs/api/README.md' ? { text, link, items: apiItems() } : { text, link };
  });
  return { text: title, items, ...(isCollapsed && { collapsed: true }) };
}

/** They are no pages of VitePress: the browser loads them. */
function apiItems(): DefaultTheme.SidebarItem[] {
  return Object.entries(apiDocuments).map(([name, text]) => ({
    text,
    link: `/docs/api/${name}.html`,
    target: '_self',
  }));
}
