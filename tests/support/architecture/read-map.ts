// Reads the pages that describe the repository: the tree and the arrows of ARCHITECTURE.md, and the paths that prose
// names, so that a test can compare them with the code.

import { posix } from 'node:path'
import type { RepositoryFile } from './rule.ts'

const CODE_BLOCK = /^```[^\n]*\n([\s\S]*?)^```/gm

/** The code block that has the tree, or the one that has the arrows. */
const findBlock = (markdown: string, mark: RegExp) =>
  [...markdown.matchAll(CODE_BLOCK)].map(([, block = '']) => block).find((block) => mark.test(block)) ?? ''

/**
 * The files and folders of the tree, as paths; folders end with a slash. A line has names, two spaces or more, and what
 * they are for. Two spaces more at its start put it into the folder above.
 */
export function readTree(markdown: string): string[] {
  const parents: string[] = []
  const lines = findBlock(markdown, /^server\/ /m).matchAll(/^((?: {2})*)(\S+(?: \S+)*) {2,}\S/gm)
  return [...lines].flatMap(([, indent = '', names = '']) => {
    parents.length = indent.length / 2
    const paths = names.split(' ').map((name) => parents.join('') + name)
    parents.push(names)
    return paths
  })
}

/** The lines of the block that shows which feature may use which. */
export const readArrows = (markdown: string) => findBlock(markdown, / → /).trimEnd().split('\n')

export const formatArrows = (allowed: Record<string, string[]>) =>
  Object.entries(allowed)
    .filter(([, used]) => used.length > 0)
    .map(([feature, used]) => `${feature.padEnd(11)} → ${used.join(', ')}`)

/** Every folder that has a file in or below it: `server/`, `server/http/`. Folders of fixtures are samples, and not listed. */
export function listFolders(paths: string[]): Set<string> {
  const folders = new Set<string>()
  for (const path of paths.map((each) => each.replace(/(?<=\/fixtures\/)(?:[^/]+\/)+/, '')))
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1))
      folders.add(path.slice(0, at + 1))
  return folders
}

/** Prose names a path from the root, from server/, from server/features/ or from dashboard/. */
const BASES = ['', 'server/', 'server/features/', 'dashboard/']

/** `server/web/routes.ts`, `links/`, `features/*` + `/schema.ts`; no address such as `/v1/` and no place in `DATA_DIR/`. */
const PATH = /^(?!DATA_DIR)\w[\w.*-]*(?:\/[\w.*-]+)*(?:\.tsx?|\.md|\/)$/

/** The files and folders of the repository that a page links to, without a slash at the end. */
export const listLinkedPages = ({ path, text }: RepositoryFile) =>
  [...text.replace(CODE_BLOCK, '').matchAll(/\]\((?!\w+:|#)([^)\s#]+)/g)].map(([, target = '']) =>
    posix.join(posix.dirname(path), target).replace(/\/$/, ''),
  )

/** Paths that a page names in backticks or links to, and that do not exist. */
export function findMissingPaths(page: RepositoryFile, paths: string[]): string[] {
  const prose = page.text.replace(CODE_BLOCK, '')
  const named = [...prose.matchAll(/`([^`\n]+)`/g)]
    .flatMap(([, code = '']) => code.split(/\s+/))
    .filter((word) => PATH.test(word))
  const linked = listLinkedPages(page)
  const known = new Set([...paths, ...[...listFolders(paths)].map((folder) => folder.slice(0, -1))])
  return [...named.filter((path) => !isKnown(path, paths)), ...linked.filter((path) => !known.has(path))]
}

/** A name without a folder may be in any. */
const isKnown = (path: string, paths: string[]) =>
  (path.includes('/') ? BASES : ['**/']).some((base) => {
    const glob = new Bun.Glob(path.endsWith('/') ? `${base}${path}**` : base + path)
    return paths.some((known) => glob.match(known))
  })
