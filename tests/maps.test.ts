// The pages that describe the repository match it: the tree, the arrows, and every path that prose names.

import { describe, expect, test } from 'bun:test'
import { SETTING_NAMES } from '../server/config/setting-groups.ts'
import { ALLOWED_FEATURE_IMPORTS, listFeatureArrows } from './support/architecture/layers.ts'
import { readCheckout } from './support/architecture/read-checkout.ts'
import {
  findMissingPaths,
  formatArrows,
  listFolders,
  listLinkedPages,
  readArrows,
  readTree,
} from './support/architecture/read-map.ts'
import { isProduct, type RepositoryFile } from './support/architecture/rule.ts'
import { parseSource } from './support/architecture/typescript-source.ts'
import { settingsPage } from './support/settings-page.ts'

const files = await readCheckout()
const paths = files.map(({ path }) => path)
const getText = (path: string) => files.find((file) => file.path === path)?.text ?? ''
const architecture = getText('ARCHITECTURE.md')

const MAPPED = /^(?:server|dashboard|snippet|packages|tests|bench|deploy|docs)\//

const SHOWN = /^[^/]+\/(?:[^/]+\/|features\/[^/]+\/)?$/

/** Pages that say how things are today. Decisions and the change log say how they were. */
const isCurrentPage = ({ path }: RepositoryFile) =>
  path !== 'CHANGELOG.md' && /^(?:docs\/)?[^/]+\.md$/.test(path)

describe('ARCHITECTURE.md', () => {
  const tree = readTree(architecture)

  test('shows every folder of the first two levels and every feature, and none that is not there', () => {
    const shown = tree.filter((path) => path.endsWith('/'))
    const folders = [...listFolders(paths)].filter((path) => MAPPED.test(path))
    expect(shown.toSorted()).toEqual(folders.filter((path) => SHOWN.test(path)).sort())
  })

  test('shows only files that are there', () => {
    expect(tree.filter((path) => !path.endsWith('/') && !paths.includes(path))).toEqual([])
  })

  test('shows the arrows between features that the rules allow', () => {
    expect(readArrows(architecture)).toEqual(formatArrows(ALLOWED_FEATURE_IMPORTS))
  })
})

test('every allowed arrow between features is used', () => {
  const sources = files
    .filter(({ path }) => isProduct(path) && path.startsWith('server/features/'))
    .map(({ path, text }) => parseSource(path, text))
  const used = listFeatureArrows(sources)
  const allowed = Object.entries(ALLOWED_FEATURE_IMPORTS).flatMap(([from, targets]) =>
    targets.map((to) => `${from} → ${to}`),
  )
  expect(allowed.filter((arrow) => !used.has(arrow))).toEqual([])
})

test('every path that a page names exists', () => {
  const missing = files
    .filter(isCurrentPage)
    .flatMap((page) => findMissingPaths(page, paths).map((path) => `${page.path}: ${path}`))
  expect(missing).toEqual([])
})

test('docs/README.md, which the README links to, lists every page of docs/', () => {
  const listLinks = (path: string) => listLinkedPages({ path, text: getText(path) })
  expect(listLinks('README.md')).toContain('docs/README.md')
  const pages = paths.filter((path) => /^docs\/[^/]+\.md$/.test(path) && path !== 'docs/README.md')
  expect(listLinks('docs/README.md')).toEqual(expect.arrayContaining([...pages, 'docs/adr/README.md']))
  const decisions = paths.filter((path) => /^docs\/adr\/\d.+\.md$/.test(path))
  expect(listLinks('docs/adr/README.md')).toEqual(decisions)
})

test('docs/settings.md is what `npm run docs:settings` writes', () => {
  expect(getText('docs/settings.md')).toBe(settingsPage())
})

test('server/config/ reads every setting of docs/settings.md', () => {
  const readers = files.filter(({ path }) => /^server\/config\/(config|.+-settings)\.ts$/.test(path))
  const unread = SETTING_NAMES.filter((name) => !readers.some(({ text }) => text.includes(`'${name}'`)))
  expect(unread).toEqual([])
})

describe('maps are read as they are meant', () => {
  test('a tree gives its folders and files', () => {
    const tree =
      '```\nserver/       all\n  app.ts cli.ts  two\n  lib/      pure\n    text/   texts\ndocs/  pages\n```\n'
    expect(readTree(tree)).toEqual([
      'server/',
      'server/app.ts',
      'server/cli.ts',
      'server/lib/',
      'server/lib/text/',
      'docs/',
    ])
  })

  test('a path that prose names is found from the root, from server/ and from its features, or is missing', () => {
    const text =
      'See `server/app.ts`, `links/create.ts`, `app.ts`, `*/create.ts`, `links/`, `bun server/app.ts`, [this](app.ts), ' +
      '`/v1/`, `DATA_DIR/batches/`, [that](../server/app.ts), [web](https://example.com/a.md), ' +
      '`links/delete.ts`, `forms/`, `cli.ts`, `bun server/cli.ts`.\n```\n`old.ts`\n```\n'
    const known = ['server/app.ts', 'server/features/links/create.ts', 'docs/guide.md']
    expect(findMissingPaths({ path: 'docs/guide.md', text }, known)).toEqual([
      'links/delete.ts',
      'forms/',
      'cli.ts',
      'server/cli.ts',
      'docs/app.ts',
    ])
  })
})
